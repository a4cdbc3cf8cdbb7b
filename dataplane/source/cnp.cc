#include "dataplane/source/cnp.h"

namespace matchrdma {
namespace {

void try_cnp(SourceFlow& f, CnpPort& port, const RoleCtx& ctx) {
  if (f.last_cnp + ctx.timing->cnp_min_interval > ctx.now ||
      port.last + ctx.timing->cnp_port_interval > ctx.now)
    return;
  if (!f.ack_frame.prepared()) return;
  L2L3 net = f.ack_form.net;
  net.traffic_class = static_cast<uint8_t>(ctx.tuning->cnp_dscp << 2);
  net.hop_limit = 64;
  PacketRef p = build_cnp(net, f.sender_qpn, *ctx.pool);
  if (!p) return;
  f.last_cnp = port.last = ctx.now;
  ++ctx.n->cnps;
  ctx.out->packet(Side::kLan, Cause::kCnp, std::move(p));
}

}  // namespace

void on_congestion_mark(SourceFlow& f, const Frame& req, PacketRef& packet, CnpPort& port, const RoleCtx& ctx) {
  if (req.ecn() != kCe) {
    if (req.ecn() != 0) f.ect = req.ecn();
    return;
  }
  if (!f.ack_frame.prepared()) f.set_ack_form(AckTemplate::mirrored(req));
  try_cnp(f, port, ctx);
  // Only a mark that the sender was told of may be taken from the receiver's eyes.
  if (f.last_cnp + ctx.timing->cnp_min_interval <= ctx.now) return;
  if (!make_writable(packet, *ctx.pool)) return;
  const ParseResult again = parse_frame(packet->bytes());
  rewrite_ecn(again.frame, {packet->data, packet->size}, f.ect);
  ++ctx.n->ce_rewritten;
}

void on_gate_backlog(SourceFlow& f, CnpPort& port, const RoleCtx& ctx) { try_cnp(f, port, ctx); }

}  // namespace matchrdma
