#include "dataplane/io/device_name.h"

#include <algorithm>
#include <cctype>

namespace matchrdma::io {
namespace {

constexpr uint32_t kKernelHeaders = 66;  // tpacket2_hdr, sockaddr_ll and their alignment
constexpr uint32_t kRingBytes = 16u << 20;

/// domain:bus:device.function, the domain may be missing.
bool is_pci_address(const std::string& text) {
  std::string shape;
  for (char c : text) shape += std::isxdigit(static_cast<unsigned char>(c)) ? 'x' : c;
  return shape == "xxxx:xx:xx.x" || shape == "xx:xx.x";
}

}  // namespace

std::optional<std::string> DeviceName::argument(const std::string& key) const {
  for (size_t at = 0; at < arguments.size();) {
    const size_t comma = std::min(arguments.find(',', at), arguments.size());
    const std::string one = arguments.substr(at, comma - at);
    if (one.starts_with(key + "=")) return one.substr(key.size() + 1);
    at = comma + 1;
  }
  return std::nullopt;
}

void DeviceName::add_default(const std::string& key, const std::string& value) {
  if (!argument(key)) arguments += (arguments.empty() ? "" : ",") + key + "=" + value;
}

Result<DeviceName> parse_device(const std::string& text) {
  DeviceName d;
  const size_t comma = std::min(text.find(','), text.size());
  d.name = text.substr(0, comma);
  if (comma < text.size()) d.arguments = text.substr(comma + 1);
  if (is_pci_address(d.name)) {
    d.kind = DeviceName::Kind::kPci;
    return d;
  }
  if (!d.name.starts_with("net_") && !d.name.starts_with("eth_") && !d.name.starts_with("virtio_user")) {
    return Error{"port " + text +
                 ": neither a PCI address like 0000:3b:00.0 nor a vdev like net_af_packet0,iface=eth1"};
  }
  if (d.name.starts_with("net_af_packet")) d.kind = DeviceName::Kind::kAfPacket;
  if (d.name.starts_with("net_af_xdp")) d.kind = DeviceName::Kind::kAfXdp;
  if (d.name.starts_with("net_tap")) d.kind = DeviceName::Kind::kTap;
  if (d.kind == DeviceName::Kind::kOtherVdev) return d;
  if (d.kind == DeviceName::Kind::kTap) d.add_default("iface", d.name.substr(4));
  d.interface = d.argument("iface").value_or("");
  if (d.interface.empty()) {
    return Error{"port " + text + ": needs an interface of the kernel; write " + d.name + ",iface=NAME"};
  }
  return d;
}

AfPacketRing af_packet_ring(uint32_t packet_bytes) {
  AfPacketRing r;
  // Multiples of 1 KiB: four frames then fill whole pages, and a block holds whole frames only.
  r.frame_bytes = std::max(2048u, (packet_bytes + kKernelHeaders + 1023) / 1024 * 1024);
  r.block_bytes = 4 * r.frame_bytes;
  r.frames = std::clamp(kRingBytes / r.frame_bytes, 512u, 4096u) / 4 * 4;
  return r;
}

}  // namespace matchrdma::io
