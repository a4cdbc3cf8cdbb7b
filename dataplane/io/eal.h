#pragma once
// DPDK's environment: its memory, its threads, and the end of both.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/result.h"

namespace matchrdma::io {

struct EalOptions {
  bool no_huge = false;       ///< ordinary pages: for laptops, tests and containers
  uint32_t memory_mib = 256;  ///< all that DPDK may use
  /// CPUs of the calling thread; empty: wherever it may run.
  std::vector<uint32_t> main_cpus{};
  /// One worker thread per entry, bound to that CPU. A CPU may stand here more than once, and be a main CPU
  /// too.
  std::vector<uint32_t> worker_cpus{};
  /// Addresses of the PCI devices that this process may take, like 0000:3b:00.0. All others are left alone;
  /// without any, the PCI bus is not even looked at.
  std::vector<std::string> pci{};
  std::string file_prefix = "matchrdma";
};

/// Duty: starts DPDK once per process, runs functions on its worker threads, and cleans up. Memory is private
/// to the process (--in-memory): a killed process leaves no file behind, and several may run side by side. Does
/// not know ports.
class Eal {
 public:
  static Result<std::unique_ptr<Eal>> start(const EalOptions& options);
  /// Joins the workers. Ports and pools must be gone.
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  uint32_t workers() const { return static_cast<uint32_t>(jobs_.size()); }
  /// Runs `job` on worker `index`, which must be idle.
  Result<void> launch(uint32_t index, std::function<void()> job);
  /// Waits until every worker is idle.
  void join();
  /// In place of the destructor, where the process ends at once: takes away what the kernel would leave. Memory
  /// needs nobody.
  static void leave();

 private:
  explicit Eal(size_t workers) : jobs_(workers) {}
  std::vector<std::function<void()>> jobs_;
};

/// The command line that DPDK is given for `options`; for tests and for people.
std::vector<std::string> eal_arguments(const EalOptions& options);

}  // namespace matchrdma::io
