#include "host/memory/arenas.h"

#include <cstring>
#include <string>

#include "dataplane/base/check.h"
#include "host/memory/private_jemalloc.h"

extern "C" {
// Read by jemalloc when it starts, after MALLOC_CONF, which is meant for the process's allocator and not for
// this. retain: an extent is asked for in its own size, not in growing ones. oversize_threshold: large buffers
// are kept like others. lg_extent_max_active_fit: a small extent may come out of a large free one, since free
// ones never go away.
extern const char* mrdma_je_malloc_conf_2_conf_harder;
const char* mrdma_je_malloc_conf_2_conf_harder =
    "retain:false,oversize_threshold:0,lg_extent_max_active_fit:63,background_thread:false,percpu_arena:"
    "disabled,"
    "tcache:true,tcache_max:32768,tcache_gc_incr_bytes:1152921504606846976,abort:false,abort_conf:false,zero:"
    "false,junk:false,san_guard_small:0,"
    "san_guard_large:0,stats_print:false";

// Its option that puts large extents at odd places, for the sake of caches that are indexed by address, and
// takes a page more for each. Off: a 4 MiB buffer is one chunk, and large buffers begin at a page. In 5.3.0 it
// can be read but not set by name, so it is set before jemalloc starts, which a constructor does too.
extern bool mrdma_je_je_opt_cache_oblivious;
[[gnu::constructor(101)]] static void large_buffers_begin_at_pages() {
  mrdma_je_je_opt_cache_oblivious = false;
}
}

namespace matchrdma::host {

struct Arenas::Hooks : extent_hooks_t {
  explicit Hooks(ChunkStore& s) : extent_hooks_t{}, store(s) {
    alloc = [](extent_hooks_t* self, void* place, size_t size, size_t alignment, bool* zero, bool* committed,
               unsigned) noexcept -> void* {
      if (place != nullptr) return nullptr;  // not at a place of its choice
      void* p = static_cast<Hooks*>(self)->store.carve(size, alignment);
      if (p != nullptr && *zero) std::memset(p, 0, size);
      *committed = true;
      return p;
    };
    dalloc = [](extent_hooks_t* self, void* p, size_t size, bool, unsigned) noexcept {
      static_cast<Hooks*>(self)->store.give_back(p, size);
      return false;
    };
    split = [](extent_hooks_t*, void*, size_t, size_t, size_t, bool, unsigned) noexcept { return false; };
    merge = [](extent_hooks_t* self, void* a, size_t, void* b, size_t, bool, unsigned) noexcept {
      return !static_cast<Hooks*>(self)->store.same_region(a, b);
    };
    // destroy, commit, decommit and both purges stay null: what a NIC may write to keeps its pages.
  }
  ChunkStore& store;
};

namespace {

/// jemalloc's arena_config_t, which stands in no public header.
struct ArenaConfig {
  extent_hooks_t* hooks;
  bool metadata_from_hooks;
};

std::string of_arena(unsigned index, const char* what) { return "arena." + std::to_string(index) + "." + what; }

/// With its own bookkeeping outside of the registered memory: no peer may write to that.
int create_arena(extent_hooks_t* hooks, unsigned& index) {
  ArenaConfig config{hooks, false};
  size_t size = sizeof index;
  int error = mrdma_je_mallctl("experimental.arenas_create_ext", &index, &size, &config, sizeof config);
  if (error != 0) return error;
  error = jemalloc::write(of_arena(index, "dirty_decay_ms").c_str(), ssize_t{-1});
  return error != 0 ? error : jemalloc::write(of_arena(index, "muzzy_decay_ms").c_str(), ssize_t{0});
}

}  // namespace

Arenas::Arenas(ChunkStore& store) : hooks_(std::make_unique<Hooks>(store)) {}

Result<std::unique_ptr<Arenas>> Arenas::create(ChunkStore& store, unsigned count) {
  std::unique_ptr<Arenas> arenas(new Arenas(store));
  for (unsigned i = 0; i < count; ++i) {
    unsigned index = 0;
    if (const int error = create_arena(arenas->hooks_.get(), index); error != 0) {
      return Error{"the registered heap's allocator gives no arena (" + std::string(std::strerror(error)) +
                   "): a process can have about 4000 in all its heaps"};
    }
    arenas->indices_.push_back(index);
  }
  return arenas;
}

Arenas::~Arenas() {
  for (const unsigned index : indices_) MRDMA_CHECK(jemalloc::act(of_arena(index, "destroy")) == 0);
}

void Arenas::purge() {
  for (const unsigned index : indices_) MRDMA_CHECK(jemalloc::act(of_arena(index, "purge")) == 0);
}

}  // namespace matchrdma::host
