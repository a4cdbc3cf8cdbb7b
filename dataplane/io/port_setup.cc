// Opening a port: from the device string to started queues.
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include <algorithm>
#include <cstring>

#include "dataplane/io/eal_log.h"
#include "dataplane/io/fanout_number.h"
#include "dataplane/io/packet_sockets.h"
#include "dataplane/io/port_impl.h"

namespace matchrdma::io {
namespace {

constexpr uint32_t kEthernetHeader = 14, kVlanTags = 8, kCrc = 4;
constexpr uint32_t kDefaultMtu = 9216;

/// Every 16 bits of the key are the same: swapping source and destination gives the same Toeplitz hash.
std::array<uint8_t, 64> symmetric_key() {
  std::array<uint8_t, 64> key{};
  for (size_t i = 0; i < key.size(); ++i) key[i] = i % 2 == 0 ? 0x6d : 0x5a;
  return key;
}

}  // namespace

Result<PortPlan> plan_port(PortOptions options) {
  auto parsed = parse_device(options.device);
  if (!parsed) return Error{parsed.error()};
  DeviceName& d = *parsed;
  PortPlan plan{.options = std::move(options)};
  PortOptions& o = plan.options;
  if (o.workers == 0) return Error{"port " + o.device + ": needs at least one worker"};
  const bool exists = d.kind == DeviceName::Kind::kAfPacket || d.kind == DeviceName::Kind::kAfXdp;
  if (exists) {
    const auto mtu = interface_mtu(d.interface);
    if (!mtu) return Error{"port " + d.name + ": " + mtu.error()};
    if (o.mtu == 0) o.mtu = *mtu;
  }
  if (o.mtu == 0) o.mtu = kDefaultMtu;
  if (o.mtu < 68 || o.mtu > 65000)
    return Error{"port " + d.name + ": MTU " + std::to_string(o.mtu) + ": choose 68 to 65000"};
  if (d.kind == DeviceName::Kind::kPci) plan.pci = d.name;
  plan.packet_room = o.mtu + kEthernetHeader + kVlanTags + kCrc;
  if (d.kind == DeviceName::Kind::kAfPacket) {
    const AfPacketRing ring = af_packet_ring(plan.packet_room);
    d.add_default("framesz", std::to_string(ring.frame_bytes));
    d.add_default("blocksz", std::to_string(ring.block_bytes));
    d.add_default("framecnt", std::to_string(ring.frames));
    // The driver wants a packet to hold whatever fits into a frame of its ring.
    const uint32_t frame = static_cast<uint32_t>(std::strtoul(d.argument("framesz")->c_str(), nullptr, 10));
    plan.packet_room = std::max(plan.packet_room, frame);
  }
  // An XDP socket works on pieces of memory of at least this size.
  if (d.kind == DeviceName::Kind::kAfXdp) plan.packet_room = std::max(plan.packet_room, 2048u);
  o.device = d.name + (d.arguments.empty() ? "" : "," + d.arguments);
  return plan;
}

Error Port::Impl::failed(const std::string& what, int error) const {
  // Drivers say -1 for anything, which is no number of an error.
  const std::string why = error == -1 ? "" : std::string(": ") + rte_strerror(error < 0 ? -error : error);
  return Error{"port " + device.name + ": " + what + why + ". DPDK says: " + log_since(log_mark_)};
}

// A vdev that lives inside this process is nobody else's.
Result<void> Port::Impl::take_claim() {
  const std::string outside = device.kind == DeviceName::Kind::kPci ? device.name : device.interface;
  if (outside.empty()) return {};
  auto taken = DeviceClaim::take(outside);
  if (!taken) return Error{"port " + device.name + ": " + taken.error()};
  claim.emplace(std::move(*taken));
  return {};
}

int Port::Impl::add_device(const char* bus) {
  constexpr uint32_t kAttempts = 16;
  for (uint32_t attempt = 0;; ++attempt) {
    const FanoutNumber number(attempt);
    const size_t mark = log_mark();
    const int r = rte_eal_hotplug_add(bus, device.name.c_str(), device.arguments.c_str());
    const bool taken = r != 0 && log_since(mark).find("PACKET_FANOUT") != std::string::npos;
    if (!taken || attempt + 1 == kAttempts) return r;
  }
}

Result<void> Port::Impl::probe() {
  log_mark_ = log_mark();
  const char* bus = device.kind == DeviceName::Kind::kPci ? "pci" : "vdev";
  if (rte_eth_dev_get_port_by_name(device.name.c_str(), &id) != 0) {
    if (const int r = add_device(bus); r != 0) {
      std::string hint;
      if (device.kind == DeviceName::Kind::kPci)
        hint = " (is it bound to vfio-pci, or mlx5_core for Mellanox, and in the list of PCI devices?)";
      // What a driver logs when it may not open its socket; the number that it returns tells nothing.
      const std::string log = log_since(log_mark_);
      const bool forbidden = log.find("Could not open AF_PACKET") != std::string::npos ||
                             log.find(std::strerror(EPERM)) != std::string::npos;
      if (device.kernel_backed() && forbidden) hint = " (it needs the capabilities NET_RAW and NET_ADMIN)";
      return failed("the device was refused" + hint, r);
    }
    if (rte_eth_dev_get_port_by_name(device.name.c_str(), &id) != 0)
      return failed("the device is no network port", ENODEV);
  } else if (device.kind != DeviceName::Kind::kPci && !plan.options.standing) {
    return failed("this name is taken by another port; give each vdev its own number", EEXIST);
  }
  return {};
}

Result<void> Port::Impl::configure(const rte_eth_dev_info& info) {
  const uint16_t wanted = plan.options.workers;
  const uint64_t both = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6;
  abilities.driver = info.driver_name;
  const bool can_rss =
      wanted > 1 && info.max_rx_queues >= wanted && (info.flow_type_rss_offloads & both) == both;
  // Without symmetric RSS more queues would only spread what a Dispatch gathers again.
  abilities.rx_queues = can_rss ? wanted : 1;
  abilities.rss = can_rss;
  abilities.control_queues = info.max_tx_queues >= 2 * wanted;
  abilities.tx_queues = std::min<uint16_t>(wanted, std::max<uint16_t>(info.max_tx_queues, 1));
  if (device.kind == DeviceName::Kind::kTap) {
    // A tap device has pairs of queues only.
    abilities.control_queues = false;
    abilities.tx_queues = abilities.rx_queues;
  }
  shared_tx = abilities.tx_queues < wanted;

  auto key = symmetric_key();
  rte_eth_conf conf{};
  // The kernel-backed drivers report no useful limit and keep the kernel's MTU.
  conf.rxmode.mtu =
      abilities.kernel_backed
          ? 0
          : std::min<uint32_t>(plan.options.mtu, info.max_mtu == 0 ? plan.options.mtu : info.max_mtu);
  if (can_rss) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_key = key.data();
    conf.rx_adv_conf.rss_conf.rss_key_len = info.hash_key_size == 0 ? 40 : info.hash_key_size;
    conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP & info.flow_type_rss_offloads;
  }
  const auto tx = static_cast<uint16_t>(abilities.control_queues ? 2 * wanted : abilities.tx_queues);
  if (const int r = rte_eth_dev_configure(id, abilities.rx_queues, tx, &conf); r != 0)
    return failed("cannot be configured for MTU " + std::to_string(plan.options.mtu) + " and " +
                      std::to_string(abilities.rx_queues) + " receive queues",
                  r);
  return {};
}

