// Receiving and executing. Building the answers is in rc_responder_answers.cc.
#include "model/rc_responder.h"

#include <algorithm>
#include <cstring>

#include "model/aeth.h"

namespace matchrdma::model {
namespace {

bool is_send_opcode(uint8_t o) {
  return o <= op::kRcSendOnlyImm || o == op::kRcSendLastInv || o == op::kRcSendOnlyInv;
}
bool is_write_opcode(uint8_t o) { return o >= op::kRcWriteFirst && o <= op::kRcWriteOnlyImm; }
bool is_atomic_opcode(uint8_t o) { return o == op::kRcCmpSwap || o == op::kRcFetchAdd; }

struct AtomicEth {
  uint64_t va, swap_add, compare;
  uint32_t rkey;
};
AtomicEth atomic_eth(const Frame& f) {
  const uint8_t* p = f.data() + f.ext_offset();
  return {load_be64(p), load_be64(p + 12), load_be64(p + 20), load_be32(p + 8)};
}

/// What a frame says, in the form of the ground truth.
RequestInfo read_request(const Frame& f) {
  RequestInfo r;
  const OpcodeInfo& o = f.info();
  r.opcode = f.opcode();
  r.payload_length = f.payload_length();
  if (o.reth) {
    r.va = f.reth_va();
    r.rkey = f.reth_rkey();
    r.dma_length = f.reth_length();
  }
  if (o.atomic_eth) {
    const AtomicEth a = atomic_eth(f);
    r.va = a.va;
    r.rkey = a.rkey;
    r.swap_add = a.swap_add;
    r.compare = a.compare;
  }
  if (o.imm || o.ieth) r.imm = load_be32(f.data() + f.ext_offset() + (o.reth ? 16 : 0));
  return r;
}

}  // namespace

RcResponder::RcResponder(const QpIdentity& id, const ResponderConfig& config, const MemoryConfig& memory,
                         uint64_t seed)
    : id_(id), config_(config), memory_(memory), prng_(seed), epsn_(id.receive_start.v) {
  receives_ = std::max<int64_t>(0, config_.receive_queue);
  atomics_.resize(std::max<size_t>(1, config_.atomic_resources), AtomicResult{-1, 0});
}

void RcResponder::on_request(const Frame& f, Instant now) {
  if (failed_) {
    ++stats_.after_failure;
    return;
  }
  heard_ = true;
  const Seq s = unwrap24(f.psn().v, epsn_);
  if (s > epsn_) {
    on_gap();
  } else if (s < epsn_) {
    on_duplicate(f, s, now);
  } else {
    nak_pending_ = false;
    execute(f, now);
  }
}

void RcResponder::check_truth(const Frame& f, Seq s, Instant now) {
  if (f.info().payload && !Content(id_.peer_content_key, s).equals(f.payload().first(f.payload_length())))
    violations_.add(ViolationKind::kPayloadDiffers, s, now);
  if (truth_ == nullptr) return;
  RequestInfo want;
  if (!truth_->describe(s, want))
    violations_.add(ViolationKind::kRequestNeverSent, s, now);
  else if (!(want == read_request(f)))
    violations_.add(ViolationKind::kHeaderDiffers, s, now);
}

/// Opcode and payload length must continue the message in progress (IBA 9.7.4).
bool RcResponder::fits_message(const Frame& f) const {
  const OpcodeInfo& o = f.info();
  const bool send = is_send_opcode(f.opcode()), write = is_write_opcode(f.opcode());
  if (o.read_class) return message_ == Message::kNone;
  if (!send && !write) return false;
  const Message kind = send ? Message::kSend : Message::kWrite;
  if (message_ != (o.first || o.only ? Message::kNone : kind)) return false;
  const uint32_t n = f.payload_length();
  if (o.first || o.middle) return n == id_.path_mtu;
  return n <= id_.path_mtu && (o.only || n > 0);
}

bool RcResponder::allowed(const Frame& f) const {
  const OpcodeInfo& o = f.info();
  if (o.atomic_eth) {
    const AtomicEth a = atomic_eth(f);
    return a.va % 8 == 0 && memory_.allows(a.va, 8, a.rkey);
  }
  return !o.reth || memory_.allows(f.reth_va(), f.reth_length(), f.reth_rkey());
}

/// A SEND takes a receive work request at its first packet, a WRITE with immediate data at its last.
bool RcResponder::receiver_not_ready(const Frame& f) const {
  const OpcodeInfo& o = f.info();
  const bool takes = is_send_opcode(f.opcode()) ? o.first || o.only : is_write_opcode(f.opcode()) && o.imm;
  return takes && config_.receive_queue >= 0 && receives_ == 0;
}

void RcResponder::execute(const Frame& f, Instant now) {
  const OpcodeInfo& o = f.info();
  check_truth(f, epsn_, now);
  if (fault_ != 0 && epsn_ >= fault_at_) return fatal(fault_);
  if (!fits_message(f)) {
    violations_.add(ViolationKind::kOpcodeSequence, epsn_, now);
    return fatal(kNakInvalidRequest);
  }
  if (!allowed(f)) return fatal(kNakRemoteAccess);
  if (receiver_not_ready(f)) {
    ++stats_.rnr_naks;
    ack_due_ = Instant::never();
    nak_pending_ = !config_.nak_after_rnr;
    return aeth(static_cast<uint8_t>(kAethRnr | config_.rnr_timer), epsn_);
  }
  ++stats_.executed;
  if (config_.log) executions_.push_back({epsn_, now, f.opcode()});
  if (o.read_class) {
    // A READ counts as completed when it is accepted (IBA C9-148). Its response acknowledges what came before.
    ++msn_;
    ack_due_ = Instant::never();
    if (is_atomic_opcode(f.opcode())) {
      run_atomic(f);
      ++epsn_;
    } else {
      queue_read(f, epsn_);
      epsn_ += psns_of(f.reth_length());
    }
    return;
  }
  if (is_send_opcode(f.opcode()))
    run_send(f, now);
  else
    run_write(f, now);
  ++epsn_;
  if (o.ends_message()) ++msn_;
  if (f.ack_req()) acknowledge(o.ends_message(), now);
}

void RcResponder::take_receive(Instant now) {
  if (config_.receive_queue < 0) return;
  --receives_;
  schedule_refill(now);
}

void RcResponder::run_send(const Frame& f, Instant now) {
  const OpcodeInfo& o = f.info();
  if (o.first || o.only) {
    take_receive(now);
    message_bytes_ = 0;
    message_ = Message::kSend;
  }
  message_bytes_ += f.payload_length();
  if (!o.ends_message()) return;
  message_ = Message::kNone;
  if (config_.log) received_.push_back({message_bytes_, read_request(f).imm, f.opcode(), now});
}

void RcResponder::run_write(const Frame& f, Instant now) {
  const OpcodeInfo& o = f.info();
  if (o.first || o.only) {
    message_ = Message::kWrite;
    message_bytes_ = 0;
    write_va_ = f.reth_va();
    write_left_ = f.reth_length();
  }
  const uint32_t n = f.payload_length();
  if (n > write_left_ || (o.ends_message() && n != write_left_)) {
    violations_.add(ViolationKind::kHeaderDiffers, epsn_, now);
    return;
  }
  if (n > 0) std::memcpy(memory_.at(write_va_, n).data(), f.payload().data(), n);
  write_va_ += n;
  write_left_ -= n;
  message_bytes_ += n;
  if (!o.ends_message()) return;
  message_ = Message::kNone;
  if (!o.imm) return;
  take_receive(now);
  if (config_.log) received_.push_back({message_bytes_, read_request(f).imm, f.opcode(), now});
}

void RcResponder::queue_read(const Frame& f, Seq s) {
  Reply r;
  r.kind = ReplyKind::kRead;
  r.seq = s;
  r.msn = msn_;
  r.syndrome = ack_syndrome();
  r.value = f.reth_va();
  r.left = f.reth_length();
  replies_.push_back(r);
}

void RcResponder::run_atomic(const Frame& f) {
  const AtomicEth a = atomic_eth(f);
  const uint64_t original = memory_.load64(a.va);
  if (f.opcode() == op::kRcFetchAdd)
    memory_.store64(a.va, original + a.swap_add);
  else if (original == a.compare)
    memory_.store64(a.va, a.swap_add);
  atomics_[next_atomic_] = {epsn_, original};
  next_atomic_ = (next_atomic_ + 1) % atomics_.size();
  queue_atomic(epsn_, original);
}

void RcResponder::queue_atomic(Seq s, uint64_t original) {
  Reply r;
  r.kind = ReplyKind::kAtomic;
  r.seq = s;
  r.msn = msn_;
  r.syndrome = ack_syndrome();
  r.value = original;
  replies_.push_back(r);
}

/// C9-105: a duplicate SEND or WRITE is acknowledged again, not executed; a READ runs again on memory as it is
/// now; an atomic is answered from its kept result.
void RcResponder::on_duplicate(const Frame& f, Seq s, Instant now) {
  ++stats_.duplicates;
  check_truth(f, s, now);
  if (f.opcode() == op::kRcReadReq) {
    if (s + psns_of(f.reth_length()) > epsn_) {
      violations_.add(ViolationKind::kReadSplit, s, now);
      return;
    }
    if (!allowed(f)) return;
    ++stats_.replayed_reads;
    queue_read(f, s);
  } else if (is_atomic_opcode(f.opcode())) {
    const auto it =
        std::find_if(atomics_.begin(), atomics_.end(), [s](const AtomicResult& a) { return a.seq == s; });
    if (it == atomics_.end()) {
      ++stats_.forgotten_atomics;
      return;
    }
    ++stats_.replayed_atomics;
    queue_atomic(s, it->original);
  } else {
    send_ack();
  }
}

void RcResponder::on_gap() {
  ++stats_.out_of_sequence;
  if (nak_pending_) return;
  nak_pending_ = true;
  ++stats_.sequence_naks;
  ack_due_ = Instant::never();  // the NAK acknowledges it (C2)
  aeth(kNakSequence, epsn_);
}

bool RcResponder::check_memory(const ShadowMemory& shadow, Instant now) {
  const Bytes mine = memory_.all(), theirs = shadow.memory().all();
  const bool same = mine.size() == theirs.size() && std::equal(mine.begin(), mine.end(), theirs.begin());
  if (!same) violations_.add(ViolationKind::kMemoryDiffers, epsn_, now);
  return same;
}

}  // namespace matchrdma::model
