#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "host/memory/arenas.h"
#include "host/memory/budget.h"
#include "host/memory/chunk_store.h"
#include "host/memory/external_buffers.h"
#include "host/memory/live_objects.h"
#include "host/memory/registrar.h"
#include "host/memory/thread_caches.h"

namespace matchrdma::host {

struct HeapOptions {
  size_t limit = 0;     ///< bytes that may be registered, chunks and external buffers of this machine together
  unsigned arenas = 0;  ///< threads take turns at them; 0: one for each CPU, 16 at most
};

struct HeapStats {
  size_t limit = 0;
  size_t registered = 0;  ///< bytes: chunks and external host buffers
  size_t in_use = 0;      ///< bytes of the heap's live buffers, each as large as its size class
  size_t chunks = 0;      ///< of 4 MiB
  size_t regions = 0;     ///< memory regions of those
  size_t external = 0;    ///< external buffers
  size_t thread_caches = 0;
};

/// Duty: memory that a NIC may read and write at any moment, with the key of any address of it. Any thread may
/// call, and free what another allocated. It does not know devices (Registrar), messages or paths.
///
/// Every buffer lies whole in one region. Where a registration or the limit stops growth, what is free is given
/// back and the allocation tried once more. A buffer is never moved, and its memory returns to the kernel only
/// when its region is unregistered. In a forked child the heap is not usable.
class RegisteredHeap {
 public:
  /// The registrar must outlive the heap.
  static Result<std::unique_ptr<RegisteredHeap>> create(Registrar& registrar, HeapOptions options);
  /// Unregisters everything. Buffers that are still out are gone: call it when no path can deliver to them
  /// (rule 2).
  ~RegisteredHeap();
  RegisteredHeap(const RegisteredHeap&) = delete;
  RegisteredHeap& operator=(const RegisteredHeap&) = delete;

  /// At least `size` bytes and 64, at a multiple of 16 (of 4096 from 16 KiB on). nullptr: failure() says why.
  void* allocate(size_t size);
  /// The same at a multiple of `alignment`, a power of two.
  void* allocate_aligned(size_t size, size_t alignment);
  /// What allocate() gave, once; nullptr does nothing. Anything else stops the program.
  void free(void* p);
  size_t usable_size(const void* p) const;
  /// Why an allocation failed the last time, in whichever thread.
  std::string failure() const;

  /// The region that holds all of [p, p + length): O(1) in the heap, O(log n) in external buffers. nullptr:
  /// none.
  const Registration* find(const void* p, size_t length = 1) const;

  /// Memory of others: host memory, or a GPU's by its peer memory driver (HostAccess::kNone) (H19).
  Result<const Registration*> register_external(void* p, size_t length, HostAccess access);
  Result<const Registration*> register_external(const Dmabuf& buffer);
  Result<void> unregister_external(const void* p) { return external_.remove(p); }

  /// Unregisters the chunks in which nothing is used. Buffers in the caches of other threads count as used.
  void trim();
  HeapStats stats() const;

 private:
  RegisteredHeap(Registrar& registrar, HeapOptions options);
  void* allocate_again(size_t size, int flags);
  Result<void> outside(uintptr_t begin, size_t length) const;

  Budget budget_;
  std::unique_ptr<ChunkStore> store_;
  std::unique_ptr<LiveObjects> live_;
  std::unique_ptr<Arenas> arenas_;
  std::unique_ptr<ThreadCaches> caches_;
  ExternalBuffers external_;
};

}  // namespace matchrdma::host
