#pragma once
// One end of two that test the verbs NIC: three queue pairs, memory, and the control connection to the other
// end.
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/control/control_link.h"
#include "host/verbs/verbs_nic.h"

namespace matchrdma::host {

struct EndOptions {
  std::string device, key_file, server;  ///< server: where the client connects to; empty at the server
  uint16_t port = 18515;
  uint32_t path_mtu = 1024;
};

/// What went wrong, as a sentence.
struct TestFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw TestFailed(otherwise);
}

/// Registered memory.
struct Block {
  explicit Block(size_t n) : bytes(n) {}
  std::vector<uint8_t> bytes;
  Region region;
};

/// Duty: makes the NIC and the peer meet, and waits for what comes of it. Every wait ends after 20 s with
/// TestFailed.
class VerbsEnd {
 public:
  enum Path : uint32_t { kUc, kUd, kRc, kPaths };
  static constexpr uint32_t kReceives = 64;  ///< posted on each queue pair

  explicit VerbsEnd(const EndOptions& options);

  bool is_client() const { return !options_.server.empty(); }
  uint32_t path_mtu() const { return options_.path_mtu; }
  Nic& nic() { return *nic_.nic; }
  QpHandle qp(Path p) const { return qps_[p]; }
  const std::string& summary() const { return nic_.summary; }
  void add(Block& b, Access access);

  /// Both ends have come to this point.
  void meet(const std::string& where);
  void say(const ControlMessage& m);
  ControlMessage hear(const std::string& what);
  void good_bye();

  void send(Path p, const SendRequest& r);
  /// A slot of the datagram queue, or an empty request of the others, is posted again.
  void repost(Path p, uint64_t id);
  Bytes datagram(uint64_t id) const { return Bytes(datagrams_.bytes).subspan(id * slot_bytes(), slot_bytes()); }
  Completion completion(Path p, const std::string& what);
  /// What comes within so long.
  std::vector<Completion> completions_for(Path p, Duration time);

 private:
  size_t slot_bytes() const { return kUdPrefix + options_.path_mtu; }
  void open_control();
  void make_pairs();
  void connect_pairs();
  void turn();
  void wait(const std::string& what, const std::function<bool()>& done);

  EndOptions options_;
  VerbsNic nic_;
  std::unique_ptr<ControlLink> link_;
  std::vector<QpHandle> qps_;
  Block datagrams_;
  std::vector<std::deque<Completion>> done_;
};

}  // namespace matchrdma::host
