#pragma once
#include <map>
#include <shared_mutex>

#include "host/memory/budget.h"
#include "host/memory/registrar.h"

namespace matchrdma::host {

enum class HostAccess : uint8_t {
  kReadable,  ///< memory of this machine: counts against the budget
  kNone,      ///< a GPU's: SR and flowcell may send it, EC and Hadamard must refuse it (H19)
};

/// Duty: registered ranges that others allocated, and which of them an address lies in: O(log n). Any thread
/// may call. It does not know the heap, whose addresses the caller keeps out.
class ExternalBuffers {
 public:
  ExternalBuffers(Registrar& registrar, Budget& budget) : registrar_(registrar), budget_(budget) {}
  ~ExternalBuffers();  ///< unregisters what is left
  ExternalBuffers(const ExternalBuffers&) = delete;
  ExternalBuffers& operator=(const ExternalBuffers&) = delete;

  /// Valid until remove(). An address may stand in one range only: its key would be a matter of luck.
  Result<const Registration*> add(void* p, size_t length, HostAccess access);
  Result<const Registration*> add(const Dmabuf& buffer);
  /// By its first address. Only when no work request can name it any more.
  Result<void> remove(const void* p);

  /// The range that holds all of [p, p + length), nullptr where none does.
  const Registration* find(const void* p, size_t length) const;
  size_t count() const;

 private:
  Result<void> free_range(uintptr_t begin, size_t length) const;

  Registrar& registrar_;
  Budget& budget_;
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Registration> ranges_;
};

}  // namespace matchrdma::host
