#include "proxy/daemon/journal_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "dataplane/base/prng.h"
#include "proxy/daemon/test_records.h"

namespace matchrdma {
namespace {

using State = JournalSlot::State;
using test::record_of;
using SlotBytes = std::array<uint8_t, kJournalSlotBytes>;

void put(SlotBytes& slot, const JournalRecord& r, uint8_t sequence, size_t bytes = kJournalCopyBytes) {
  const JournalCopy copy = encode_journal_copy(r, sequence);
  std::memcpy(slot.data() + journal_copy_offset(sequence), copy.data(), bytes);
}

TEST(JournalFormat, TheNewestRecordIsFoundHoweverOftenTheSlotWasWritten) {
  SlotBytes slot{};
  EXPECT_EQ(decode_journal_slot(5, slot).state, State::kBlank);
  for (uint32_t n = 1; n < 1000; ++n) {
    const JournalRecord r = record_of(5, n, n % 3 != 0);
    put(slot, r, static_cast<uint8_t>(n));
    const JournalSlot s = decode_journal_slot(5, slot);
    ASSERT_EQ(s.state, State::kWritten);
    ASSERT_EQ(s.record, r) << n;
  }
}

TEST(JournalFormat, AllBitsOfARecordSurvive) {
  Prng r(3);
  for (int i = 0; i < 1000; ++i) {
    JournalRecord in;
    in.slot = static_cast<uint32_t>(r.next());
    in.promised = r.below(2) == 1;
    for (uint8_t& b : in.key.src.b) b = static_cast<uint8_t>(r.next());
    for (uint8_t& b : in.key.dst.b) b = static_cast<uint8_t>(r.next());
    const auto number = [&] { return static_cast<uint32_t>(r.next()) & 0xffffff; };
    in.key.dst_qpn = Qpn{number()};
    in.key.vlan_outer = static_cast<uint16_t>(r.below(4096));
    in.key.vlan_inner = static_cast<uint16_t>(r.below(4096));
    in.key.port_pair = static_cast<uint16_t>(r.next());
    in.sender_qpn = Qpn{number()};
    in.path_mtu = static_cast<uint16_t>(r.next());
    in.acked_end = Psn{number()};
    in.confirmed_end = Psn{number()};
    in.msn = Msn{number()};
    SlotBytes slot{};
    put(slot, in, 1);
    ASSERT_EQ(decode_journal_slot(in.slot, slot).record, in);
  }
}

// H13: a death after any number of stored bytes, in whatever order they were stored.
TEST(JournalFormat, ATornRecordIsTheOneBefore) {
  for (const bool was : {true, false}) {
    SlotBytes before{};
    put(before, record_of(9, 1, was), 1);
    put(before, record_of(9, 2, was), 2);
    const JournalRecord old = record_of(9, 2, was), fresh = record_of(9, 3, !was);
    for (size_t bytes = 0; bytes <= kJournalCopyBytes; ++bytes) {
      SlotBytes torn = before;
      put(torn, fresh, 3, bytes);
      const JournalSlot s = decode_journal_slot(9, torn);
      ASSERT_EQ(s.state, State::kWritten);
      ASSERT_TRUE(s.record == old || (s.record == fresh && bytes >= kJournalCopyBytes - 8)) << bytes;
    }
    SlotBytes whole = before;
    put(whole, fresh, 3);
    Prng r(1);
    for (int i = 0; i < 10'000; ++i) {
      SlotBytes torn = before;
      for (size_t word = 0; word < kJournalSlotBytes; word += 8)
        if (r.below(2) == 1) std::memcpy(torn.data() + word, whole.data() + word, 8);
      const JournalSlot s = decode_journal_slot(9, torn);
      ASSERT_TRUE(s.record == old || (s.record == fresh && torn == whole));
    }
  }
}

TEST(JournalFormat, TheFirstRecordTornIsNone) {
  for (size_t bytes = 1; bytes < kJournalCopyBytes - 8; ++bytes) {
    SlotBytes slot{};
    put(slot, record_of(1, 1), 1, bytes);
    EXPECT_EQ(decode_journal_slot(1, slot).state, State::kBlank) << bytes;
  }
}

TEST(JournalFormat, DamageAndStrayedCopiesAreNotBelieved) {
  SlotBytes slot{};
  put(slot, record_of(1, 1), 1);
  put(slot, record_of(1, 2), 2);
  EXPECT_EQ(decode_journal_slot(2, slot).state, State::kUnreadable);
  for (size_t bit = 0; bit < kJournalCopyBytes * 8; ++bit) {
    SlotBytes damaged = slot;
    damaged[bit / 8] = static_cast<uint8_t>(damaged[bit / 8] ^ 1u << bit % 8);
    EXPECT_EQ(decode_journal_slot(1, damaged).record, record_of(1, 1)) << bit;  // the newer one is in copy 0
    damaged[bit / 8 + kJournalCopyBytes] ^= 1;
    EXPECT_EQ(decode_journal_slot(1, damaged).state, State::kUnreadable);
  }
}

JournalHeader header() {
  return {"0f7d9b8e-3f1e-4a53-9d1c-0123456789ab",
          false,
          {{"east", false, 3, 0}, {"west", false, 100, 0}, {"north", true, 7, 0}}};
}

TEST(JournalFormat, TheHeaderNamesEverySection) {
  JournalHeader h = header();
  const uint64_t bytes = lay_out_journal(h.sections);
  uint64_t end = journal_header_bytes(3);
  for (const JournalSection& s : h.sections) {
    EXPECT_GE(s.offset, end);
    EXPECT_EQ(s.offset % 4096, 0u);
    end = s.offset + s.slots * kJournalSlotBytes;
  }
  EXPECT_LE(end, bytes);
  for (const bool forgotten : {false, true}) {
    h.forgotten = forgotten;
    const auto text = encode_journal_header(h, bytes);
    const auto back = decode_journal_header(text, bytes);
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(back->boot, h.boot);
    EXPECT_EQ(back->forgotten, forgotten);
    EXPECT_EQ(back->sections, h.sections);
  }
}

TEST(JournalFormat, ADamagedHeaderIsRefused) {
  JournalHeader h = header();
  const uint64_t bytes = lay_out_journal(h.sections);
  const auto text = encode_journal_header(h, bytes);
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(decode_journal_header(Bytes(text).first(size), bytes)) << size;
  EXPECT_FALSE(decode_journal_header(text, bytes - 1));
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    if (bit / 8 >= 120 && bit / 8 < 128) continue;  // the checksum itself, and the byte that changes in place
    auto damaged = text;
    damaged[bit / 8] = static_cast<uint8_t>(damaged[bit / 8] ^ 1u << bit % 8);
    EXPECT_FALSE(decode_journal_header(damaged, bytes)) << bit;
  }
}

}  // namespace
}  // namespace matchrdma
