#pragma once
// What a NIC does for the library: queue pairs, memory keys, work requests, completions. One interface, two
// backends: ModelNic (host/model_fabric, virtual time) and VerbsNic (host/verbs, rdma-core). No verbs types, no
// clock.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "dataplane/base/bytes.h"
#include "dataplane/base/result.h"

namespace matchrdma::host {

/// Services of IBA 9.7 to 9.8 that the library uses.
enum class Transport : uint8_t { kRc, kUc, kUd };

/// A queue pair of one Nic.
struct QpHandle {
  uint32_t v = UINT32_MAX;
  bool operator==(const QpHandle&) const = default;
};

/// What the other end must know to connect, exchanged out of band (host/control).
struct QpAddress {
  uint32_t qpn = 0;  ///< 24 bits
  uint32_t psn =
      0;  ///< 24 bits, random: the first that this end sends. Tells a rebuilt path from its old one (C3)
  std::array<uint8_t, 16> gid{};
  bool operator==(const QpAddress&) const = default;
};

/// Of UD where nobody chooses another. Below 2^31: those above are for privileged users (IBA 3.5.3).
inline constexpr uint32_t kQkey = 0x11223344;

struct QpOptions {
  Transport transport = Transport::kUc;
  uint32_t send_queue = 256;     ///< work requests
  uint32_t receive_queue = 256;  ///< work requests
  uint32_t qkey = kQkey;         ///< UD: what a datagram must carry to be taken
};

struct ConnectOptions {
  uint32_t path_mtu = 1024;        ///< bytes
  uint32_t timeout_exponent = 17;  ///< RC: local ACK timeout 4.096 us x 2^n (IBA 9.7.6.1.3); at least 4 RTT
  uint32_t retries = 7;            ///< RC
  uint32_t remote_qkey = kQkey;    ///< UD: that of the peer's queue pair
  /// RC, UC: connections of different numbers leave from different UDP source ports, so that switches may send
  /// them different ways; 0: from the port that the device chooses.
  uint32_t path = 0;
};

/// Memory the NIC may read and write. `remote` is what the peer writes to: the address of the first byte as
/// this key counts it (0 where the key is zero-based).
struct Region {
  uint32_t handle = UINT32_MAX;  ///< of this Nic, for remove_region()
  uint32_t lkey = 0;
  uint32_t rkey = 0;
  uint64_t remote = 0;
};
enum class Access : uint8_t { kLocal, kRemoteWrite, kRemoteAtomic };  ///< the last: and writes

/// One work request of a send queue, of up to NicLimits::max_message; the NIC cuts it into packets of the path
/// MTU. UD: one packet. Atomics (IBA 9.4.5): RC, 8 bytes at an address that 8 divides.
struct SendRequest {
  enum class Op : uint8_t { kWrite, kWriteImm, kSend, kFetchAdd, kCompareSwap };
  Op op = Op::kWriteImm;
  /// Completes with a Completion. Those that are not signalled are done when a later signalled one is, and take
  /// room in the send queue until then; what fails or is flushed completes in any case.
  bool signalled = false;
  uint64_t id = 0;
  Bytes data{};  ///< not copied: must stay until the request is done
  uint32_t lkey = 0;
  uint64_t remote = 0;     ///< WRITE, atomics
  uint32_t rkey = 0;       ///< WRITE, atomics
  uint32_t immediate = 0;  ///< WriteImm
  MutableBytes result{};   ///< atomics, under `lkey`: 8 bytes for what stood there before
  uint64_t add_or_compare = 0, swap = 0;
  bool atomic() const { return op == Op::kFetchAdd || op == Op::kCompareSwap; }
};

/// Takes one SEND or one WRITE with immediate. UD: `data` begins with kUdPrefix bytes that are the NIC's.
struct ReceiveRequest {
  uint64_t id = 0;
  MutableBytes data{};  ///< empty for WRITE with immediate
  uint32_t lkey = 0;
};
inline constexpr size_t kUdPrefix = 40;  ///< the GRH in front of every received datagram (IBA 11.4.1.2)

struct Completion {
  enum class Kind : uint8_t { kSend, kReceive, kReceiveImm };
  /// kLocalError: all that has no name of its own here. After anything but kOk the queue pair is in the error
  /// state.
  enum class Status : uint8_t { kOk, kFlushed, kRetryExceeded, kRemoteAccess, kRnrExceeded, kLocalError };
  Kind kind = Kind::kSend;
  Status status = Status::kOk;
  QpHandle qp;
  uint64_t id = 0;
  uint32_t bytes = 0;      ///< received: of the message; UD: kUdPrefix included
  uint32_t immediate = 0;  ///< kReceiveImm
};

/// Found once when the NIC is opened; shown to people.
struct NicLimits {
  uint32_t max_send_queue = 0, max_receive_queue = 0, max_completion_queue = 0;
  uint64_t max_region = 0;  ///< bytes
  bool uc = false;          ///< has the UC service
  bool atomics = false;
  std::string name;
  uint32_t max_path_mtu = 4096;              ///< bytes, of the port as it is now
  uint64_t max_message = uint64_t{1} << 31;  ///< bytes of one request
  bool type2_windows = false;  ///< memory windows that are invalidated by the owner of their queue pair
};

/// Duty: carries out work requests. One completion queue for all its queue pairs. Used by one thread at a time.
/// Does not know what is sent or why.
class Nic {
 public:
  virtual ~Nic() = default;
  virtual const NicLimits& limits() const = 0;

  /// Receive requests may be posted at once. An error where the completion queue has no room for all that this
  /// queue pair may have posted: it never overflows.
  virtual Result<QpHandle> create_qp(const QpOptions& options) = 0;
  virtual QpAddress address(QpHandle qp) const = 0;
  /// To the peer's queue pair, ready to send and to receive. UD: every datagram goes to that peer.
  virtual Result<void> connect(QpHandle qp, const QpAddress& peer, const ConnectOptions& options) = 0;
  /// Moves it to the error state: what is posted, and what is posted later, is flushed; what comes for it is
  /// dropped (the receiver's half of a fence, HOST.md rule 2).
  virtual void fail_qp(QpHandle qp) = 0;
  /// Its completions that were not polled yet are gone with it.
  virtual void destroy_qp(QpHandle qp) = 0;

  virtual Result<Region> add_region(MutableBytes memory, Access access) = 0;
  /// On return nothing that comes later is written through this key (HOST.md rule 3).
  virtual void remove_region(const Region& region) = 0;

  /// Takes requests in order until a queue is full; returns how many.
  virtual size_t post_send(QpHandle qp, std::span<const SendRequest> requests) = 0;
  virtual size_t post_receive(QpHandle qp, std::span<const ReceiveRequest> requests) = 0;
  /// Returns how many of `out` were filled.
  virtual size_t poll(std::span<Completion> out) = 0;

  /// For a caller that sleeps: readable when there is something to poll since arm(), or an event; -1: there is
  /// no such descriptor.
  virtual int fd() const { return -1; }
  /// Makes fd() wait for the next completion. Poll once more before sleeping: some may have come before.
  virtual void arm() {}
  /// What befell the NIC, a sentence for people; nothing most of the time. A queue pair that it cost is in the
  /// error state, and its requests are flushed.
  virtual std::optional<std::string> event() { return {}; }
};

}  // namespace matchrdma::host
