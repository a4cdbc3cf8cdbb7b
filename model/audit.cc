#include "model/audit.h"

namespace matchrdma::model {
namespace {

/// Collects complaints about one direction.
class Auditor {
 public:
  Auditor(const char* name, const Qp& sender, const Qp& receiver, const AuditOptions& options)
      : name_(name), sender_(sender), receiver_(receiver), options_(options) {}

  void violations(std::string& out) const {
    for (const Violation& v : sender_.requester.violations().first()) complain(out, v.text(), v.seq);
    for (const Violation& v : receiver_.responder.violations().first()) complain(out, v.text(), v.seq);
  }

  void completions(std::string& out) const {
    for (const auto& r : sender_.requester.records()) {
      if (r.status == WcStatus::kSuccess) continue;
      complain(out, r.status == WcStatus::kPending ? "request did not complete" : "request failed", r.first);
      return;
    }
  }

  /// Each PSN once and in order; a READ stands for its range.
  void executions(std::string& out) const {
    const auto& records = sender_.requester.records();
    Seq next = sender_.id.send_start.v;
    size_t i = 0;
    for (const auto& e : receiver_.responder.executions()) {
      if (e.seq != next || i == records.size()) return complain(out, "executed out of turn", e.seq);
      const auto& r = records[i];
      next = is_read_class(r.wr.type) ? r.last() + 1 : e.seq + 1;
      if (next <= r.last()) continue;
      if (options_.completion_after_execution && r.status == WcStatus::kSuccess && e.at > r.completed)
        return complain(out, "completed before it was executed", r.first);
      ++i;
    }
    if (options_.complete && i != records.size()) return complain(out, "was never executed", records[i].first);
    if (options_.completion_after_execution && i < sender_.requester.completed())
      complain(out, "completed but never executed", records[i].first);
  }

  /// Each message that takes a receive work request arrived once, in order, whole.
  void messages(std::string& out) const {
    const auto& got = receiver_.responder.received();
    size_t i = 0;
    for (const auto& r : sender_.requester.records()) {
      if (!takes_receive(r.wr.type)) continue;
      if (i == got.size()) {
        if (options_.complete) complain(out, "message was never received", r.first);
        return;
      }
      if (got[i].bytes != r.wr.length || got[i].imm != (r.wr.type == WrType::kSend ? 0 : r.wr.imm))
        return complain(out, "message was received with another length or immediate", r.first);
      ++i;
    }
    if (i != got.size()) complain(out, "more messages were received than sent", sender_.id.send_start.v);
  }

 private:
  void complain(std::string& out, const char* what, Seq seq) const {
    out += std::string(name_) + ": " + what + ", PSN " + std::to_string(wire_psn(seq).v) + "\n";
  }
  const char* name_;
  const Qp& sender_;
  const Qp& receiver_;
  const AuditOptions& options_;
};

}  // namespace

std::string audit(const QpPair& pair, const AuditOptions& options, Instant now) {
  if (options.complete) pair.check_memory(now);
  std::string out;
  for (const auto& auditor :
       {Auditor("a->b", *pair.a, *pair.b, options), Auditor("b->a", *pair.b, *pair.a, options)}) {
    auditor.violations(out);
    if (options.complete) auditor.completions(out);
    auditor.executions(out);
    auditor.messages(out);
  }
  return out;
}

}  // namespace matchrdma::model
