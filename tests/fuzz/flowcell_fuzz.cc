// What a peer may say to a flowcell end, write into its rings, and post on its paths, in any order. It answers
// as it should until the input makes it do otherwise. Input: records {kind, length, bytes}.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "dataplane/base/check.h"
#include "host/control/control_codec.h"
#include "host/flowcell/flowcell_end.h"
#include "host/model_fabric/model_net.h"
#include "host/model_fabric/model_nic.h"

using namespace matchrdma;
using namespace matchrdma::host;

namespace {

constexpr uint32_t kPaths = 2, kSlots = 4;
constexpr size_t kBytes = 3000, kMostMessages = 64, kMostWrites = 4096;
constexpr uint8_t kMine = 0xa7;

FlowcellOptions options() {
  FlowcellOptions o;
  o.shape = {.paths = kPaths, .path_mtu = 256, .slots = kSlots, .ring = 16, .layout = {2, 26, 4}};
  o.least_cell = 512;
  o.most_cell = 1024;
  o.send_queue = CellQueue::kLeastSendQueue;
  o.receive_queue = 8;
  o.timeout_exponent = 8;
  return o;
}

/// The bytes of a record, one field after the other; zeros when there are no more.
struct Fields {
  Bytes left;
  uint32_t u8() {
    if (left.empty()) return 0;
    const uint8_t v = left[0];
    left = left.subspan(1);
    return v;
  }
  uint32_t u32() { return u8() << 24 | u8() << 16 | u8() << 8 | u8(); }
  /// Most often small.
  uint64_t number() {
    const uint32_t v = u8();
    return v < 250 ? v : v == 250 ? UINT64_MAX : uint64_t{u32()} << (v - 251);
  }
};

/// The peer and the application of the end that is tested.
class Hostile {
 public:
  Hostile() : net_(1, NicModel{}, NicModel{}, kPaths) {
    target_ = *net_.nic(1).add_region(target_bytes_, Access::kRemoteWrite);
    end_ = std::move(*FlowcellEnd::make(options(), net_.nic(0), net_.now()));
    hear();
  }
  void take(uint32_t kind, Bytes record) {
    Fields f{record};
    if (kind == 0) say_anything(record);
    if (kind == 1) say(f);
    if (kind == 2) write(f);
    if (kind == 3) token(f);
    if (kind == 4) tail(f);
    if (kind == 5) whole_message(f);
    if (kind == 6) application(f);
    if (kind == 7) obedient_ = (f.u8() & 1) == 0;
    pass(Duration::micros(1 + (kind >= 8 ? f.number() % 3'000'000 : 20)));
  }

 private:
  struct Path {
    CellPathOpen open;  ///< what the end has said last
    QpHandle qp;
    uint32_t tails = 0, tokens = 0;
  };

