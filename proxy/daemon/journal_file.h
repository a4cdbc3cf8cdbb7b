#pragma once
// The journal of promises as a mapped file (H13): what a killed daemon leaves for its next life.
#include <memory>
#include <string>
#include <vector>

#include "controlplane/tls/file_descriptor.h"
#include "dataplane/base/result.h"
#include "dataplane/flow/journal.h"
#include "proxy/daemon/journal_format.h"

namespace matchrdma {

/// One section per span and worker. Another geometry than the last life's is no matter.
struct JournalGeometry {
  std::vector<std::string> spans;  ///< names, in the order of port_pair
  uint32_t workers = 1;
  uint32_t slots = 0;  ///< Limits::max_flows
};

/// A promise that a life before gave and did not see kept.
struct JournaledPromise {
  std::string span;
  bool configured = false;  ///< the span is there still; if not, nobody can be told: an event
  JournalRecord record;  ///< key.port_pair is that of the span now, 0 without it; `slot` means nothing any more
};

struct JournalFindings {
  std::vector<JournaledPromise> promised;  ///< each key once per span
  uint64_t unreadable = 0;                 ///< slots of which no copy is whole (disk damage)
  bool same_boot = true;  ///< false: the machine restarted since, so the newest half minute may be missing
};

/// Duty: that records outlive the process, whatever kills it. Not the machine: after a power failure the file
/// holds what the kernel had written back. Best on tmpfs, where a store never waits for a disk; there it lives
/// until the machine restarts.
///
/// Promises found at open() stay in the file until forget(), so a second death before they were told loses
/// none. Does not know flows, time or when a promise was kept.
class JournalFile {
 public:
  /// Reads what is there, then replaces it by a fresh file with room for all of `geometry` (blocks reserved,
  /// pages present, mode 0600). `path`.lock keeps a second daemon out for as long as this object lives.
  static Result<std::unique_ptr<JournalFile>> open(const std::string& path, const JournalGeometry& geometry);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  uint32_t section(uint32_t span, uint32_t worker) const { return span * geometry_.workers + worker; }
  /// Stores to memory only: no system call, no allocation. Once it returns the record is found after SIGKILL;
  /// until then the one before it is. One thread per section.
  void write(uint32_t section, const JournalRecord& r);

  const JournalFindings& findings() const { return findings_; }
  /// The promises found at open() are dealt with: a next life will not hear of them.
  void forget();
  uint64_t bytes() const { return bytes_; }
  /// False: somebody deleted or replaced the file. What is written goes where no next life finds it.
  bool in_place() const;

 private:
  JournalFile() = default;
  Result<void> create();

  std::string path_;
  FileDescriptor lock_, file_;
  JournalGeometry geometry_;
  JournalFindings findings_;
  uint8_t* map_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<JournalSection> sections_;
  std::vector<uint8_t> sequences_;  ///< of the newest write of each slot
};

/// What the file at `path` holds; nothing where there is none. Span names that `spans` lacks are not
/// configured.
Result<JournalFindings> read_journal(const std::string& path, const std::vector<std::string>& spans);

}  // namespace matchrdma
