#include "proxy/daemon/journal_format.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>

#include "dataplane/wire/writer.h"

namespace matchrdma {
namespace {

using State = JournalSlot::State;

constexpr size_t kCrcBytes = 4, kCopyCrcAt = kJournalCopyBytes - kCrcBytes;
constexpr uint8_t kPromised = 1;

constexpr std::array<uint8_t, 8> kMagic{'m', 'r', 'd', 'm', 'a', 'j', 'n', 'l'};
constexpr uint32_t kVersion = 1;
constexpr size_t kBootBytes = 40, kHeaderCrcAt = 120, kBaseBytes = 128, kSectionBytes = 64;
constexpr uint64_t kPage = 4096;

/// CRC-32C. ISA-L's argument is not const, but it only reads.
uint32_t crc32c(uint32_t seed, Bytes b) {
  return crc32_iscsi(const_cast<uint8_t*>(b.data()), static_cast<int>(b.size()), seed);
}

/// The slot's number is part of it: a copy that strayed into another slot is not whole there.
uint32_t copy_crc(uint32_t slot, const uint8_t* copy) { return crc32c(~slot, {copy, kCopyCrcAt}); }

bool is_blank(const uint8_t* copy) {
  return std::all_of(copy, copy + kJournalCopyBytes, [](uint8_t b) { return b == 0; });
}

struct Decoded {
  JournalRecord record;
  uint8_t sequence;
};
/// Reads what encode_journal_copy() wrote, in its order.
std::optional<Decoded> decode_copy(uint32_t slot, const uint8_t* p) {
  if (load_be32(p + kCopyCrcAt) != copy_crc(slot, p)) return {};
  Decoded d{};
  JournalRecord& r = d.record;
  r.slot = slot;
  r.key.src = IpAddress::v6(p);
  r.key.dst = IpAddress::v6(p + 16);
  r.key.vlan_outer = load_be16(p + 32);
  r.key.vlan_inner = load_be16(p + 34);
  r.key.port_pair = load_be16(p + 36);
  r.path_mtu = load_be32(p + 38);
  r.key.dst_qpn = Qpn{load_be24(p + 42)};
  r.sender_qpn = Qpn{load_be24(p + 45)};
  r.acked_end = Psn{load_be24(p + 48)};
  r.confirmed_end = Psn{load_be24(p + 51)};
  r.msn = Msn{load_be24(p + 54)};
  r.promised = (p[57] & kPromised) != 0;
  d.sequence = p[58];
  return d;
}

uint64_t on_pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// Over all of the header but itself and the byte that changes in place.
uint32_t header_crc(Bytes header) {
  return crc32c(crc32c(~0u, header.first(kHeaderCrcAt)), header.subspan(kBaseBytes));
}

std::string text_at(const uint8_t* p, size_t room) { return {p, std::find(p, p + room, uint8_t{0})}; }

}  // namespace

JournalCopy encode_journal_copy(const JournalRecord& r, uint8_t sequence) {
  JournalCopy copy;
  Writer w(copy);
  w.bytes(r.key.src.b.data(), 16);
  w.bytes(r.key.dst.b.data(), 16);
  w.u16(r.key.vlan_outer);
  w.u16(r.key.vlan_inner);
  w.u16(r.key.port_pair);
  w.u32(r.path_mtu);
  w.u24(r.key.dst_qpn.v);
  w.u24(r.sender_qpn.v);
  w.u24(r.acked_end.v);
  w.u24(r.confirmed_end.v);
  w.u24(r.msn.v);
  w.u8(r.promised ? kPromised : 0);
  w.u8(sequence);
  w.zeros(1);
  w.u32(copy_crc(r.slot, copy.data()));
  return copy;
}

JournalSlot decode_journal_slot(uint32_t slot, Bytes bytes) {
  MRDMA_CHECK(bytes.size() == kJournalSlotBytes);
  const uint8_t* const copies[2] = {bytes.data(), bytes.data() + kJournalCopyBytes};
  const auto first = decode_copy(slot, copies[0]), second = decode_copy(slot, copies[1]);
  if (first && second) {
    const bool second_is_newer = static_cast<int8_t>(second->sequence - first->sequence) > 0;
    return {State::kWritten, second_is_newer ? second->record : first->record};
  }
  if (first) return {State::kWritten, first->record};
  if (second) return {State::kWritten, second->record};
  // One copy blank, the other torn: the first write of this slot was never completed.
  const bool blank = is_blank(copies[0]) || is_blank(copies[1]);
  return {blank ? State::kBlank : State::kUnreadable, {}};
}

size_t journal_header_bytes(size_t sections) { return kBaseBytes + sections * kSectionBytes; }

uint64_t lay_out_journal(std::vector<JournalSection>& sections) {
  uint64_t at = on_pages(journal_header_bytes(sections.size()));
  for (JournalSection& s : sections) {
    s.offset = at;
    at += on_pages(s.slots * kJournalSlotBytes);
  }
  return at;
}

std::vector<uint8_t> encode_journal_header(const JournalHeader& h, uint64_t file_bytes) {
  MRDMA_CHECK(h.boot.size() <= kBootBytes && h.sections.size() <= kJournalMaxSections);
  std::vector<uint8_t> out(journal_header_bytes(h.sections.size()));
  Writer w(out);
  w.bytes(kMagic.data(), kMagic.size());
  w.u32(kVersion);
  w.u32(static_cast<uint32_t>(h.sections.size()));
  w.u64(file_bytes);
  std::memcpy(out.data() + 24, h.boot.data(), h.boot.size());
  out[kJournalForgottenAt] = h.forgotten ? 1 : 0;
  for (size_t i = 0; i < h.sections.size(); ++i) {
    const JournalSection& s = h.sections[i];
    MRDMA_CHECK(s.span.size() <= kJournalSpanName);
    Writer entry(MutableBytes(out).subspan(kBaseBytes + i * kSectionBytes, kSectionBytes));
    entry.u64(s.offset);
    entry.u32(s.slots);
    entry.u32(s.inherited ? 1 : 0);
    std::memcpy(out.data() + kBaseBytes + i * kSectionBytes + 16, s.span.data(), s.span.size());
  }
  store_be32(out.data() + kHeaderCrcAt, header_crc(out));
  return out;
}

Result<JournalHeader> decode_journal_header(Bytes begin, uint64_t file_bytes) {
  const uint8_t* p = begin.data();
  if (begin.size() < kBaseBytes || !std::equal(kMagic.begin(), kMagic.end(), p))
    return Error{"it is no journal of matchrdmad"};
  const uint32_t version = load_be32(p + 8), sections = load_be32(p + 12);
  if (version != kVersion) return Error{"it has version " + std::to_string(version) + ", this program reads 1"};
  const bool fits = sections <= kJournalMaxSections && begin.size() >= journal_header_bytes(sections);
  if (!fits || load_be64(p + 16) != file_bytes ||
      load_be32(p + kHeaderCrcAt) != header_crc(begin.first(journal_header_bytes(sections))))
    return Error{"its header is damaged"};
  JournalHeader h;
  h.boot = text_at(p + 24, kBootBytes);
  h.forgotten = p[kJournalForgottenAt] != 0;
  for (uint32_t i = 0; i < sections; ++i) {
    const uint8_t* entry = p + kBaseBytes + i * kSectionBytes;
    JournalSection s{text_at(entry + 16, kJournalSpanName), load_be32(entry + 12) != 0, load_be32(entry + 8),
                     load_be64(entry)};
    if (s.offset > file_bytes || s.slots * kJournalSlotBytes > file_bytes - s.offset)
      return Error{"its header is damaged"};
    h.sections.push_back(std::move(s));
  }
  return h;
}

}  // namespace matchrdma
