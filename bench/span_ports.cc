#include "bench/span_ports.h"

#include <algorithm>

namespace matchrdma {

Result<SpanPorts> open_span_ports(const std::string& pool, uint32_t packets, const std::string& lan,
                                  const std::string& wan, const io::PortOptions& ports) {
  const auto plan = [&](const std::string& device, Side side) {
    io::PortOptions o = ports;
    o.device = device;
    o.tag = daemon::port_tag(0, side);
    return io::plan_port(o);
  };
  const auto lan_plan = plan(lan, Side::kLan), wan_plan = plan(wan, Side::kWan);
  if (!lan_plan) return Error{lan_plan.error()};
  if (!wan_plan) return Error{wan_plan.error()};
  auto made = io::MbufPool::create(pool, packets, std::max(lan_plan->packet_room, wan_plan->packet_room));
  if (!made) return Error{made.error()};
  SpanPorts s;
  s.pool = std::move(*made);
  io::MbufPool* const pools[] = {s.pool.get()};
  auto lan_port = io::Port::open(*lan_plan, pools), wan_port = io::Port::open(*wan_plan, pools);
  if (!lan_port) return Error{lan_port.error()};
  if (!wan_port) return Error{wan_port.error()};
  s.ports.push_back({std::move(*lan_port), std::move(*wan_port)});
  return s;
}

}  // namespace matchrdma
