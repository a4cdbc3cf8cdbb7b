// The link of a port: its state, loss forwarding.
#include <rte_errno.h>

#include "dataplane/io/port_impl.h"

namespace matchrdma::io {

LinkState Port::link() const {
  rte_eth_link link{};
  const bool told = rte_eth_link_get_nowait(impl_->id, &link) == 0;
  LinkState s;
  if (told && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN) s.mbps = link.link_speed;
  s.up = told && link.link_status == RTE_ETH_LINK_UP;
  if (impl_->watch) {
    // These drivers show the state of their own start, or a speed that they made up.
    const InterfaceFlags flags = impl_->watch->flags();
    s = {.up = flags.up && flags.running, .gone = impl_->watch->gone(), .mbps = 0};
  }
  return s;
}

std::optional<LinkState> Port::poll_link() {
  if (impl_->watch) {
    impl_->watch->poll();
    impl_->interface_up.store(impl_->watch->flags().up, std::memory_order_relaxed);
  }
  const LinkState now = link();
  if (now == impl_->last_link) return std::nullopt;
  impl_->last_link = now;
  return now;
}

int Port::link_fd() const { return impl_->watch ? impl_->watch->fd() : -1; }

Result<void> Port::set_link(bool up) {
  if (impl_->abilities.kernel_backed) {
    // No packet may reach the driver between the switch and the kernel's announcement of it.
    if (!up) impl_->interface_up.store(false, std::memory_order_relaxed);
    if (auto r = switch_interface(impl_->device.interface, up); !r)
      return Error{"port " + name() + ": " + r.error()};
    return {};
  }
  const int r = up ? rte_eth_dev_set_link_up(impl_->id) : rte_eth_dev_set_link_down(impl_->id);
  if (r == 0) return {};
  return Error{"port " + name() + ": its link cannot be switched " + (up ? "on" : "off") + ": " +
               rte_strerror(-r) + "; loss forwarding is not possible on this device"};
}

}  // namespace matchrdma::io
