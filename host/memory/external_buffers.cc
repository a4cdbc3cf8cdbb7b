#include "host/memory/external_buffers.h"

#include <mutex>
#include <string>

namespace matchrdma::host {
namespace {

std::string range_text(uintptr_t begin, size_t length) {
  return std::to_string(length) + " bytes at address " + std::to_string(begin);
}

}  // namespace

ExternalBuffers::~ExternalBuffers() {
  for (const auto& [begin, r] : ranges_) {
    registrar_.remove(r.region);
    if (r.host_readable) budget_.give(r.length);
  }
}

Result<void> ExternalBuffers::free_range(uintptr_t begin, size_t length) const {
  if (length == 0) return Error{"an external buffer of 0 bytes cannot be registered"};
  if (begin == 0 || begin + length < begin) {
    return Error{"no buffer can have " + range_text(begin, length)};
  }
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.end() && next->first - begin < length) {
    return Error{range_text(begin, length) + " overlap a registered buffer of " +
                 range_text(next->first, next->second.length) + ": unregister that first, or use its region"};
  }
  if (next != ranges_.begin() && (--next)->second.holds(begin, 1)) {
    return Error{range_text(begin, length) + " overlap a registered buffer of " +
                 range_text(next->first, next->second.length) + ": unregister that first, or use its region"};
  }
  return {};
}

Result<const Registration*> ExternalBuffers::add(void* p, size_t length, HostAccess access) {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  const bool readable = access == HostAccess::kReadable;
  const std::unique_lock lock(mutex_);
  if (auto r = free_range(begin, length); !r) return Error{r.error()};
  if (readable && !budget_.take(length)) {
    return Error{"an external buffer of " + std::to_string(length) + " bytes does not fit: " +
                 std::to_string(budget_.used()) + " of " + std::to_string(budget_.limit()) +
                 " bytes are registered; unregister others, or raise the heap's limit (and `ulimit -l`)"};
  }
  auto region = registrar_.add(p, length);
  if (!region) {
    if (readable) budget_.give(length);
    return Error{"cannot register the external buffer of " + range_text(begin, length) + ": " + region.error()};
  }
  return &ranges_.emplace(begin, Registration{begin, length, *region, readable}).first->second;
}

Result<const Registration*> ExternalBuffers::add(const Dmabuf& buffer) {
  if (buffer.fd < 0) return Error{"a dmabuf needs its file descriptor, not " + std::to_string(buffer.fd)};
  const std::unique_lock lock(mutex_);
  if (auto r = free_range(buffer.address, buffer.length); !r) return Error{r.error()};
  auto region = registrar_.add_dmabuf(buffer);
  if (!region) {
    return Error{"cannot register the dmabuf of " + range_text(buffer.address, buffer.length) + ": " +
                 region.error()};
  }
  const Registration made{buffer.address, buffer.length, *region, false};
  return &ranges_.emplace(buffer.address, made).first->second;
}

Result<void> ExternalBuffers::remove(const void* p) {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  const std::unique_lock lock(mutex_);
  const auto it = ranges_.find(begin);
  if (it == ranges_.end()) {
    return Error{"no external buffer begins at address " + std::to_string(begin) +
                 ": unregister by the address it was registered with, once"};
  }
  registrar_.remove(it->second.region);
  if (it->second.host_readable) budget_.give(it->second.length);
  ranges_.erase(it);
  return {};
}

const Registration* ExternalBuffers::find(const void* p, size_t length) const {
  const auto address = reinterpret_cast<uintptr_t>(p);
  const std::shared_lock lock(mutex_);
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return nullptr;
  --it;
  return it->second.holds(address, length) ? &it->second : nullptr;
}

size_t ExternalBuffers::count() const {
  const std::shared_lock lock(mutex_);
  return ranges_.size();
}

}  // namespace matchrdma::host
