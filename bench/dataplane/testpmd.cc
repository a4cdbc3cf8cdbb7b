#include "bench/dataplane/testpmd.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "bench/statistics.h"
#include "controlplane/tls/file_descriptor.h"

namespace matchrdma::dataplane_bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSecondsToStart = 20;

std::vector<std::string> arguments(const TestpmdRun& r) {
  const auto null = [&](int i) {
    return "net_null" + std::to_string(i) + ",copy=1,size=" + std::to_string(r.frame);
  };
  // Whatever ends the benchmark ends it too.
  return {"setpriv",
          "--pdeathsig",
          "KILL",
          "dpdk-testpmd",
          "--lcores",
          "0@" + std::to_string(r.main_cpu) + ",1@" + std::to_string(r.cpu),
          "--in-memory",
          "--no-pci",
          "--no-telemetry",
          "-m",
          std::to_string(r.memory_mib),
          "--vdev",
          null(0),
          "--vdev",
          null(1),
          "--",
          "--forward-mode=" + r.mode,
          "--nb-cores=1",
          "--burst=32",
          "--mbuf-size=" + std::to_string(r.frame + 512),
          "--total-num-mbufs=8192",
          "--stats-period=1",
          "--no-lsc-interrupt"};
}

/// A child whose output is read; ended with the object.
class Child {
 public:
  explicit Child(const std::vector<std::string>& args) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    out_ = FileDescriptor(ends[0]);
    const FileDescriptor in(ends[1]);
    std::vector<char*> argv;
    for (const std::string& a : args) argv.push_back(const_cast<char*>(a.c_str()));  // NOLINT: its API
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, in.get(), 1);
    posix_spawn_file_actions_adddup2(&files, in.get(), 2);
    if (::posix_spawnp(&pid_, argv[0], &files, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&files);
  }
  Child(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGINT);
    for (int i = 0; i < 50; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) return;
      read_for(milliseconds(100));
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool started() const { return pid_ > 0; }
  const std::string& text() const { return text_; }
  /// False at the end of its output.
  bool read_for(milliseconds d) {
    pollfd p{out_.get(), POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(d.count())) <= 0) return true;
    std::array<char, 4096> part;
    const ssize_t n = ::read(out_.get(), part.data(), part.size());
    if (n > 0) text_.append(part.data(), static_cast<size_t>(n));
    return n > 0;
  }

 private:
  FileDescriptor out_;
  pid_t pid_ = -1;
  std::string text_;
};

/// Every figure behind `name`, in order.
std::vector<double> figures(const std::string& text, const std::string& name) {
  std::vector<double> all;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    all.push_back(std::strtod(text.c_str() + at + name.size(), nullptr));
  return all;
}

}  // namespace

Result<double> testpmd_rate(const TestpmdRun& run) {
  Child child(arguments(run));
  if (!child.started())
    return Error{"setpriv, which starts dpdk-testpmd, cannot be started: install the package util-linux"};
  constexpr size_t kPorts = 2;
  // The first figures are of a second in which it began.
  const size_t wanted = kPorts * static_cast<size_t>(run.seconds + 1);
  const auto until = SteadyClock::now() + std::chrono::seconds(kSecondsToStart + run.seconds);
  std::vector<double> seen;
  while (seen.size() < wanted && SteadyClock::now() < until) {
    if (!child.read_for(milliseconds(200))) break;
    seen = figures(child.text(), "Rx-pps:");
  }
  std::vector<double> rates;
  for (size_t i = kPorts; i + 1 < seen.size(); i += kPorts) rates.push_back(seen[i] + seen[i + 1]);
  if (rates.empty() || median(rates) <= 0)
    return Error{"dpdk-testpmd (package dpdk-dev) forwarded nothing; it said: " + child.text().substr(0, 2000)};
  return median(rates);
}

}  // namespace matchrdma::dataplane_bench
