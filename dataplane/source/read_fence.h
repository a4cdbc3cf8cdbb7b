#pragma once
// READ-class requests (READ, atomics, FLUSH, ATOMIC WRITE): never answered locally, a fence to every ACK and
// NAK until their responses have passed to the sender (C3, H7, H8, C13).
#include "dataplane/flow/role_ctx.h"
#include "dataplane/source/source_flow.h"

namespace matchrdma {

/// A new READ-class request at `psn`; false when the flow has too many outstanding.
bool add_read(SourceFlow& f, const Frame& req, Seq psn, uint32_t psns, const RoleCtx& ctx);

/// The same for a flow that gives no pseudo-ACKs yet: a READ that is unanswered when base is picked is a fence
/// to everything above base. `is_new`: its PSN was not seen before.
void note_read_early(SourceFlow& f, const Frame& req, Seq psn, bool is_new, const RoleCtx& ctx);

enum class ReadCopy : uint8_t {
  kRetry,      ///< a known request or a sub-range of it: the fence is armed again
  kUnknown,    ///< nothing is remembered of that PSN
  kDifferent,  ///< same PSN, other headers: not a retransmission (C4)
};
ReadCopy match_read(SourceFlow& f, const Frame& req, Seq psn, uint32_t psns);

/// The MSN in a response at `psn` counts exactly what stands below `psn` and at it: the answer to a repeated
/// READ carries the newest one instead (H7).
bool msn_is_exact(const SourceFlow& f, Seq psn);

/// A request below epsn after a pause. A sender whose retransmission starts above a READ has all its responses,
/// whatever we counted: the LAN may have put them in order, or the responses of a repeated READ that it no
/// longer needed were lost.
void note_went_back(SourceFlow& f, Seq psn);

/// A response with right ICRC passed to the sender. Counts it if it is the next expected one (H7); true when it
/// completes its request.
bool on_response(SourceFlow& f, const Frame& resp);

}  // namespace matchrdma
