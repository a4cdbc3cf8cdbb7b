#include "proxy/daemon/journal_format.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "dataplane/wire/writer.h"

namespace matchrdma {
namespace {

using State = JournalSlot::State;

static_assert(std::endian::native == std::endian::little, "a copy is built of words as they stand in memory");
// Words of a copy; the last one holds the checksum of those before.
constexpr size_t kPorts = 4, kQps = 5, kPsns = 6, kChecksum = 7;
constexpr uint64_t k24 = 0xffffff, k12 = 0xfff;

constexpr std::array<uint8_t, 8> kMagic{'m', 'r', 'd', 'm', 'a', 'j', 'n', 'l'};
constexpr uint32_t kVersion = 1;
constexpr size_t kBootBytes = 40, kHeaderCrcAt = 120, kBaseBytes = 128, kSectionBytes = 64;
constexpr uint64_t kPage = 4096;

/// CRC-32C. ISA-L's argument is not const, but it only reads.
uint32_t crc32c(uint32_t seed, Bytes b) {
  return crc32_iscsi(const_cast<uint8_t*>(b.data()), static_cast<int>(b.size()), seed);
}

/// The slot's number is part of it: a copy that strayed into another slot is not whole there.
uint64_t checksum(uint32_t slot, const JournalCopy& copy) {
  std::array<uint8_t, kChecksum * 8> bytes;
  std::memcpy(bytes.data(), copy.data(), bytes.size());
  return crc32c(~slot, bytes);
}

struct Decoded {
  JournalRecord record;
  uint8_t sequence;
};
std::optional<Decoded> decode_copy(uint32_t slot, const JournalCopy& copy) {
  if (copy[kChecksum] != checksum(slot, copy)) return {};
  const auto bits = [&](size_t word, int shift, uint64_t mask) {
    return static_cast<uint32_t>(copy[word] >> shift & mask);
  };
  Decoded d{};
  JournalRecord& r = d.record;
  r.slot = slot;
  std::memcpy(r.key.src.b.data(), copy.data(), 16);
  std::memcpy(r.key.dst.b.data(), copy.data() + 2, 16);
  r.key.vlan_outer = static_cast<uint16_t>(bits(kPorts, 0, k12));
  r.key.vlan_inner = static_cast<uint16_t>(bits(kPorts, 12, k12));
  r.key.port_pair = static_cast<uint16_t>(bits(kPorts, 24, 0xffff));
  r.msn = Msn{bits(kPorts, 40, k24)};
  r.key.dst_qpn = Qpn{bits(kQps, 0, k24)};
  r.sender_qpn = Qpn{bits(kQps, 24, k24)};
  r.path_mtu = bits(kQps, 48, 0xffff);
  r.acked_end = Psn{bits(kPsns, 0, k24)};
  r.confirmed_end = Psn{bits(kPsns, 24, k24)};
  d.sequence = static_cast<uint8_t>(bits(kPsns, 48, 0xff));
  r.promised = bits(kPsns, 56, 1) != 0;
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
  std::memcpy(copy.data(), r.key.src.b.data(), 16);
  std::memcpy(copy.data() + 2, r.key.dst.b.data(), 16);
  copy[kPorts] = (r.key.vlan_outer & k12) | (r.key.vlan_inner & k12) << 12 | uint64_t{r.key.port_pair} << 24 |
                 (r.msn.v & k24) << 40;
  copy[kQps] = (r.key.dst_qpn.v & k24) | (r.sender_qpn.v & k24) << 24 | uint64_t{r.path_mtu & 0xffffu} << 48;
  copy[kPsns] = (r.acked_end.v & k24) | (r.confirmed_end.v & k24) << 24 | uint64_t{sequence} << 48 |
                uint64_t{r.promised} << 56;
  copy[kChecksum] = checksum(r.slot, copy);
  return copy;
}

JournalSlot decode_journal_slot(uint32_t slot, Bytes bytes) {
  MRDMA_CHECK(bytes.size() == kJournalSlotBytes);
  JournalCopy copies[2];
  std::memcpy(copies, bytes.data(), kJournalSlotBytes);
  const auto first = decode_copy(slot, copies[0]), second = decode_copy(slot, copies[1]);
  if (first && second) {
    const bool second_is_newer = static_cast<int8_t>(second->sequence - first->sequence) > 0;
    return {State::kWritten, second_is_newer ? second->record : first->record};
  }
  if (first) return {State::kWritten, first->record};
  if (second) return {State::kWritten, second->record};
  // One copy blank, the other torn: the first write of this slot was never completed.
  const bool blank = copies[0] == JournalCopy{} || copies[1] == JournalCopy{};
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
