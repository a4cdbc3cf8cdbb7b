#pragma once
// Many messages as one transfer: a piece of memory, cut up, sent and put together again.
#include <cstdint>
#include <string>
#include <vector>

#include "host/channel/channel_options.h"
#include "host/flowcell/options.h"
#include "host/sdr/endpoint.h"
#include "host/xfer/message_end.h"

namespace matchrdma::host {

/// How one message of a transfer is recovered, as people write it.
enum class XferScheme : uint8_t {
  kSelectiveRepeat,  ///< "sr"
  kErasureCode,      ///< "ec"
  kXor,              ///< "xor": one parity chunk for k of data
  kBestEffort,       ///< "best-effort": what is lost is zero
  kReliable,         ///< "rc": the NIC's own go-back-N
  kCells,            ///< "cells": several RC queue pairs, each a path
  kChannel,          ///< "channel": one RC queue pair, and TCP while there is none
};

/// Of the data, as people write it.
enum class XferTransport : uint8_t {
  kAuto,  ///< "auto": UC where both NICs have it
  kUc,    ///< "uc"
  kRc,    ///< "rc": one WRITE_WITH_IMM for each 64 KiB
};

inline constexpr uint32_t kMostXferPaths = 64;

/// It needs no UC.
bool over_rc(XferScheme s);

struct XferSettings {
  XferTransport transport = XferTransport::kAuto;
  XferScheme scheme = XferScheme::kSelectiveRepeat;
  uint64_t message_bytes = 16 << 20;
  uint32_t path_mtu = 4096;
  uint32_t code_k = 32, code_m = 8;  ///< of kErasureCode; kXor takes k alone
  Rate rate{100'000'000'000};
  double expected_loss = 1e-2;
  Duration round_trip = Duration::millis(10);  ///< a guess, until it is measured
  bool copy = false;                           ///< tier C: packets go to memory of the library
  uint32_t messages_ahead = 4;                 ///< granted beyond the one that is coming in
  uint32_t paths = 4;                          ///< of kCells, up to kMostXferPaths
  bool proxied = false;                        ///< of kCells: proxies answer for the far end (HOST.md H9)
  /// kBestEffort alone: messages are numbers of this type, and what is lost costs each of them a little (H18).
  std::optional<ElementType> hadamard{};
  uint64_t hadamard_seed = 0;  ///< of the receiver; with the epoch it gives the random signs
};

/// Messages ahead that keep the sender going at this rate and round trip: four round trips of bytes, since a
/// message whose last packet was lost twice keeps its slot for that long.
uint32_t messages_ahead(Rate rate, Duration round_trip, uint64_t message_bytes);

/// What settings come to with the NICs that there are (C7).
struct SettledTransfer {
  XferSettings settings;
  std::string instead;  ///< a sentence where the scheme is kReliable now and was another; otherwise empty
};
/// Over RC the NICs repair, so every scheme is kReliable there. An error: UC was asked for, and is not there.
Result<SettledTransfer> settle(const XferSettings& s, bool uc_here, bool uc_there);

/// Of settings that are settled: kReliable goes over RC, all others over UC.
/// Both ends must come to the same shape; an error names the setting and what fits.
Result<SdrOptions> sdr_options(const XferSettings& s, uint32_t epoch);

/// The same for kCells.
Result<FlowcellOptions> flowcell_options(const XferSettings& s);
enum class XferSide : uint8_t { kSends, kReceives };
/// The same for kChannel.
Result<ChannelOptions> channel_options(const XferSettings& s, XferSide side);
/// One end of a transfer, of whichever kind.
Result<std::unique_ptr<MessageEnd>> make_end(const XferSettings& s, uint32_t epoch, XferSide side, Nic& nic,
                                             Instant now);
/// What one end says to the other about it, but for the layout and what is moved.
TransferOffer offer_of(const XferSettings& s, uint32_t epoch);
/// What an offer says of it, to compare.
Result<ImmediateLayout> transfer_layout(const XferSettings& s, uint32_t epoch);

/// A source that is longer than the NIC's longest region has several, each of so many bytes but the last.
struct SourceKeys {
  uint64_t region_bytes = UINT64_MAX;  ///< whole messages
  std::vector<uint32_t> lkeys{0};
};

/// Duty: gives the sender messages as earlier ones are released. Does not know what the bytes are.
class TransferSend {
 public:
  /// `under_way`: messages that the sender has at a time.
  TransferSend(MessageEnd& end, Bytes data, SourceKeys keys, uint64_t message_bytes, size_t under_way);
  /// After each poll of the endpoint.
  void poll();
  /// The receiver has said that it has them.
  uint64_t released_bytes() const { return released_bytes_; }
  bool done() const { return released_bytes_ == data_.size(); }
  const std::string& error() const { return error_; }

 private:
  MessageEnd& end_;
  Bytes data_;
  SourceKeys keys_;
  uint64_t message_bytes_, given_bytes_ = 0, released_bytes_ = 0;
  size_t under_way_;
  std::string error_;
};

/// Duty: grants buffers in order and counts what has come.
class TransferReceive {
 public:
  TransferReceive(MessageEnd& end, MutableBytes data, uint64_t message_bytes);
  void poll(Instant now);
  uint64_t received_bytes() const { return received_bytes_; }
  uint64_t missing_bytes() const { return missing_bytes_; }  ///< given up, and zero
  bool done() const { return received_bytes_ == data_.size(); }
  const std::string& error() const { return error_; }

 private:
  MessageEnd& end_;
  MutableBytes data_;
  uint64_t message_bytes_, granted_bytes_ = 0, received_bytes_ = 0, missing_bytes_ = 0;
  std::string error_;
};

}  // namespace matchrdma::host
