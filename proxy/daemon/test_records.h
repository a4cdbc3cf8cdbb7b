#pragma once
// Journal records that can be told apart, and judged by themselves.
#include "dataplane/flow/journal.h"

namespace matchrdma::test {

/// Write number `n` of a slot: everything in it follows from the two numbers.
inline JournalRecord record_of(uint32_t slot, uint32_t n, bool promised = true) {
  JournalRecord r;
  r.slot = slot;
  r.promised = promised;
  for (size_t i = 0; i < 16; ++i) {
    r.key.src.b[i] = static_cast<uint8_t>(slot * 31 + i);
    r.key.dst.b[i] = static_cast<uint8_t>(slot >> 8 | i << 4);
  }
  r.key.dst_qpn = Qpn{(slot * 7919) & 0xffffff};
  r.key.vlan_outer = static_cast<uint16_t>(slot & 0xfff);
  r.key.vlan_inner = static_cast<uint16_t>(slot >> 1 & 0xfff);
  r.sender_qpn = Qpn{(n ^ 0x5a5a5a) & 0xffffff};
  r.path_mtu = 256u << (n % 5);
  r.acked_end = Psn{n & 0xffffff};
  r.confirmed_end = Psn{(n * 3) & 0xffffff};
  r.msn = Msn{(n * 5 + slot) & 0xffffff};
  return r;
}

}  // namespace matchrdma::test
