// What the last life left in the journal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <unordered_set>

#include "proxy/daemon/boot_id.h"
#include "proxy/daemon/journal_file.h"

namespace matchrdma {
namespace {

constexpr size_t kSlotsAtOnce = 8192;  // 1 MiB

struct KeyHash {
  size_t operator()(const FlowKey& k) const { return k.hash(); }
};

/// Reads exactly `out`; false at the end of the file or an error.
bool read_at(int fd, uint64_t offset, MutableBytes out) {
  while (!out.empty()) {
    const ssize_t n = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    offset += static_cast<uint64_t>(n);
    out = out.subspan(static_cast<size_t>(n));
  }
  return true;
}

using KeysBySpan = std::map<std::string, std::unordered_set<FlowKey, KeyHash>>;

/// Duty: which promises still stand. Own sections first: what this life wrote is newer than what it inherited.
class Reader {
 public:
  Reader(int fd, const std::vector<std::string>& spans) : fd_(fd), spans_(spans) {}

  bool read(const JournalSection& s) {
    std::vector<uint8_t> buffer;
    for (uint32_t slot = 0; slot < s.slots;) {
      const size_t n = std::min<size_t>(kSlotsAtOnce, s.slots - slot);
      buffer.resize(n * kJournalSlotBytes);
      if (!read_at(fd_, s.offset + uint64_t{slot} * kJournalSlotBytes, buffer)) return false;
      for (size_t i = 0; i < n; ++i, ++slot)
        take(s, decode_journal_slot(slot, Bytes(buffer).subspan(i * kJournalSlotBytes, kJournalSlotBytes)));
    }
    return true;
  }

  JournalFindings found;

 private:
  void take(const JournalSection& section, JournalSlot s) {
    if (s.state == JournalSlot::State::kUnreadable) ++found.unreadable;
    if (s.state != JournalSlot::State::kWritten) return;
    const auto at = std::find(spans_.begin(), spans_.end(), section.span);
    const bool configured = at != spans_.end();
    s.record.key.port_pair = configured ? static_cast<uint16_t>(at - spans_.begin()) : uint16_t{0};
    if (!s.record.promised) {
      kept_[section.span].insert(s.record.key);
      return;
    }
    // Its sender was told of the inherited failure and has begun anew: no reason to fail it again.
    if (section.inherited && kept_[section.span].contains(s.record.key)) return;
    if (promised_[section.span].insert(s.record.key).second)
      found.promised.push_back({section.span, configured, s.record});
  }

  int fd_;
  const std::vector<std::string>& spans_;
  KeysBySpan promised_, kept_;
};

}  // namespace

Result<JournalFindings> read_journal(const std::string& path, const std::vector<std::string>& spans) {
  const auto fails = [&](const std::string& why) { return Error{"journal " + path + ": " + why}; };
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid() && errno == ENOENT) return JournalFindings{};
  struct stat st {};
  if (!fd.valid() || ::fstat(fd.get(), &st) != 0) return fails(std::strerror(errno));
  if (!S_ISREG(st.st_mode)) return fails("is not a plain file; name another one in journal.path");
  if (st.st_size == 0) return JournalFindings{};
  const auto size = static_cast<uint64_t>(st.st_size);
  std::vector<uint8_t> begin(std::min<uint64_t>(size, journal_header_bytes(kJournalMaxSections)));
  if (!read_at(fd.get(), 0, begin)) return fails(std::strerror(errno));
  auto header = decode_journal_header(begin, size);
  if (!header)
    return fails(header.error() +
                 ". It may name senders that were promised what their receivers lack: start the program that "
                 "wrote it, or remove it if you know that all of them have failed since");
  Reader reader(fd.get(), spans);
  std::stable_partition(header->sections.begin(), header->sections.end(),
                        [](const JournalSection& s) { return !s.inherited; });
  for (const JournalSection& s : header->sections) {
    if (s.inherited && header->forgotten) continue;
    if (!reader.read(s)) return fails("cannot be read: " + std::string(std::strerror(errno)));
  }
  reader.found.same_boot = header->boot == boot_id();
  return std::move(reader.found);
}

}  // namespace matchrdma
