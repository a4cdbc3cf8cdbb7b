#pragma once
// A NIC that hands everything on to another one: what a test changes, it overrides.
#include "host/fabric/nic.h"

namespace matchrdma::host::test {

class ForwardingNic : public Nic {
 public:
  explicit ForwardingNic(Nic& nic) : nic_(nic) {}
  const NicLimits& limits() const override { return nic_.limits(); }
  Result<QpHandle> create_qp(const QpOptions& o) override { return nic_.create_qp(o); }
  QpAddress address(QpHandle qp) const override { return nic_.address(qp); }
  Result<void> connect(QpHandle qp, const QpAddress& peer, const ConnectOptions& o) override {
    return nic_.connect(qp, peer, o);
  }
  void fail_qp(QpHandle qp) override { nic_.fail_qp(qp); }
  void destroy_qp(QpHandle qp) override { nic_.destroy_qp(qp); }
  Result<Region> add_region(MutableBytes memory, Access access) override {
    return nic_.add_region(memory, access);
  }
  void remove_region(const Region& region) override { nic_.remove_region(region); }
  size_t post_send(QpHandle qp, std::span<const SendRequest> r) override { return nic_.post_send(qp, r); }
  size_t post_receive(QpHandle qp, std::span<const ReceiveRequest> r) override {
    return nic_.post_receive(qp, r);
  }
  size_t poll(std::span<Completion> out) override { return nic_.poll(out); }

 protected:
  Nic& nic_;
};

}  // namespace matchrdma::host::test
