#pragma once
// What is planned for: a long link, a message, and how losses are repaired.
#include <cstdint>
#include <string>

#include "dataplane/base/time.h"
#include "dataplane/base/types.h"

namespace matchrdma::planner {

/// A long link. All of `rate` carries payload: give the rate without headers.
struct Link {
  Duration rtt;  ///< there and back, without the time on the line
  /// From the end of a packet to its resend, when it was lost; 0: the same as rtt, the least there is.
  Duration rto;
  Rate rate;
  double loss = 0;  ///< chance of each packet to be lost, whatever happens to others; 0 to kMostLoss
  uint64_t packet_bytes = 4096;
  bool cold = false;  ///< the receiver has not granted a slot ahead: one rtt before the first packet
};
inline constexpr double kMostLoss = 0.99;

/// k data chunks and m parity chunks are a group; packets of equal index in them a codeword, of which any k
/// give the others (HOST, sdr, ErasureCode). m = 1 is XOR.
struct Code {
  uint32_t k = 32, m = 8;
  uint32_t chunk_packets = 16;  ///< 64 KiB
  bool operator==(const Code&) const = default;
};
/// k + m of a codeword at most: symbols of GF(256) (HOST, sdr).
inline constexpr uint32_t kMostSymbols = 255;

enum class Method : uint8_t { kSelectiveRepeat, kErasureCode, kGoBackN };

struct Scheme {
  Method method = Method::kSelectiveRepeat;
  Code code;  ///< of kErasureCode
};

/// "SR", "EC(32,8)", "XOR(4,1)", "go-back-N".
std::string scheme_name(const Scheme& s);
/// XOR that puts as much parity on the line as `code`, or a little more.
Code xor_like(const Code& code);

/// A link as its sender sees it, counted in packet times. A message is sent as whole packets of one size: the
/// packets of the link, or one that is as short as the message.
struct Line {
  Line(const Link& link, uint64_t message_bytes);

  int64_t packets;      ///< of the message
  double packet_bytes;  ///< of one of them
  double packet_time;   ///< seconds
  double before;        ///< seconds that no scheme is spared: rtt, and another one when cold
  int64_t round;        ///< packet times from the end of a packet to the end of its resend, rounded up
  double loss;          ///< chance

  /// Seconds until a message is complete that ends with this packet time.
  double seconds(double packet_times) const { return before + packet_times * packet_time; }
};

}  // namespace matchrdma::planner
