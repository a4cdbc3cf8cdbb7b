#pragma once
#include <memory>
#include <vector>

#include "dataplane/base/result.h"
#include "host/memory/chunk_store.h"

namespace matchrdma::host {

/// Duty: jemalloc arenas whose extents come from one ChunkStore. Nothing is given back to the store by the
/// passing of time: registered pages cannot be purged, only unregistered, and that is for purge(). It does not
/// know threads.
class Arenas {
 public:
  static Result<std::unique_ptr<Arenas>> create(ChunkStore& store, unsigned count);
  ~Arenas();  ///< all that is still allocated goes with them
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  /// Gives the store back what is free; the store unregisters the regions that are whole.
  void purge();
  const std::vector<unsigned>& indices() const { return indices_; }

 private:
  struct Hooks;
  explicit Arenas(ChunkStore& store);

  std::unique_ptr<Hooks> hooks_;
  std::vector<unsigned> indices_;
};

}  // namespace matchrdma::host
