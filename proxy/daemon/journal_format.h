#pragma once
// The journal's bytes on disk: slots of two copies, and the header that says whose they are. No files here.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"
#include "dataplane/flow/journal.h"

namespace matchrdma {

/// A record is written to the older copy of its slot, which has a checksum and the number of the write. A
/// process that dies while it writes leaves that copy torn and the other one whole: the record before. That is
/// the right one to find: a promise is told to its sender only after its record stands, so the torn one was
/// never told. (A torn "no longer promised" finds the promise that was just kept: one QP fails that need not
/// have. It is loud, and the window is one write.) Nothing is ever concluded from a torn copy, since its key
/// could be anybody's.
inline constexpr size_t kJournalCopyBytes = 64;  ///< one cache line
inline constexpr size_t kJournalSlotBytes = 2 * kJournalCopyBytes;

using JournalCopy = std::array<uint64_t, kJournalCopyBytes / 8>;
/// The write number `sequence` of a slot, for the copy that journal_copy_offset() says.
JournalCopy encode_journal_copy(const JournalRecord& r, uint8_t sequence);
inline size_t journal_copy_offset(uint8_t sequence) { return (sequence & 1u) * kJournalCopyBytes; }

struct JournalSlot {
  enum class State : uint8_t {
    kBlank,       ///< no write to it was ever completed
    kWritten,     ///< `record` is the newest whole one
    kUnreadable,  ///< written, but no copy is whole: the disk was damaged, a killed process cannot do that
  };
  State state = State::kBlank;
  JournalRecord record;
};
/// `bytes`: kJournalSlotBytes of slot number `slot`.
JournalSlot decode_journal_slot(uint32_t slot, Bytes bytes);

/// A run of slots. Those of this life belong to one worker and span; promises of lives before stand behind
/// them.
struct JournalSection {
  std::string span;  ///< by name: its number may be another one in the next life
  bool inherited = false;
  uint32_t slots = 0;
  uint64_t offset = 0;  ///< in the file, set by lay_out_journal()
  bool operator==(const JournalSection&) const = default;
};

struct JournalHeader {
  std::string boot;        ///< boot id of the machine, at most 40 characters
  bool forgotten = false;  ///< the promises of lives before were dealt with
  std::vector<JournalSection> sections;
};

inline constexpr size_t kJournalSpanName = 40;         ///< longest name of a span
inline constexpr size_t kJournalForgottenAt = 124;     ///< offset of the one byte that changes in place
inline constexpr uint32_t kJournalMaxSections = 4096;  ///< spans x workers, and as many names again

/// Places the sections one behind the other, each on pages of its own; the size of the file.
uint64_t lay_out_journal(std::vector<JournalSection>& sections);
/// Everything before the first section.
std::vector<uint8_t> encode_journal_header(const JournalHeader& h, uint64_t file_bytes);
/// `begin`: the file's first bytes, as many as it has, at least journal_header_bytes(kJournalMaxSections).
Result<JournalHeader> decode_journal_header(Bytes begin, uint64_t file_bytes);
size_t journal_header_bytes(size_t sections);

}  // namespace matchrdma
