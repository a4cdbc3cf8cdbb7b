#pragma once
// What `matchrdma-xfer` is asked to do.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "host/register/pair_request.h"
#include "host/xfer/model_transfer.h"

namespace matchrdma {

/// As typed.
struct XferArguments {
  std::string input, output, size = "64MiB", scheme = "sr", code = "32,8", message = "16MiB", mtu = "4096",
                             rate = "100Gbps", transport = "auto";
  std::string hadamard, distance = "1000km", loss = "0", reorder = "0", duplicate = "0", seed = "1", tier = "a",
                        json;
  std::string paths;
  bool proxied = false;
  std::string device, listen, connect, key, registrar,
      registrar_key;  ///< between two processes, over RDMA devices
  bool live() const { return !device.empty() || !listen.empty() || !connect.empty(); }
};

/// Both ends hold their copy in memory.
inline constexpr uint64_t kMostXferBytes = uint64_t{1} << 33;
inline constexpr uint16_t kXferPort = 18515;

struct XferRequest {
  std::vector<host::XferScheme> schemes;
  host::ModelTransferSettings settings;
  uint64_t bytes = 0;  ///< made up, where no file is named
  std::string ip;      ///< live: where to listen or to connect
  uint16_t port = kXferPort;
  std::string registrar_ip{};  ///< live: of the proxy that is told; empty: none
  uint16_t registrar_port = host::kRegisterPort;
};

void add_xfer_options(CLI::App& app, XferArguments& a);
/// An error names the option, its value and what to write instead.
Result<XferRequest> read_xfer(const XferArguments& a);
const char* scheme_name(host::XferScheme s);
/// As `--hadamard` takes it.
const char* element_name(host::ElementType t);

}  // namespace matchrdma