Result<void> Port::Impl::set_mtu(const rte_eth_dev_info& info) {
  uint32_t& mtu = plan.options.mtu;
  if (!abilities.kernel_backed) {
    if (info.max_mtu != 0) mtu = std::min<uint32_t>(mtu, info.max_mtu);
    return {};
  }
  auto have = interface_mtu(device.interface);
  if (!have) return Error{"port " + device.name + ": " + have.error()};
  if (*have != mtu) {
    if (auto r = set_interface_mtu(device.interface, mtu); !r)
      return Error{"port " + device.name + ": " + r.error()};
  }
  longest_tx = mtu + kEthernetHeader;
  return {};
}

// What the kernel merges is longer than the MTU: no other side would take it.
void Port::Impl::stop_merging() {
  if (!abilities.kernel_backed) return;
  const auto r = stop_receive_merging(device.interface);
  abilities.merging = !r ? r.error() : "";
}

Result<void> Port::Impl::make_queues(std::span<MbufPool* const> pools) {
  const PortOptions& o = plan.options;
  uint16_t rx_ring = static_cast<uint16_t>(o.rx_ring), tx_ring = static_cast<uint16_t>(o.tx_ring);
  if (const int r = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx_ring, &tx_ring); r != 0)
    return failed("rings of this size are refused", r);
  const int socket = rte_eth_dev_socket_id(id);
  const auto node = static_cast<unsigned>(socket < 0 ? SOCKET_ID_ANY : socket);
  for (uint16_t q = 0; q < abilities.rx_queues; ++q)
    if (const int r = rte_eth_rx_queue_setup(id, q, rx_ring, node, nullptr, pools[q]->mempool()); r != 0)
      return failed("receive queue " + std::to_string(q) + " is refused", r);
  const auto tx = static_cast<uint16_t>(abilities.control_queues ? 2 * o.workers : abilities.tx_queues);
  for (uint16_t q = 0; q < tx; ++q)
    if (const int r = rte_eth_tx_queue_setup(id, q, tx_ring, node, nullptr); r != 0)
      return failed("transmit queue " + std::to_string(q) + " is refused", r);

  workers = std::vector<WorkerQueue>(o.workers);
  for (uint16_t w = 0; w < o.workers; ++w) {
    workers[w].receives = w < abilities.rx_queues;
    workers[w].rx = w;
    workers[w].tx_bulk = static_cast<uint16_t>(w % abilities.tx_queues);
    workers[w].tx_control =
        abilities.control_queues ? static_cast<uint16_t>(o.workers + w) : workers[w].tx_bulk;
  }
  return {};
}

