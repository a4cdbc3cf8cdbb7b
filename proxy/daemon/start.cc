#include "proxy/daemon/start.h"

#include <algorithm>
#include <utility>

#include "proxy/daemon/memory_room.h"

namespace matchrdma::daemon {
namespace {

std::string mib(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// "0000:3b:00.0"
bool is_pci(const std::string& device) {
  return device.find(':') != std::string::npos && device.find(',') == std::string::npos;
}

io::EalOptions eal_options(const Config& c) {
  io::EalOptions o;
  o.no_huge = !c.memory.huge();
  o.memory_mib = static_cast<uint32_t>(c.memory.bytes() >> 20);
  o.main_cpus = {c.workers.main_core};
  o.worker_cpus = c.workers.cores;
  o.file_prefix = c.memory.file_prefix;
  for (const SpanConfig& s : c.spans) {
    for (const std::string& device : {s.lan.port, s.wan.port}) {
      if (is_pci(device)) o.pci.push_back(device);
    }
  }
  return o;
}

struct Plans {
  std::vector<std::pair<io::PortPlan, io::PortPlan>> spans;
  uint32_t room = 0;
  io::PoolNeeds needs;  ///< of one worker, `kept` left open
};

Result<Plans> plan(const Config& c) {
  Plans p;
  for (size_t s = 0; s < c.spans.size(); ++s) {
    const auto port = [&](const std::string& device, uint16_t mtu, Side side) {
      io::PortOptions o;
      o.device = device;
      o.workers = static_cast<uint16_t>(c.workers.cores.size());
      o.mtu = mtu;
      o.tag = port_tag(s, side);
      return io::plan_port(o);
    };
    auto lan = port(c.spans[s].lan.port, c.spans[s].lan.mtu, Side::kLan);
    if (!lan) return Error{"span " + c.spans[s].name + ", LAN port: " + lan.error()};
    auto wan = port(c.spans[s].wan.port, c.spans[s].wan.mtu, Side::kWan);
    if (!wan) return Error{"span " + c.spans[s].name + ", WAN port: " + wan.error()};
    for (const io::PortPlan& one : {*lan, *wan}) {
      p.room = std::max(p.room, one.packet_room);
      p.needs.rx_rings += one.options.rx_ring;
      p.needs.tx_rings += one.options.tx_ring;
    }
    p.spans.emplace_back(std::move(*lan), std::move(*wan));
  }
  return p;
}

// Ordinary memory is promised before it is there: the kernel would kill us in the middle of traffic.
Result<void> fits_machine(const Config& c) {
  const auto room = memory_room();
  const uint64_t shards = c.workers.cores.size() * c.spans.size();
  const uint64_t tables = Shard::table_bytes(c.limits) * shards;
  const uint64_t packets = c.memory.huge() ? 0 : c.memory.bytes();
  if (!room || packets + tables <= *room) return {};
  std::string text = "memory: this machine has " + mib(*room) + " to give, and the config wants ";
  if (packets != 0) text += mib(packets) + " for packets (memory) and ";
  return Error{text + mib(tables) + " for the tables of " + std::to_string(c.limits.max_flows) + " flows and " +
               std::to_string(c.limits.custody_packets) + " packets, " + std::to_string(shards) +
               " times: once for each worker and span (limits); write less"};
}

// What the core may keep must never take what the ports need to receive: an ACK that finds no buffer releases
// nothing. So the limits in packets are made to fit what is left of the pool.
Result<void> fit_limits(const Config& c, const Plans& plans, Machine& m, io::PoolNeeds& needs) {
  const size_t workers = c.workers.cores.size();
  // DPDK keeps some of its memory for rings, port tables and page ends.
  const uint64_t usable = c.memory.bytes() / 100 * 85 / workers;
  const uint32_t fits = io::packets_in(usable, plans.room);
  const uint32_t rings = io::pool_size(needs, plans.room).packets;
  constexpr uint32_t kLeast = 4096;
  if (fits < rings + kLeast) {
    needs.kept = kLeast;
    const uint64_t want = io::pool_size(needs, plans.room).bytes * workers * 100 / 85;
    return Error{"memory: " + mib(c.memory.bytes()) + " do not suffice: " + std::to_string(workers) +
                 " workers with " + std::to_string(2 * c.spans.size()) + " ports need " + mib(want) +
                 " to receive and to keep 4096 packets each; write more under `memory`, or take smaller MTUs"};
  }
  const uint32_t room_for = (fits - rings) / static_cast<uint32_t>(c.spans.size());  // one shard per span
  const uint64_t wanted = uint64_t{c.limits.custody_packets} + c.limits.held_packets;
  m.limits = c.limits;
  if (wanted > room_for) {
    m.limits.custody_packets = static_cast<uint32_t>(uint64_t{room_for} * c.limits.custody_packets / wanted);
    m.limits.held_packets = room_for - m.limits.custody_packets;
  }
  // A limit in bytes beyond what the pool holds would never be met: nobody would be slowed down before it is
  // empty.
  const uint64_t most = uint64_t{m.limits.custody_packets} * plans.room;
  if (m.limits.custody_hard_bytes > most) {
    const double soft = static_cast<double>(m.limits.custody_soft_bytes);
    m.limits.custody_soft_bytes = static_cast<uint64_t>(static_cast<double>(most) * soft /
                                                        static_cast<double>(m.limits.custody_hard_bytes));
    m.limits.custody_hard_bytes = most;
  }
  m.limits.reorder_memory = std::min(m.limits.reorder_memory, uint64_t{m.limits.held_packets} * plans.room);
  needs.kept =
      static_cast<uint32_t>(std::min<uint64_t>(wanted, room_for)) * static_cast<uint32_t>(c.spans.size());
  return {};
}

// Empty where the memory holds all that the config allows.
std::string lowered_limits(const Limits& wanted, const Limits& had) {
  std::string text;
  const auto add = [&text](const char* key, const std::string& from, const std::string& to) {
    if (from != to) text += (text.empty() ? "" : ", ") + std::string(key) + " " + from + " -> " + to;
  };
  const auto count = [&add](const char* key, uint64_t from, uint64_t to) {
    add(key, std::to_string(from), std::to_string(to));
  };
  count("custody_packets", wanted.custody_packets, had.custody_packets);
  count("held_packets", wanted.held_packets, had.held_packets);
  add("custody_soft", mib(wanted.custody_soft_bytes), mib(had.custody_soft_bytes));
  add("custody_hard", mib(wanted.custody_hard_bytes), mib(had.custody_hard_bytes));
  add("reorder_memory", mib(wanted.reorder_memory), mib(had.reorder_memory));
  return text;
}

Result<void> make_pools(const Config& c, const Plans& plans, Machine& m) {
  io::PoolNeeds needs = plans.needs;
  if (auto fit = fit_limits(c, plans, m, needs); !fit) return Error{fit.error()};
  if (const std::string lowered = lowered_limits(c.limits, m.limits); !lowered.empty()) {
    m.warnings.push_back("limits of each worker and span are lowered: " + lowered + "; packets to what " +
                         mib(c.memory.bytes()) +
                         " of memory hold, bytes to what so many packets of this MTU hold; write more under "
                         "`memory`, or these numbers under `limits`");
  }
  const io::PoolSize size = io::pool_size(needs, plans.room);
  for (size_t w = 0; w < c.workers.cores.size(); ++w) {
    auto pool = io::MbufPool::create("mrdma" + std::to_string(w), size.packets, plans.room);
    if (!pool) return Error{pool.error()};
    m.pools.push_back(std::move(*pool));
  }
  m.sizes.push_back("packet pool of each worker: " + size.arithmetic + ", " + mib(size.bytes));
  m.sizes.push_back("custody of each worker and span: " + std::to_string(m.limits.custody_packets) +
                    " packets, soft " + mib(m.limits.custody_soft_bytes) + ", hard " +
                    mib(m.limits.custody_hard_bytes) +
                    "; held for receivers: " + std::to_string(m.limits.held_packets) + " packets, " +
                    mib(m.limits.reorder_memory) + " for reordering");
  m.sizes.push_back("flows of each worker and span: " + std::to_string(m.limits.max_flows) + ", of them " +
                    std::to_string(m.limits.max_owning_flows) + " may own packets");
  return {};
}

Result<void> open_ports(const Config& c, const Plans& plans, Machine& m) {
  std::vector<io::MbufPool*> pools;
  for (const auto& p : m.pools) pools.push_back(p.get());
  for (size_t s = 0; s < plans.spans.size(); ++s) {
    auto lan = io::Port::open(plans.spans[s].first, pools);
    if (!lan) return Error{"span " + c.spans[s].name + ", LAN port: " + lan.error()};
    auto wan = io::Port::open(plans.spans[s].second, pools);
    if (!wan) return Error{"span " + c.spans[s].name + ", WAN port: " + wan.error()};
    if ((*wan)->mtu() < (*lan)->mtu()) {
      return Error{"span " + c.spans[s].name + ": the WAN port's MTU " + std::to_string((*wan)->mtu()) +
                   " is below the LAN port's " + std::to_string((*lan)->mtu()) +
                   ": raise it, or lower the LAN's"};
    }
    for (const auto& port : {lan->get(), wan->get()}) {
      if (const std::string& why = port->abilities().merging; !why.empty())
        m.warnings.push_back("span " + c.spans[s].name + ", port " + port->name() + ": " + why +
                             "; frames that the kernel merges are longer than the MTU and are lost (ethtool -K "
                             "... gro off lro off)");
    }
    m.ports.push_back({std::move(*lan), std::move(*wan)});
  }
  return {};
}

Result<void> make_workers(const Config& c, Machine& m) {
  const auto workers = static_cast<uint16_t>(c.workers.cores.size());
  const bool spread = std::all_of(m.ports.begin(), m.ports.end(), [](const PortPair& p) {
    return p.lan->abilities().rss && p.wan->abilities().rss;
  });
  if (workers > 1 && !spread) {
    auto d = io::Dispatch::create(workers, 4096);
    if (!d) return Error{d.error()};
    m.dispatch = std::move(*d);
  }
  for (uint16_t w = 0; w < workers; ++w) {
    m.io.push_back(std::make_unique<DpdkIo>(w, *m.clock, m.ports, m.dispatch.get()));
    m.workers.push_back(std::make_unique<DpdkWorker>(w, *m.io[w], c.workers.burst));
    if (c.workers.idle == matchrdma::Idle::kBusy) continue;
    auto idle = io::Idle::create(*m.clock);
    if (!idle) return Error{idle.error()};
    (*idle)->coalesce(c.workers.coalesce);
    for (const PortPair& p : m.ports) {
      (*idle)->watch(*p.lan, w);
      (*idle)->watch(*p.wan, w);
    }
    if (m.dispatch != nullptr) m.dispatch->set_idle(w, idle->get());
    m.io[w]->sleep_with(**idle);
    m.workers[w]->mailbox().set_wake([i = idle->get()] { i->wake(); });
    m.idle.push_back(std::move(*idle));
  }
  return {};
}

}  // namespace

Timing timing_of(const Config& config, size_t span) {
  Timing t = config.timing;
  if (config.spans[span].expected_rtt) t.initial_rtt = *config.spans[span].expected_rtt;
  return t;
}

Result<std::unique_ptr<Machine>> start_machine(const Config& config) {
  auto m = std::make_unique<Machine>();
  auto plans = plan(config);
  if (!plans) return Error{plans.error()};
  if (auto r = fits_machine(config); !r) return Error{r.error()};
  auto eal = io::Eal::start(eal_options(config));
  if (!eal) return Error{eal.error()};
  m->eal = std::move(*eal);
  m->clock = std::make_unique<io::Clock>();
  if (auto r = make_pools(config, *plans, *m); !r) return Error{r.error()};
  if (auto r = open_ports(config, *plans, *m); !r) return Error{r.error()};
  if (auto r = make_workers(config, *m); !r) return Error{r.error()};
  return m;
}

}  // namespace matchrdma::daemon
