#pragma once
// The phases in which hosts, two proxies and the primitives take turns.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bench/dataplane/site.h"
#include "bench/dataplane/traffic.h"
#include "dataplane/base/prng.h"

namespace matchrdma::dataplane_bench {

struct RigOptions {
  TrafficOptions traffic;
  Completion completion = Completion::kEarly;
  bool check_icrc = true;
  uint32_t custody = 16384;  ///< packets on the span, about
  uint32_t phase = 2048;     ///< packets of one turn
  uint32_t report_us = 100;  ///< custody_ack_interval
};

/// Cycles per packet of every turn, in order.
struct Turns {
  std::vector<double> source, destination;
  std::vector<double> primitives, port, lookup, icrc, retain, acks;
  uint64_t packets = 0, span_datagrams = 0, custody = 0;
  double registered_seconds = 0;
};

/// The frame in a buffer of the pool; empty when there is none.
PacketRef copy_of(Bytes frame, PacketPool& pool);

/// Frames on the span, one after the other. They are written into the receiver's buffers when they arrive, as a
/// NIC does, and not while they are under way.
struct Flight {
  std::vector<uint8_t> bytes;
  std::vector<size_t> ends;
};

/// What one proxy adds to each packet, in ns, in the order of the packets.
struct Delays {
  std::vector<double> source, destination;
};

/// Duty: registers the flows and runs the turns. An Error when anything was lost, doubled or not acknowledged:
/// figures of a proxy that does its work wrong mean nothing.
class Rig {
 public:
  static Result<std::unique_ptr<Rig>> create(const RigOptions& o, const io::Clock& clock);
  Result<Turns> run(int turns);
  /// Packets come at random (Poisson) at `load` of what `t` says the proxies can do, and the workers poll: from
  /// a packet's arrival to the end of the round that put it on the wire.
  Result<Delays> delays(double load, const Turns& t, uint32_t packets);
  /// Everything arrives and is acknowledged; an Error if not.
  Result<void> finish();

 private:
  Rig(const RigOptions& o) : o_(o), traffic_(o.traffic) {}
  Result<void> make_sites(const io::Clock& clock);
  Result<void> make_primitives();
  Result<void> connect();
  Result<void> register_all();
  Result<void> fill(io::RingPort& port);
  void exchange();
  void to_span();
  void from_span();
  void arrive(const Flight& f);
  void come_back();
  uint64_t send();
  void hop();
  uint64_t deliver();
  void answer();
  void bring_back(size_t at_once);
  bool deliver_at_random(double mean, Prng& prng, std::vector<double>& kept);
  Result<void> turn(Turns& t, bool counted);
  Result<void> primitive_turns(Turns& t, bool counted);
  Result<void> judge() const;

  RigOptions o_;
  Traffic traffic_;
  Traffic other_{{}};  ///< the primitives' packets
  std::unique_ptr<Site> a_, b_;
  std::unique_ptr<io::RingPort> bare_;
  std::unique_ptr<io::Primitives> primitives_;
  Flight going_;
  std::deque<Flight> span_;
  std::deque<PacketRef> returning_;  ///< what the destination said, on its way to the source
  uint64_t datagrams_ = 0;
  double registered_seconds_ = 0;
};

}  // namespace matchrdma::dataplane_bench
