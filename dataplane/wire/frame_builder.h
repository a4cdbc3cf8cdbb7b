#pragma once
// Builds every packet the proxy makes, and (for model/ and tests) every RC/UC/UD packet there is.
#include <cstdint>
#include <optional>

#include "dataplane/base/bytes.h"
#include "dataplane/base/packet.h"
#include "dataplane/base/types.h"
#include "dataplane/wire/udp_frame.h"

namespace matchrdma {

/// A BTH with its extension headers and payload.
struct RoceSpec {
  uint8_t opcode = 0;
  Qpn dest_qp;
  Psn psn;
  bool ack_req = false, solicited = false, mig_req = true, becn = false, fecn = false;
  uint16_t pkey = 0xffff;
  uint64_t va = 0;                     ///< RETH, AtomicETH
  uint32_t rkey = 0;                   ///< RETH, AtomicETH
  uint32_t dma_length = 0;             ///< RETH
  uint64_t swap_add = 0, compare = 0;  ///< AtomicETH
  uint64_t atomic_original = 0;        ///< AtomicAckETH
  uint8_t syndrome = 0;                ///< AETH
  Msn msn;                             ///< AETH
  uint32_t imm = 0;                    ///< ImmDt
  uint32_t ieth_rkey = 0;              ///< IETH
  uint32_t feth = 0;                   ///< FETH: selectivity and placement type
  uint32_t qkey = 0;                   ///< DETH
  Qpn source_qp;                       ///< DETH
  Bytes payload{};                     ///< padded to 4 bytes by the builder
};

/// Bytes of the frame that build_roce makes (no FCS; not padded to 60).
uint32_t roce_frame_size(const L2L3& l, const RoceSpec& r);
/// Writes the frame with a right ICRC. `out.size()` must be roce_frame_size(). IPv4: DF set, identification 0.
void build_roce(const L2L3& l, const RoceSpec& r, MutableBytes out);
/// The same into a packet of the pool; empty when the pool is exhausted.
PacketRef build_roce(const L2L3& l, const RoceSpec& r, PacketPool& pool);
/// CNP for the sender of the flow: 16 zero bytes, BECN, PSN 0, P_Key 0xffff (IBA A17.9.3).
PacketRef build_cnp(const L2L3& l, Qpn sender_qp, PacketPool& pool);

/// Sets or clears AckReq in place and recomputes the ICRC. `bytes` must hold a parsed RoCE frame `f`.
void rewrite_ack_req(const Frame& f, MutableBytes bytes, bool on);
/// Rewrites the ECN codepoint in place (IPv4 header checksum adjusted; ICRC masks the field).
void rewrite_ecn(const Frame& f, MutableBytes bytes, uint8_t ecn);

}  // namespace matchrdma
