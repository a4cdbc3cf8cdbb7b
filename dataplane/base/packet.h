#pragma once
// A packet as the core sees it: bytes and a reference count. Who owns the memory (an mbuf, a replay arena) is
// known to the PacketPool alone; the core retains by count and never copies a payload it forwards.
#include <cstdint>
#include <utility>

#include "dataplane/base/bytes.h"
#include "dataplane/base/check.h"

namespace matchrdma {

class PacketPool;

/// Metadata in front of one packet buffer. Lives in memory of the pool (for DPDK: the mbuf's private area).
/// The count is not atomic: a packet belongs to one worker.
struct Packet {
  uint8_t* data = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;  ///< bytes that `data` may grow to
  uint32_t refs = 0;
  PacketPool* pool = nullptr;
  uint64_t tag = 0;  ///< host's own use (capture index, mbuf address); the core never reads it

  Bytes bytes() const { return {data, size}; }
};

class PacketRef;

/// Gives and takes back packet buffers. The only seam between the core and packet memory.
class PacketPool {
 public:
  virtual ~PacketPool() = default;
  /// A packet of `size` bytes (contents undefined, refs 1), or an empty ref when the pool is exhausted.
  virtual PacketRef alloc(uint32_t size) = 0;
  /// Called by PacketRef when the last reference is gone.
  virtual void recycle(Packet* p) noexcept = 0;
  /// The packet will be given back soon: what that touches may be brought from memory.
  virtual void prefetch(const Packet*) const {}
  /// False while a driver still reads the bytes of a packet that it was given to send.
  virtual bool at_rest(const Packet&) const { return true; }
};

/// One counted reference. Move-only: sharing is spelled `share()`.
class PacketRef {
 public:
  PacketRef() = default;
  /// Adopts a reference that the caller already holds (p->refs was counted for it).
  static PacketRef adopt(Packet* p) { return PacketRef(p); }
  PacketRef(PacketRef&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  PacketRef& operator=(PacketRef&& o) noexcept {
    if (this != &o) {
      reset();
      p_ = std::exchange(o.p_, nullptr);
    }
    return *this;
  }
  PacketRef(const PacketRef&) = delete;
  PacketRef& operator=(const PacketRef&) = delete;
  ~PacketRef() { reset(); }

  PacketRef share() const {
    MRDMA_CHECK(p_ != nullptr);
    ++p_->refs;
    return PacketRef(p_);
  }
  void reset() {
    if (p_ != nullptr) {
      MRDMA_CHECK(p_->refs > 0);
      if (--p_->refs == 0) p_->pool->recycle(p_);
      p_ = nullptr;
    }
  }
  /// Gives the reference up without giving it back: whoever takes the pointer owes it to the pool.
  [[nodiscard]] Packet* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }
  Packet* operator->() const { return p_; }
  Packet& operator*() const { return *p_; }
  Packet* get() const { return p_; }
  bool unique() const { return p_ != nullptr && p_->refs == 1; }

 private:
  explicit PacketRef(Packet* p) : p_(p) {}
  Packet* p_ = nullptr;
};

}  // namespace matchrdma
