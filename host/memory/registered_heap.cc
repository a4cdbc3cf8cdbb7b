#include "host/memory/registered_heap.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "dataplane/base/check.h"
#include "host/memory/private_jemalloc.h"
#include "host/memory/size_class.h"

namespace matchrdma::host {
namespace {

constexpr unsigned kMostArenas = 16;  // each holds back what is free in it from the others
constexpr size_t kPage = 4096;

}  // namespace

RegisteredHeap::RegisteredHeap(Registrar& registrar, HeapOptions options)
    : budget_(options.limit), external_(registrar, budget_) {}

Result<std::unique_ptr<RegisteredHeap>> RegisteredHeap::create(Registrar& registrar, HeapOptions options) {
  std::unique_ptr<RegisteredHeap> heap(new RegisteredHeap(registrar, options));
  auto store = ChunkStore::create(registrar, heap->budget_);
  if (!store) return Error{store.error()};
  heap->store_ = std::move(*store);
  auto live = LiveObjects::create(heap->store_->base(), heap->store_->span());
  if (!live) return Error{live.error()};
  heap->live_ = std::move(*live);
  const unsigned cpus = std::clamp(std::thread::hardware_concurrency(), 1u, kMostArenas);
  auto arenas = Arenas::create(*heap->store_, options.arenas != 0 ? options.arenas : cpus);
  if (!arenas) return Error{arenas.error()};
  heap->arenas_ = std::move(*arenas);
  heap->caches_ = std::make_unique<ThreadCaches>(heap->arenas_->indices());
  return heap;
}

// Caches, then arenas, then the store: the order of the members backwards.
RegisteredHeap::~RegisteredHeap() = default;

void* RegisteredHeap::allocate(size_t size) {
  const uint8_t c = size_class(size);
  if (c == kBeyond) return allocate_aligned(size, LiveObjects::kGrain);
  ThreadCache& cache = caches_->mine();
  void* p = mrdma_je_mallocx(class_size(c), cache.allocate_flags);
  if (p == nullptr && (p = allocate_again(class_size(c), cache.allocate_flags)) == nullptr) return nullptr;
  live_->born(p, c);
  cache.count(static_cast<int64_t>(class_size(c)));
  return p;
}

void* RegisteredHeap::allocate_aligned(size_t size, size_t alignment) {
  MRDMA_CHECK(std::has_single_bit(alignment));
  // What cannot be is refused before jemalloc's arithmetic sees it, by the store and in its words.
  if (size > budget_.limit() || alignment > budget_.limit())
    return store_->carve(std::max(size, alignment), kPage);
  size = std::max(size, kSmallest);
  const int align = MALLOCX_LG_ALIGN(std::countr_zero(alignment));
  ThreadCache& cache = caches_->mine();
  void* p = mrdma_je_mallocx(size, cache.allocate_flags | align);
  if (p == nullptr && (p = allocate_again(size, cache.allocate_flags | align)) == nullptr) return nullptr;
  const size_t usable = mrdma_je_nallocx(size, align);
  live_->born(p, size_class(usable));
  cache.count(static_cast<int64_t>(usable));
  return p;
}

/// Free extents of one arena are of no use to another, and none spans two regions: returned to the store, they
/// are.
void* RegisteredHeap::allocate_again(size_t size, int flags) {
  trim();
  return mrdma_je_mallocx(size, flags);
}

void RegisteredHeap::free(void* p) {
  if (p == nullptr) return;
  const uint8_t c = live_->died(p);
  ThreadCache& cache = caches_->mine();
  cache.count(-static_cast<int64_t>(c == kBeyond ? mrdma_je_sallocx(p, 0) : class_size(c)));
  mrdma_je_dallocx(p, cache.free_flags);  // not sdallocx: it costs 10 ns more, although it is told the size
}

size_t RegisteredHeap::usable_size(const void* p) const {
  const uint8_t c = live_->size_class(p);
  return c == kBeyond ? mrdma_je_sallocx(p, 0) : class_size(c);
}

std::string RegisteredHeap::failure() const {
  std::string why = store_->failure();
  return why.empty() ? "no memory for the registered heap's own bookkeeping" : why;
}

const Registration* RegisteredHeap::find(const void* p, size_t length) const {
  if (reinterpret_cast<uintptr_t>(p) - store_->base() >= store_->span()) return external_.find(p, length);
  const Registration* r = store_->find(p);
  return r != nullptr && r->holds(reinterpret_cast<uintptr_t>(p), length) ? r : nullptr;
}

Result<void> RegisteredHeap::outside(uintptr_t begin, size_t length) const {
  const uintptr_t base = store_->base();
  if (begin >= base + store_->span() || (begin < base && length <= base - begin)) return {};
  return Error{"an external buffer cannot overlap the registered heap, which registers its memory itself"};
}

Result<const Registration*> RegisteredHeap::register_external(void* p, size_t length, HostAccess access) {
  if (auto r = outside(reinterpret_cast<uintptr_t>(p), length); !r) return Error{r.error()};
  return external_.add(p, length, access);
}

Result<const Registration*> RegisteredHeap::register_external(const Dmabuf& buffer) {
  if (auto r = outside(buffer.address, buffer.length); !r) return Error{r.error()};
  return external_.add(buffer);
}

void RegisteredHeap::trim() {
  caches_->flush_mine();
  arenas_->purge();
}

HeapStats RegisteredHeap::stats() const {
  const ChunkStats chunks = store_->stats();
  HeapStats s;
  s.limit = budget_.limit();
  s.registered = budget_.used();
  s.in_use = static_cast<size_t>(caches_->in_use());
  s.chunks = chunks.chunks;
  s.regions = chunks.regions;
  s.external = external_.count();
  s.thread_caches = caches_->count();
  return s;
}

}  // namespace matchrdma::host