  void say_anything(Bytes record) {
    if (record.empty()) return;
    if (const auto m = decode(record[0], record.subspan(1))) end_->on_control(*m, net_.now());
  }
  void say(Fields& f) {
    const uint32_t kind = f.u8(), path = static_cast<uint32_t>(f.number());
    const uint32_t epoch = paths_[path % kPaths].open.epoch + static_cast<int8_t>(f.u8());
    const Instant now = net_.now();
    if (kind % 5 == 0) end_->on_control(Fence{path, epoch}, now);
    if (kind % 5 == 1) end_->on_control(Fenced{path, epoch, f.number(), {}}, now);
    if (kind % 5 == 2) end_->on_control(CellPathReady{path, epoch}, now);
    if (kind % 5 == 3)
      end_->on_control(CellGrant{f.number(), f.u8(), target_.rkey + f.u8(), f.number(), f.number() * 64}, now);
    if (kind % 5 == 4) {
      CellPathOpen o = paths_[path % kPaths].open;
      o.path = path;
      o.epoch = epoch;
      o.rkey = target_.rkey;
      o.tokens = f.number();
      end_->on_control(o, now);
    }
  }
  void post(Path& p, const SendRequest& r) {
    if (p.qp.v == QpHandle{}.v || requests_.size() > kMostWrites) return;
    requests_.push_back(std::vector<uint8_t>(r.data.begin(), r.data.end()));
    SendRequest mine = r;
    mine.data = requests_.back();
    mine.signalled = true;
    static_cast<void>(net_.nic(1).post_send(p.qp, {&mine, 1}));
  }
  /// Into tokens, plans, and what leaves from there.
  void write(Fields& f) {
    Path& p = paths_[f.u8() % kPaths];
    const uint64_t at = f.number();
    post(p, {.op = SendRequest::Op::kWrite, .data = f.left, .remote = p.open.tokens + at, .rkey = p.open.rkey});
  }
  void token(Fields& f) {
    Path& p = paths_[f.u8() % kPaths];
    const uint32_t number = p.tokens++ + static_cast<int8_t>(f.u8());
    p.tails += static_cast<int8_t>(f.u8());
    std::array<uint8_t, kTokenBytes> place;
    encode_token({number, p.tails, Duration{static_cast<int64_t>(f.u32())}}, p.open.epoch, place);
    post(p, {.op = SendRequest::Op::kWrite,
             .data = place,
             .remote = p.open.tokens + number % options().shape.ring * kTokenBytes,
             .rkey = p.open.rkey});
  }
  void tail(Fields& f) {
    Path& p = paths_[f.u8() % kPaths];
    const auto key = static_cast<uint32_t>(f.number());
    const uint32_t immediate = f.u32();
    post(p, {.op = SendRequest::Op::kWriteImm, .data = f.left, .rkey = key, .immediate = immediate});
  }
  void plan(Path& p, uint32_t slot, const CellPlan& c) {
    std::array<uint8_t, kPlanBytes> place;
    encode_plan(c, place);
    post(p, {.op = SendRequest::Op::kWrite,
             .data = place,
             .remote = p.open.plans + slot % kSlots * kPlanBytes,
             .rkey = p.open.rkey});
  }
  /// As it should be, but for what the input changes.
  void whole_message(Fields& f) {
    if (grants_.empty()) return;
    const CellGrant g = grants_[f.u8() % grants_.size()];
    Path& p = paths_[f.u8() % kPaths];
    const uint64_t cells = f.number() % 4 + 1;
    const auto length = static_cast<uint32_t>(kBytes / cells);
    plan(p, g.slot, {g.message, cells * length, length + static_cast<int8_t>(f.u8())});
    const std::vector<uint8_t> data(length, 3);
    for (uint32_t i = 0; i < cells; ++i)
      post(p, {.op = SendRequest::Op::kWriteImm,
               .data = data,
               .remote = g.remote + uint64_t{i} * length,
               .rkey = g.rkey,
               .immediate = options().shape.layout.pack({g.slot, i, static_cast<uint32_t>(g.message)})});
  }
  void application(Fields& f) {
    if (f.u8() % 2 == 0) {
      if (sources_.size() == kMostMessages) return;
      sources_.emplace_back(f.number() * 16 % 6000 + 1);
      static_cast<void>(end_->sender().send(sources_.back(), 0));
    } else if (posted_.size() < kMostMessages) {
      std::vector<uint8_t> buffer(kBytes);
      const auto n = end_->receive_post(buffer);
      if (n.ok() && *n) posted_.push_back(std::move(buffer));
    }
  }
  void pass(Duration d) {
    net_.run_until(net_.now() + d);
    end_->poll(net_.now());
    std::array<Completion, 64> done;
    while (net_.nic(1).poll(done) == done.size()) {
    }
    while (const auto r = end_->take_received()) {
      MRDMA_CHECK(r->message < posted_.size() && r->length <= kBytes);
      std::fill(posted_[r->message].begin(), posted_[r->message].end(), kMine);
      received_.push_back(r->message);
    }
    for (const uint64_t m : received_)  // nothing is written there any more
      MRDMA_CHECK(std::count(posted_[m].begin(), posted_[m].end(), kMine) == kBytes);
    while (const auto s = end_->sender().take_sent()) {
      MRDMA_CHECK(s->message < sources_.size());
      MRDMA_CHECK(!net_.nic(0).reads(sources_[s->message]));
    }
    static_cast<void>(end_->next_wakeup(net_.now()));
    static_cast<void>(end_->take_connected());
    static_cast<void>(end_->take_fenced());
    hear();
  }
  void hear() {
    for (const ControlMessage& m : end_->take_control()) {
      if (const auto* grant = std::get_if<CellGrant>(&m)) grants_.push_back(*grant);
      if (const auto* open = std::get_if<CellPathOpen>(&m)) answer(*open);
      const auto* fence = std::get_if<Fence>(&m);
      if (fence == nullptr || !obedient_) continue;
      end_->on_control(*fence, net_.now());
      end_->on_control(Fenced{fence->path, fence->epoch, paths_[fence->path].tails, {}}, net_.now());
    }
  }
  void answer(const CellPathOpen& open) {
    Path& p = paths_[open.path];
    if (p.qp.v != QpHandle{}.v) net_.nic(1).destroy_qp(p.qp);
    p = {.open = open, .qp = *net_.nic(1).create_qp({.transport = Transport::kRc})};
    static_cast<void>(net_.nic(1).connect(p.qp, open.address, {.path_mtu = 256, .path = open.path}));
    const std::vector<ReceiveRequest> receives(256);
    static_cast<void>(net_.nic(1).post_receive(p.qp, receives));
    if (!obedient_) return;
    CellPathOpen mine = open;
    mine.address = net_.nic(1).address(p.qp);
    mine.rkey = target_.rkey;
    mine.tokens = mine.plans = 0;
    end_->on_control(mine, net_.now());
    end_->on_control(CellPathReady{open.path, open.epoch}, net_.now());
  }

  ModelNet net_;
  std::vector<uint8_t> target_bytes_ = std::vector<uint8_t>(1 << 16);
  Region target_;
  std::array<Path, kPaths> paths_;
  std::deque<std::vector<uint8_t>> requests_, sources_, posted_;
  std::vector<uint64_t> received_;
  std::vector<CellGrant> grants_;
  bool obedient_ = true;
  std::unique_ptr<FlowcellEnd> end_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Hostile peer;
  for (Bytes left(data, size); left.size() >= 2;) {
    const uint32_t kind = left[0] % 10;
    const size_t length = std::min<size_t>(left[1], left.size() - 2);
    peer.take(kind, left.subspan(2, length));
    left = left.subspan(2 + length);
  }
  return 0;
}
