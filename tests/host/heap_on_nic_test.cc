// Messages from and into the registered heap.
#include <gtest/gtest.h>

#include <cstring>

#include "host/memory/nic_registrar.h"
#include "host/memory/registered_heap.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/sdr/endpoint.h"

namespace matchrdma::host {
namespace {

TEST(HeapOnNic, BuffersOfTheHeapAreSentAndReceived) {
  ModelNet net(1, {}, {});
  NicRegistrar registrar(net.nic(0));
  auto heap = RegisteredHeap::create(registrar, {.limit = 64 << 20});
  ASSERT_TRUE(heap.ok()) << heap.error();
  SdrOptions o;
  o.shape.packet_bytes = 1024;
  o.connection.path_mtu = 1024;
  o.shape.layout = *ImmediateLayout::of(8, 1000);
  auto a = SdrEndpoint::make(o, net.nic(0), {}), b = SdrEndpoint::make(o, net.nic(1), {});
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE((*a)->connect((*b)->addresses()).ok() && (*b)->connect((*a)->addresses()).ok());
  std::vector<uint8_t> target(300'000);
  auto* source = static_cast<uint8_t*>((*heap)->allocate(target.size()));
  ASSERT_NE(source, nullptr);
  for (size_t i = 0; i < target.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 >> 3);
  const Registration* key = (*heap)->find(source, target.size());
  ASSERT_NE(key, nullptr);
  ASSERT_TRUE((*b)->receiver().receive_post(target, net.now()).ok());
  ASSERT_TRUE((*a)->sender().send({source, target.size()}, key->region.lkey).ok());
  bool sent = false;
  for (int i = 0; i < 100'000 && !sent; ++i) {
    (*a)->poll(net.now());
    (*b)->poll(net.now());
    net.run_until(net.now() + Duration::micros(1));
    sent = (*a)->sender().take_done().has_value();
  }
  EXPECT_TRUE(sent);
  EXPECT_EQ(std::memcmp(source, target.data(), target.size()), 0);
  (*heap)->free(source);
}

}  // namespace
}  // namespace matchrdma::host
