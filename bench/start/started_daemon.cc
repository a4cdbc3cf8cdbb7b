#include "bench/start/started_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "controlplane/tls/file_descriptor.h"
#include "proxy/ctl_client.h"

namespace matchrdma::start_bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint32_t kWanMtu = kMtu + 200;

Duration since(SteadyClock::time_point t) {
  return Duration{std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - t).count()};
}

/// Gone at the end, with all that lies in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "matchrdma-start-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  bool made() const { return !path_.empty(); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Packets, and the share that DPDK keeps for itself (proxy/daemon/start.cc), with room for the rings.
uint64_t memory_mib(const Wanted& w) {
  const uint64_t packets = uint64_t{w.custody_packets} + kHeldPackets + 16384;
  return ((packets * (kWanMtu + 640) * 100 / 85) >> 20) + 64;
}

std::string config_text(const Wanted& w, const Folder& f) {
  const uint64_t hard = uint64_t{w.custody_packets} * 4096;
  std::stringstream c;
  c << "name: start\nworkers:\n  cores: 1\n  main_core: 0\n  idle: adaptive\nmemory:\n  "
    << (w.huge ? "hugepages" : "no-huge") << ": " << memory_mib(w) << "MiB\n  file_prefix: start-bench-"
    << ::getpid() << "\nspans:\n  - name: span\n    lan:\n      port: net_null0,no-rx=1\n      mtu: " << kMtu
    << "\n      link_loss_forwarding: off\n    wan:\n      port: net_null1,no-rx=1\n      mtu: " << kWanMtu
    << "\n      address: 192.0.2.1/24\n    peer:\n      address: 192.0.2.2\n      keys:\n        - id: 1\n"
    << "          file: " << f / "key"
    << "\nclasses:\n  - name: all\n    completion: early\nlimits:\n  max_flows: " << w.flows
    << "\n  max_owning_flows: 16384\n  custody_soft: " << hard / 4 * 3 << "B\n  custody_hard: " << hard
    << "B\n  custody_packets: " << w.custody_packets << "\n  held_packets: " << kHeldPackets
    << "\n  reorder_memory: " << uint64_t{kHeldPackets} * 4096 << "B\njournal:\n  path: " << f / "journal"
    << "\nadmin:\n  socket: " << f / "admin"
    << "\nmetrics:\n  listen: off\n";
  return c.str();
}

Result<void> write_files(const Wanted& w, const Folder& f) {
  std::ofstream(f / "start.yaml") << config_text(w, f);
  const FileDescriptor key(::open((f / "key").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string digits(64, '5');  // nobody is at the other end
  if (!key.valid() || ::write(key.get(), digits.data(), digits.size()) != 64)
    return Error{"cannot write into a folder for temporary files; set TMPDIR to one with room for the journal"};
  return {};
}

/// The socket of a service manager.
FileDescriptor listen_for_ready(const std::string& path) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.c_str(), std::min(path.size() + 1, sizeof a.sun_path - 1));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) return {};
  return fd;
}

/// A child of ours; killed at the end if it still runs.
class Process {
 public:
  Process(const std::string& program, const Folder& f) {
    const std::string notify = "NOTIFY_SOCKET=" + f / "notify", config = f / "start.yaml", log = f / "log";
    std::array<const char*, 4> args{program.c_str(), "--config", config.c_str(), nullptr};
    std::array<const char*, 3> environment{notify.c_str(), "PATH=/usr/bin:/bin", nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (::posix_spawn(&pid_, program.c_str(), &files, nullptr,
                      const_cast<char**>(args.data()),  // NOLINT: its API
                      const_cast<char**>(environment.data())) != 0)
      pid_ = -1;
    posix_spawn_file_actions_destroy(&files);
  }
  ~Process() { end(SIGKILL); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool running() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = -1;
    return pid_ > 0;
  }
  void end(int how) {
    if (!running()) return;
    ::kill(pid_, how);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

/// False: it ended, or time is over.
bool wait_ready(const FileDescriptor& manager, Process& daemon, SteadyClock::time_point began,
                Duration patience) {
  while (daemon.running() && since(began) < patience) {
    pollfd p{manager.get(), POLLIN, 0};
    if (::poll(&p, 1, 20) <= 0) continue;
    std::array<char, 4096> said{};
    const ssize_t n = ::recv(manager.get(), said.data(), said.size(), 0);
    if (n > 0 && std::string(said.data(), static_cast<size_t>(n)).find("READY=1") != std::string::npos)
      return true;
  }
  return false;
}

Result<void> wait_answer(const std::string& socket, SteadyClock::time_point began, Duration patience) {
  for (;;) {
    const auto reply = ask_daemon(socket, {{"cmd", "show"}, {"what", "status"}});
    if (reply) return {};
    if (since(began) > patience) return Error{reply.error()};
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// A line of /proc/PID/status, in bytes.
uint64_t kernel_counts(const std::string& status, const char* what) {
  std::smatch m;
  return std::regex_search(status, m, std::regex(std::string(what) + R"(:\s+(\d+) kB)"))
             ? std::stoull(m[1]) << 10
             : 0;
}

Result<void> read_log(const std::string& log, Started& s) {
  std::smatch m;
  if (log.find("are lowered") != std::string::npos) return Error{"the limits do not fit the memory: " + log};
  if (!std::regex_search(log, m, std::regex(R"(= (\d+) packets of (\d+) bytes)")))
    return Error{"it does not say the size of its packet pool: " + log};
  s.pool_packets = std::stoull(m[1]);
  s.packet_bytes = std::stoull(m[2]);
  return {};
}

}  // namespace

Result<Started> start_daemon(const std::string& program, const Wanted& wanted, Duration patience) {
  const Folder folder;
  if (!folder.made()) return Error{"no folder for temporary files; set TMPDIR to one that can be written"};
  if (auto r = write_files(wanted, folder); !r) return Error{r.error()};
  const FileDescriptor manager = listen_for_ready(folder / "notify");
  if (!manager.valid())
    return Error{"no socket in the folder for temporary files; set TMPDIR to a shorter path"};
  Started s;
  const auto began = SteadyClock::now();
  Process daemon(program, folder);
  if (daemon.pid() < 0) return Error{program + " cannot be started; build it, or name another one (--program)"};
  if (!wait_ready(manager, daemon, began, patience))
    return Error{(daemon.running() ? "not ready in time: " : "it ended: ") + text_of(folder / "log")};
  s.ready = since(began);
  if (auto r = wait_answer(folder / "admin", began, patience); !r)
    return Error{"it does not answer: " + r.error() + ": " + text_of(folder / "log")};
  s.answered = since(began);
  const std::string status = text_of("/proc/" + std::to_string(daemon.pid()) + "/status");
  s.hugepages = kernel_counts(status, "HugetlbPages");
  s.anonymous = kernel_counts(status, "RssAnon");
  s.shared = kernel_counts(status, "RssShmem");
  s.files = kernel_counts(status, "RssFile");
  if (auto r = read_log(text_of(folder / "log"), s); !r) return Error{r.error()};
  const auto asked = SteadyClock::now();
  daemon.end(SIGTERM);
  s.ended = since(asked);
  return s;
}

}  // namespace matchrdma::start_bench
