// What a peer may say to both halves of SDR: datagrams and immediates of any kind, in any order. Input: a byte
// of shape, then records {kind, length, bytes}.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"
#include "host/sdr/receiver.h"
#include "host/sdr/sender.h"

using namespace matchrdma;
using namespace matchrdma::host;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const NicModel nic;
  ModelNet net(1, nic, nic);
  SdrShape shape;
  shape.packet_bytes = 64;
  shape.layout = {3, 12, 17};
  if ((data[0] & 1) != 0) {
    shape.code_k = 3;
    shape.code_m = 2;
  }
  ReceiverOptions receive;
  if ((data[0] & 2) != 0 && !shape.coded()) {
    shape.hadamard = ElementType::kF32;
    receive.give_up = Duration::micros(50);
  }
  Instant now{1'000'000};
  const auto qp = net.nic(0).create_qp({});
  const auto other = net.nic(1).create_qp({});
  static_cast<void>(net.nic(0).connect(*qp, net.nic(1).address(*other), {}));
  std::vector<uint8_t> source(1000, 1), target(1000);
  SdrSender sender(shape, {}, net.nic(0), *qp, now);
  SdrReceiver receiver(shape, receive, net.nic(0));
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(sender.send(source, 0));
    static_cast<void>(receiver.receive_post(target, now));
  }
  Bytes left(data + 1, size - 1);
  std::vector<Signal> out;
  while (left.size() >= 2) {
    const uint8_t kind = left[0];
    const size_t length = std::min<size_t>(left[1], left.size() - 2);
    const Bytes record = left.subspan(2, length);
    left = left.subspan(2 + length);
    if (kind % 4 == 0 && record.size() >= 4) receiver.on_packet(load_be32(record.data()), now);
    if (kind % 4 == 1) {  // what is posted leaves
      net.run_until(now);
      std::array<Completion, 64> done;
      for (size_t n = net.nic(0).poll(done), i = 0; i < n; ++i) sender.on_sent(done[i].id);
    }
    if (kind % 4 == 2) now = now + Duration::micros(kind);
    if (kind % 4 == 3) {
      if (const auto s = decode_signal(record, shape.epoch)) {
        if (const auto* state = std::get_if<SenderState>(&*s)) receiver.on_state(*state, now);
        if (const auto* grants = std::get_if<ReceiverState>(&*s)) sender.on_state(*grants, now);
        if (const auto* ack = std::get_if<Ack>(&*s)) sender.on_ack(*ack, now);
      }
    }
    out.clear();
    sender.poll(now, out);
    receiver.poll(now, out);
    for (const Signal& s : out) static_cast<void>(encode_signal(s, shape.epoch));
    while (receiver.take_done()) {
    }
    while (sender.take_done()) {
    }
  }
  return 0;
}
