#include "dataplane/source/read_fence.h"

#include <algorithm>

#include "dataplane/source/acknowledge.h"

namespace matchrdma {
namespace {

ReadRange range_of(const Frame& req, Seq psn, uint32_t psns) {
  ReadRange r;
  r.begin = r.next_response = psn;
  r.end = psn + psns;
  r.opcode = req.opcode();
  r.header_hash = request_hash(req);
  if (req.opcode() == op::kRcReadReq) {
    r.va = req.reth_va();
    r.rkey = req.reth_rkey();
    r.length = req.reth_length();
  }
  return r;
}

// A retried READ asks for the rest: address and length move with the PSN (IBA 9.4.4; seen in captures).
bool same_request(const ReadRange& r, const Frame& req, Seq psn, uint32_t psns, uint32_t mtu) {
  if (req.opcode() != r.opcode || psn < r.begin || psn + psns > r.end) return false;
  if (r.opcode != op::kRcReadReq) return request_hash(req) == r.header_hash;
  const uint64_t skipped = static_cast<uint64_t>(psn - r.begin) * mtu;
  return req.reth_rkey() == r.rkey && req.reth_va() == r.va + skipped &&
         req.reth_length() + skipped <= r.length;
}

bool drop_oldest_complete(SourceFlow& f) {
  if (f.reads.empty() || !f.reads.front().complete()) return false;
  f.reads.pop_front();
  return true;
}

}  // namespace

bool add_read(SourceFlow& f, const Frame& req, Seq psn, uint32_t psns, const RoleCtx& ctx) {
  if (!f.reads.empty() && f.reads.back().begin == psn) return true;  // noted before base was picked
  if (f.reads.size() >= ctx.limits->read_ranges && !drop_oldest_complete(f)) return false;
  // An answered one is remembered where there is room; a new one needs it.
  while (!f.reads.push_back(range_of(req, psn, psns))) {
    if (!drop_oldest_complete(f)) return false;
  }
  return true;
}

void note_read_early(SourceFlow& f, const Frame& req, Seq psn, bool is_new, const RoleCtx& ctx) {
  const uint32_t psns = psn_count(req, f.path_mtu);
  // The LAN may bring it behind later packets: then it is below what was seen, but not known yet.
  if (is_new || match_read(f, req, psn, psns) == ReadCopy::kUnknown) {
    static_cast<void>(add_read(f, req, psn, psns, ctx));
  }
}

ReadCopy match_read(SourceFlow& f, const Frame& req, Seq psn, uint32_t psns) {
  for (uint64_t i = f.reads.begin(); i < f.reads.end(); ++i) {
    ReadRange& r = f.reads[i];
    if (psn >= r.end || psn + psns <= r.begin) continue;
    if (!same_request(r, req, psn, psns, f.path_mtu)) return ReadCopy::kDifferent;
    r.next_response = psn;  // the sender has every response below what it asks for
    r.retried = true;
    return ReadCopy::kRetry;
  }
  return ReadCopy::kUnknown;
}

void note_went_back(SourceFlow& f, Seq psn) {
  // A requester that timed out starts at its oldest unanswered PSN. Three times the same start: not the rest of
  // a burst whose head was lost on the LAN.
  f.went_back_times = f.went_back_to == psn ? f.went_back_times + 1 : 1;
  f.went_back_to = psn;
  if (f.went_back_times < 3) return;
  for (uint64_t i = f.reads.begin(); i < f.reads.end(); ++i) {
    if (f.reads[i].end <= psn) f.reads[i].next_response = f.reads[i].end;
  }
}

bool on_response(SourceFlow& f, const Frame& resp) {
  const Seq psn = unwrap24(resp.psn().v, f.seen_end());
  for (uint64_t i = f.reads.begin(); i < f.reads.end(); ++i) {
    ReadRange& r = f.reads[i];
    if (psn < r.begin || psn >= r.end) continue;
    if (r.complete() || psn < r.next_response) return false;
    if (psn != r.next_response) return false;  // after a hole the sender throws the rest away and asks again
    ++r.next_response;
    // The sender takes a response as an acknowledgement of everything before it.
    const Seq told = r.complete() ? r.end : psn;
    if (told > f.acked_end && told <= f.sent_end()) note_told(f, told);
    return r.complete();
  }
  return false;
}

bool msn_is_exact(const SourceFlow& f, Seq psn) {
  const uint64_t last = f.reads.end();
  for (uint64_t i = f.reads.begin(); i < last; ++i) {
    const ReadRange& r = f.reads[i];
    if (psn >= r.begin && psn < r.end) return !r.retried || psn + 1 == f.seen_end();
  }
  return false;
}

}  // namespace matchrdma
