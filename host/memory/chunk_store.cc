#include "host/memory/chunk_store.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "dataplane/base/check.h"

namespace matchrdma::host {
namespace {

constexpr size_t kReservedPerByte = 4;
constexpr size_t kMostReserved = size_t{1} << 46;  // half of what a process of x86-64 has

size_t round_up(size_t n, size_t step) { return (n + step - 1) / step * step; }

void* at(uintptr_t p) { return reinterpret_cast<void*>(p); }  // NOLINT: addresses are what this is about

/// Addresses without memory behind them: any touch faults.
bool empty_at(uintptr_t p, size_t size) {
  return ::mmap(at(p), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

/// Fresh zero pages there.
bool memory_at(uintptr_t p, size_t size) {
  return ::mmap(at(p), size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

std::string mebibytes(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

Result<std::unique_ptr<ChunkStore>> ChunkStore::create(Registrar& registrar, Budget& budget) {
  if (budget.limit() < kChunk) {
    return Error{"a registered heap needs a limit of one chunk at least (" + std::to_string(kChunk) +
                 " bytes), not " + std::to_string(budget.limit())};
  }
  if (budget.limit() > kMostReserved / kReservedPerByte) {
    return Error{"a registered heap of " + mebibytes(budget.limit()) +
                 " is more than this process can address: " + mebibytes(kMostReserved / kReservedPerByte) +
                 " at most"};
  }
  const size_t span = round_up(budget.limit(), kChunk) * kReservedPerByte;
  void* p = ::mmap(nullptr, span + kChunk, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    return Error{"no room for " + mebibytes(span) + " of addresses (" + std::strerror(errno) +
                 "): raise `ulimit -v` or lower the heap's limit"};
  }
  const auto start = reinterpret_cast<uintptr_t>(p);
  const uintptr_t base = round_up(start, kChunk);
  if (base != start) ::munmap(p, base - start);
  if (base + span != start + span + kChunk) ::munmap(at(base + span), start + kChunk - base);
  return std::unique_ptr<ChunkStore>(new ChunkStore(registrar, budget, base, span));
}

ChunkStore::ChunkStore(Registrar& registrar, Budget& budget, uintptr_t base, size_t span)
    : registrar_(registrar), budget_(budget), base_(base), span_(span), table_(span >> kChunkBits) {}

ChunkStore::~ChunkStore() {
  for (const auto& [begin, registration] : regions_) {
    registrar_.remove(registration.region);
    budget_.give(registration.length);
  }
  ::munmap(at(base_), span_);
}

void* ChunkStore::carve(size_t size, size_t alignment) {
  const std::lock_guard lock(mutex_);
  uintptr_t p = from_free(size, alignment);
  if (p == 0) p = from_new_region(size, alignment);
  if (p == 0) return nullptr;
  carved_ += size;
  return at(p);
}

uintptr_t ChunkStore::from_free(size_t size, size_t alignment) {
  for (auto it = free_by_size_.lower_bound({size, 0}); it != free_by_size_.end(); ++it) {
    const auto [length, begin] = *it;
    const uintptr_t p = round_up(begin, alignment);
    if (p - begin > length - size) continue;
    drop_free(begin, length);
    if (p != begin) put_free(begin, p - begin);
    if (p + size != begin + length) put_free(p + size, begin + length - p - size);
    return p;
  }
  return 0;
}

uintptr_t ChunkStore::from_new_region(size_t size, size_t alignment) {
  // Compared before it is rounded: a size near the end of all numbers would become a small one.
  const size_t length = size <= budget_.limit() ? round_up(size, kChunk) : size;
  if (!budget_.take(length)) {
    return fail("the registered heap cannot grow by " + std::to_string(length) +
                " bytes: " + std::to_string(budget_.used()) + " of the " + std::to_string(budget_.limit()) +
                " it may register are in use; free buffers, or raise its limit (and `ulimit -l`)");
  }
  const uintptr_t begin = find_hole(length >> kChunkBits, alignment);
  if (begin == 0) {
    budget_.give(length);
    return fail("no " + std::to_string(length) +
                " bytes in one piece between the chunks of the registered heap: " +
                "free big buffers, or raise its limit");
  }
  if (!memory_at(begin, length)) {
    const int error = errno;
    budget_.give(length);
    return fail("no memory for " + std::to_string(length) +
                " bytes of the registered heap: " + std::strerror(error));
  }
  auto region = registrar_.add(at(begin), length);
  if (!region) {
    MRDMA_CHECK(empty_at(begin, length));
    budget_.give(length);
    return fail("cannot register " + std::to_string(length) + " bytes for the heap: " + region.error());
  }
  const Registration& registration =
      regions_.emplace(begin, Registration{begin, length, *region, true}).first->second;
  for (size_t i = 0; i < length; i += kChunk) {
    table_[(begin - base_ + i) >> kChunkBits].store(&registration, std::memory_order_release);
  }
  if (length != size) put_free(begin + size, length - size);
  return begin;
}

/// Enough chunks in one piece that are none yet; 0 where there are not.
uintptr_t ChunkStore::find_hole(size_t chunks, size_t alignment) const {
  uintptr_t begin = round_up(base_, alignment);
  for (auto it = regions_.begin();; ++it) {
    const uintptr_t end = it == regions_.end() ? base_ + span_ : it->first;
    if (begin < end && (end - begin) >> kChunkBits >= chunks) return begin;
    if (it == regions_.end()) return 0;
    begin = round_up(it->first + it->second.length, alignment > kChunk ? alignment : kChunk);
  }
}

void ChunkStore::give_back(void* p, size_t size) {
  const std::lock_guard lock(mutex_);
  const Registration* region = find(p);
  auto begin = reinterpret_cast<uintptr_t>(p);
  MRDMA_CHECK(region != nullptr && region->holds(begin, size));
  carved_ -= size;
  auto next = free_.lower_bound(begin);
  MRDMA_CHECK(next == free_.end() || next->first >= begin + size);
  if (next != free_.end() && next->first == begin + size && region->holds(next->first, 1)) {
    const size_t more = next->second;
    drop_free(begin + size, more);
    size += more;
  }
  auto before = free_.lower_bound(begin);
  if (before != free_.begin()) {
    const auto [start, length] = *--before;
    MRDMA_CHECK(start + length <= begin);
    if (start + length == begin && region->holds(start, 1)) {
      drop_free(start, length);
      begin = start;
      size += length;
    }
  }
  if (size == region->length) {
    release(begin);
  } else {
    put_free(begin, size);
  }
}

void ChunkStore::release(uintptr_t begin) {
  const auto it = regions_.find(begin);
  MRDMA_CHECK(it != regions_.end());
  const size_t length = it->second.length;
  for (size_t i = 0; i < length; i += kChunk) {
    table_[(begin - base_ + i) >> kChunkBits].store(nullptr, std::memory_order_release);
  }
  registrar_.remove(it->second.region);
  regions_.erase(it);
  MRDMA_CHECK(empty_at(begin, length));
  budget_.give(length);
}

void ChunkStore::put_free(uintptr_t begin, size_t size) {
  free_.emplace(begin, size);
  free_by_size_.emplace(size, begin);
}

void ChunkStore::drop_free(uintptr_t begin, size_t size) {
  free_.erase(begin);
  free_by_size_.erase({size, begin});
}

uintptr_t ChunkStore::fail(std::string why) {
  failure_ = std::move(why);
  return 0;
}

std::string ChunkStore::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

ChunkStats ChunkStore::stats() const {
  const std::lock_guard lock(mutex_);
  ChunkStats s;
  for (const auto& [begin, registration] : regions_) s.chunks += registration.length >> kChunkBits;
  s.regions = regions_.size();
  s.carved = carved_;
  return s;
}

}  // namespace matchrdma::host
