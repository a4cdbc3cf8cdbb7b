#include "dataplane/io/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "dataplane/io/eal_log.h"

namespace matchrdma::io {
namespace {

std::string cpu_list(const std::vector<uint32_t>& cpus) {
  std::string text;
  for (uint32_t cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return cpus.size() == 1 ? text : "(" + text + ")";
}

std::vector<uint32_t> allowed_cpus() {
  std::vector<uint32_t> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus.empty() ? std::vector<uint32_t>{0} : cpus;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// What people can do about it, judged by what DPDK logged.
std::string remedy(const EalOptions& options, const std::string& log) {
  const std::string mib = std::to_string(options.memory_mib) + " MiB";
  if (!options.no_huge && (contains(log, "hugepage") || contains(log, "memory"))) {
    const std::string pages = std::to_string((options.memory_mib + 1) / 2);
    return "there are not enough free hugepages for " + mib + ": reserve " + pages +
           " pages of 2 MiB (sysctl vm.nr_hugepages=" + pages + "), or take ordinary memory (no-huge)";
  }
  if (contains(log, "ermission denied") || contains(log, "not permitted"))
    return "a permission is missing: run as root or with the capabilities NET_ADMIN, NET_RAW and IPC_LOCK";
  if (contains(log, "reserve memory") || contains(log, "allocate memory") || contains(log, "init memory"))
    return mib + " could not be had: choose less memory";
  if (contains(log, "affinity") || contains(log, "lcore"))
    return "a core does not exist or may not be used: choose from the cores that `nproc` and taskset allow";
  return "see what DPDK says";
}

Error missing_cpu(uint32_t cpu, const std::vector<uint32_t>& allowed) {
  return Error{"core " + std::to_string(cpu) + ": this process may not run there; choose from " +
               cpu_list(allowed) + ". One core may carry several threads"};
}

int run_job(void* job) {
  (*static_cast<std::function<void()>*>(job))();
  return 0;
}

bool started = false;

}  // namespace

std::vector<std::string> eal_arguments(const EalOptions& o) {
  std::vector<std::string> args{"matchrdma", "--no-telemetry", "--file-prefix=" + o.file_prefix, "-m",
                                std::to_string(o.memory_mib)};
  // Either way nothing is shared with other processes and no file stays behind.
  if (o.no_huge)
    args.insert(args.end(), {"--no-huge", "--no-shconf"});
  else
    args.insert(args.end(), {"--in-memory", "--single-file-segments"});
  std::string lcores = "0@" + cpu_list(o.main_cpus.empty() ? allowed_cpus() : o.main_cpus);
  for (size_t i = 0; i < o.worker_cpus.size(); ++i)
    lcores += "," + std::to_string(i + 1) + "@" + std::to_string(o.worker_cpus[i]);
  args.push_back("--lcores=" + lcores);
  args.push_back("--main-lcore=0");
  if (o.pci.empty()) args.push_back("--no-pci");
  for (const std::string& address : o.pci) {
    args.push_back("-a");
    args.push_back(address);
  }
  return args;
}

Result<std::unique_ptr<Eal>> Eal::start(const EalOptions& options) {
  const auto allowed = allowed_cpus();
  for (const auto* cpus : {&options.main_cpus, &options.worker_cpus})
    for (uint32_t cpu : *cpus)
      if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end()) return missing_cpu(cpu, allowed);
  if (started) return Error{"DPDK can be started once per process, and it was already"};

  capture_dpdk_log();
  const size_t mark = log_mark();
  auto args = eal_arguments(options);
  std::vector<char*> argv;
  for (std::string& a : args) argv.push_back(a.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
    const int error = rte_errno;
    const std::string log = log_since(mark, 8);
    return Error{"DPDK cannot start (" + std::string(rte_strerror(error)) + "): " + remedy(options, log) +
                 ". DPDK says: " + log};
  }
  started = true;
  return std::unique_ptr<Eal>(new Eal(options.worker_cpus.size()));
}

Eal::~Eal() {
  join();
  leave();
  rte_eal_cleanup();
}

// DPDK leaves its folder; what is in use by others is not empty.
void Eal::leave() { static_cast<void>(::rmdir(rte_eal_get_runtime_dir())); }

Result<void> Eal::launch(uint32_t index, std::function<void()> job) {
  if (index >= jobs_.size())
    return Error{"worker " + std::to_string(index) + ": there are only " + std::to_string(jobs_.size())};
  if (rte_eal_get_lcore_state(index + 1) != WAIT)
    return Error{"worker " + std::to_string(index) + " still runs its last job"};
  jobs_[index] = std::move(job);
  if (const int r = rte_eal_remote_launch(run_job, &jobs_[index], index + 1); r != 0)
    return Error{"worker " + std::to_string(index) + " cannot be started: " + rte_strerror(-r)};
  return {};
}

void Eal::join() { rte_eal_mp_wait_lcore(); }

}  // namespace matchrdma::io