Result<void> Port::Impl::watch_kernel() {
  if (!abilities.kernel_backed) return {};
  auto opened = LinkWatch::open(device.interface);
  if (!opened) return Error{"port " + device.name + ": " + opened.error()};
  watch = std::move(*opened);
  interface_up = watch->flags().up;
  if (device.kind != DeviceName::Kind::kAfPacket) return {};
  for (int fd : sockets) ignore_own_host(fd);
  const auto number = [this](const char* key) {
    return static_cast<uint32_t>(std::strtoul(device.argument(key).value_or("0").c_str(), nullptr, 10));
  };
  for (WorkerQueue& w : workers)
    if (w.receives && w.rx < sockets.size())
      w.ring = PacketRing::find(sockets[w.rx], number("framesz"), number("framecnt"));
  abilities.exact_tags = workers[0].ring.has_value();
  return {};
}

Result<void> Port::Impl::setup(std::span<MbufPool* const> pools) {
  if (pools.size() < plan.options.workers)
    return Error{"port " + plan.options.device + ": needs a pool for each worker"};
  auto parsed = parse_device(plan.options.device);
  if (!parsed) return Error{parsed.error()};
  device = std::move(*parsed);
  abilities.kernel_backed = device.kernel_backed();
  if (auto r = take_claim(); !r) return r;
  const std::set<int> before = traffic_descriptors();
  if (auto r = probe(); !r) return r;
  rte_eth_dev_info info{};
  if (const int r = rte_eth_dev_info_get(id, &info); r != 0) return failed("tells nothing about itself", r);
  configured = true;
  if (auto r = configure(info); !r) return r;
  if (auto r = set_mtu(info); !r) return r;
  stop_merging();
  if (auto r = make_queues(pools); !r) return r;
  // By now every driver has opened what it receives from: af_packet when probed, the others with their queues.
  sockets = opened_since(before);
  if (auto r = watch_kernel(); !r) return r;
  if (const int r = rte_eth_dev_start(id); r != 0) return failed("cannot be started", r);
  // Virtual devices that receive everything anyhow may not know the call.
  if (plan.options.promiscuous)
    if (const int r = rte_eth_promiscuous_enable(id); r != 0 && r != -ENOTSUP)
      return failed("promiscuous mode is refused", r);
  abilities.wakes = !sockets.empty();
  // An XDP program, tc rules and sockets in the file system would outlive the process.
  abilities.ends_with_process =
      device.kind == DeviceName::Kind::kPci || device.kind == DeviceName::Kind::kAfPacket;
  abilities.link_forwarding = abilities.kernel_backed || device.kind == DeviceName::Kind::kPci;
  return {};
}

Port::Impl::~Impl() {
  if (id == RTE_MAX_ETHPORTS) return;
  if (configured) {
    rte_eth_dev_stop(id);
    rte_eth_dev_close(id);
  }
  if (device.kind != DeviceName::Kind::kPci) rte_eal_hotplug_remove("vdev", device.name.c_str());
}

Port::Port(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Port::~Port() = default;

Result<std::unique_ptr<Port>> Port::open(const PortPlan& plan, std::span<MbufPool* const> pools) {
  auto impl = std::make_unique<Impl>();
  impl->plan = plan;
  if (auto r = impl->setup(pools); !r) return Error{r.error()};
  std::unique_ptr<Port> port(new Port(std::move(impl)));
  // Starting a device may have switched its interface on.
  static_cast<void>(port->poll_link());
  return port;
}

}  // namespace matchrdma::io
