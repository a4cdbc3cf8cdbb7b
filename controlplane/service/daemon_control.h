#pragma once
// What an operator or an orchestrator may ask of the running daemon. The daemon implements it, in its control
// thread; admin socket and TCP listener call it there.
#include <string>
#include <variant>
#include <vector>

#include "dataplane/base/reason.h"
#include "dataplane/base/result.h"
#include "dataplane/base/time.h"
#include "dataplane/flow/message.h"

namespace matchrdma::service {

/// What has become of something that takes time, told in a sentence.
struct Progress {
  bool done = false;
  std::string text;
};

struct PairRequest {
  Registration reg;  ///< end `a` stands on this proxy's LAN
  std::string span;  ///< "": the daemon finds it, or says that it cannot
};

enum class Mode : uint8_t {
  kConfigured,   ///< as the config says: takes back what was set here
  kTransparent,  ///< no new custody now and for flows to come; flows that own something drain first
  kDrain,        ///< the flows that exist now take no new custody and become transparent; later ones are as
                 ///< configured
};
struct ModeRequest {
  /// Name of a traffic class of the config, or the flow that is sent to this key. The reverse flow follows.
  std::variant<std::string, FlowKey> what;
  Mode mode = Mode::kConfigured;
};

struct CaptureRequest {
  std::vector<FlowKey> flows;               ///< packets of these flows, both ways; VLANs 0 match any
  std::vector<Reason> reasons;              ///< and packets that met one of these
  std::string file;                         ///< a plain name: it goes to the capture folder of the config
  uint64_t max_packets = 0, max_bytes = 0;  ///< at least one packet; the first limit that is met ends it
  Duration max_time;
};
struct CaptureStatus {
  bool running = false;
  std::string file;  ///< with its folder; empty: there was none yet
  uint64_t packets = 0, bytes = 0;
  uint64_t missed = 0;  ///< packets that should be in it, but the writer was too slow or the disk full
  std::string text;     ///< why it ended, or what still bounds it
};

/// Every call returns at once. A refusal is a sentence that says what to do.
/// register_pair, unregister_pair and drain start something and are asked again with the same arguments until
/// `done`: they must be idempotent.
class DaemonControl {
 public:
  virtual ~DaemonControl() = default;

  /// done: both proxies know the pair and every flow with a starting PSN is active (Shard::registered).
  virtual Result<Progress> register_pair(const PairRequest& pair) = 0;
  /// The host has fenced that QP. done: both proxies have destroyed what they owned (Shard::unregistered).
  virtual Result<Progress> unregister_pair(const PairRequest& pair) = 0;
  virtual Result<std::string> set_mode(const ModeRequest& request) = 0;
  /// Starts the drain of everything, once. done: nothing is owned any more.
  virtual Result<Progress> drain() = 0;
  /// Reads the config anew, and applies all of it or, with line and reason, nothing.
  virtual Result<std::string> reload() = 0;
  virtual Result<std::string> capture_start(const CaptureRequest& request) = 0;
  virtual Result<CaptureStatus> capture_stop() = 0;
  virtual CaptureStatus capture_status() const = 0;
};

}  // namespace matchrdma::service
