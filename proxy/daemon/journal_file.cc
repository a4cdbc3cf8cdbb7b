#include "proxy/daemon/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "proxy/daemon/boot_id.h"

namespace matchrdma {
namespace {

constexpr mode_t kPrivate = 0600;
constexpr size_t kPage = 4096;

Error failed(const std::string& path, const std::string& what, int error) {
  return Error{"journal " + path + ": " + what + ": " + std::strerror(error)};
}

/// One daemon per journal. The lock has a file of its own, since the journal itself is replaced at every start.
Result<FileDescriptor> take_lock(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kPrivate));
  if (!fd.valid()) {
    return Error{failed(path, "cannot be created", errno).text +
                 "; its folder must exist and belong to the user of matchrdmad"};
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failed(path, "cannot be locked", errno);
    return Error{"journal " + path +
                 ": another matchrdmad uses it; stop that one, or name another journal.path"};
  }
  return fd;
}

/// Sections for the promises that are kept, by span name.
std::vector<JournalSection> inherited_sections(const JournalFindings& findings) {
  std::map<std::string, uint32_t> count;
  for (const JournaledPromise& p : findings.promised) ++count[p.span];
  std::vector<JournalSection> out;
  for (const auto& [span, n] : count) out.push_back({span, true, n, 0});
  return out;
}

/// Room on the disk now, so that no store can fail later.
Result<void> reserve(const std::string& path, int fd, uint64_t bytes) {
  int error;
  do error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error == 0) return {};
  return Error{
      failed(path, std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB cannot be reserved", error).text +
      "; free space there, name another journal.path, or lower limits.max_flows"};
}

void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const FileDescriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) ::fsync(fd.get());  // a file system without it has nothing to sync
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::open(const std::string& path,
                                                       const JournalGeometry& geometry) {
  MRDMA_CHECK(geometry.workers > 0 && geometry.slots > 0 && !geometry.spans.empty());
  std::unique_ptr<JournalFile> file(new JournalFile);
  auto lock = take_lock(path + ".lock");
  if (!lock) return Error{lock.error()};
  file->lock_ = std::move(*lock);
  auto findings = read_journal(path, geometry.spans);
  if (!findings) return Error{findings.error()};
  file->geometry_ = geometry;
  file->findings_ = std::move(*findings);
  file->path_ = path;
  if (auto created = file->create(); !created) return Error{created.error()};
  return file;
}

// The new file is whole and holds the old promises before it takes the old one's place: whenever this is
// killed, the next life finds them.
Result<void> JournalFile::create() {
  const std::string& path = path_;
  for (const std::string& span : geometry_.spans)
    for (uint32_t w = 0; w < geometry_.workers; ++w) sections_.push_back({span, false, geometry_.slots, 0});
  const size_t own = sections_.size();
  for (JournalSection& s : inherited_sections(findings_)) sections_.push_back(std::move(s));
  if (sections_.size() > kJournalMaxSections) {
    return Error{"journal " + path + ": " + std::to_string(sections_.size()) +
                 " sections of spans and workers, " + std::to_string(kJournalMaxSections) +
                 " are the limit; configure fewer"};
  }
  bytes_ = lay_out_journal(sections_);

  const std::string fresh = path + ".new";
  FileDescriptor fd(::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kPrivate));
  if (!fd.valid()) return failed(fresh, "cannot be created", errno);
  const auto give_up = [&](Error e) {
    ::unlink(fresh.c_str());
    return e;
  };
  if (::fchmod(fd.get(), kPrivate) != 0) return give_up(failed(fresh, "its mode cannot be set", errno));
  if (auto r = reserve(path, fd.get(), bytes_); !r) return give_up(Error{r.error()});
  void* map = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return give_up(failed(fresh, "cannot be mapped", errno));
  map_ = static_cast<uint8_t*>(map);
  // A first store to each page now, so that none on the packet path waits for the kernel.
  for (uint64_t at = 0; at < bytes_; at += kPage) *static_cast<volatile uint8_t*>(map_ + at) = 0;

  const auto header = encode_journal_header({boot_id(), false, sections_}, bytes_);
  std::memcpy(map_, header.data(), header.size());
  sequences_.assign(size_t{own} * geometry_.slots, 0);
  std::map<std::string, uint32_t> next;
  for (const JournaledPromise& p : findings_.promised) {
    JournalRecord r = p.record;
    r.slot = next[p.span]++;
    for (size_t s = own; s < sections_.size(); ++s) {
      if (sections_[s].span != p.span) continue;
      const JournalCopy copy = encode_journal_copy(r, 0);
      std::memcpy(map_ + sections_[s].offset + r.slot * kJournalSlotBytes, copy.data(), kJournalCopyBytes);
    }
  }
  if (::fsync(fd.get()) != 0) return give_up(failed(fresh, "cannot be written", errno));
  if (::rename(fresh.c_str(), path.c_str()) != 0) return give_up(failed(path, "cannot be replaced", errno));
  sync_folder_of(path);
  file_ = std::move(fd);
  return {};
}

bool JournalFile::in_place() const {
  struct stat named {
  }, ours{};
  return ::stat(path_.c_str(), &named) == 0 && ::fstat(file_.get(), &ours) == 0 &&
         named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

JournalFile::~JournalFile() {
  if (map_ != nullptr) ::munmap(map_, bytes_);
}

void JournalFile::write(uint32_t section, const JournalRecord& r) {
  MRDMA_CHECK(section < geometry_.spans.size() * geometry_.workers && r.slot < geometry_.slots);
  const uint8_t sequence = ++sequences_[size_t{section} * geometry_.slots + r.slot];
  const JournalCopy copy = encode_journal_copy(r, sequence);
  uint8_t* slot = map_ + sections_[section].offset + r.slot * kJournalSlotBytes;
  std::memcpy(slot + journal_copy_offset(sequence), copy.data(), kJournalCopyBytes);
  // A death of this process shows every store before it, in whatever order the processor made them: only the
  // compiler must not move them behind what follows, the ACK that makes the promise.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void JournalFile::forget() { *static_cast<volatile uint8_t*>(map_ + kJournalForgottenAt) = 1; }

}  // namespace matchrdma
