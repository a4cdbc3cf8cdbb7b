#include "proxy/xfer_options.h"

#include <algorithm>
#include <array>

#include "config/net.h"
#include "config/units.h"
#include "dataplane/base/types.h"
#include "proxy/code_option.h"

namespace matchrdma {
namespace {

using host::XferScheme;

struct Word {
  const char* text;
  XferScheme scheme;
};
constexpr std::array<Word, 7> kSchemes{{{"sr", XferScheme::kSelectiveRepeat},
                                        {"ec", XferScheme::kErasureCode},
                                        {"xor", XferScheme::kXor},
                                        {"best-effort", XferScheme::kBestEffort},
                                        {"rc", XferScheme::kReliable},
                                        {"cells", XferScheme::kCells},
                                        {"channel", XferScheme::kChannel}}};

Result<std::vector<XferScheme>> schemes_of(const std::string& text) {
  std::vector<XferScheme> all;
  for (const Word& w : kSchemes) {
    if (text == w.text) return std::vector<XferScheme>{w.scheme};
    if (w.scheme != XferScheme::kCells && w.scheme != XferScheme::kChannel) all.push_back(w.scheme);
  }
  if (text == "all") return all;
  return Error{"--scheme " + text +
               ": no such scheme; choose sr, ec, xor, best-effort, rc, cells, channel or all"};
}

constexpr std::array<const char*, 3> kTransports{"auto", "uc", "rc"};  // by host::XferTransport

Result<void> read_transport(const std::string& text, host::XferSettings& x) {
  const auto at = std::find(kTransports.begin(), kTransports.end(), text);
  if (at == kTransports.end())
    return Error{"--transport " + text + ": no such transport; choose auto, uc or rc"};
  x.transport = static_cast<host::XferTransport>(at - kTransports.begin());
  return {};
}

constexpr std::array<const char*, 3> kElements{"f32", "bf16", "f16"};  // by host::ElementType

Result<void> read_hadamard(const std::string& text, XferRequest& r) {
  if (text.empty()) return {};
  const auto at = std::find(kElements.begin(), kElements.end(), text);
  if (at == kElements.end())
    return Error{"--hadamard " + text + ": no such type of number; choose f32, bf16 or f16"};
  if (r.schemes != std::vector<XferScheme>{XferScheme::kBestEffort})
    return Error{"--hadamard " + text +
                 ": makes losses cheap, and only best effort has any; add --scheme best-effort"};
  r.settings.xfer.hadamard = static_cast<host::ElementType>(at - kElements.begin());
  r.settings.xfer.hadamard_seed = r.settings.seed;
  return {};
}

Result<void> read_path(const XferArguments& a, host::ModelTransferSettings& s) {
  const auto distance = parse_distance("--distance", a.distance);
  const auto rate = parse_rate("--rate", a.rate);
  const auto loss = parse_probability("--loss", a.loss);
  const auto reorder = parse_probability("--reorder", a.reorder);
  const auto duplicate = parse_probability("--duplicate", a.duplicate);
  const auto seed = parse_seed("--seed", a.seed);
  if (!distance) return Error{distance.error()};
  if (!rate) return Error{rate.error()};
  for (const auto* p : {&loss, &reorder, &duplicate})
    if (!*p) return Error{p->error()};
  if (!seed) return Error{seed.error()};
  if (*loss > 0.5)
    return Error{"--loss " + a.loss + ": with more than half lost nothing ends; choose 0 to 0.5"};
  host::PathModel& path = s.there;
  path.gigabits = static_cast<double>(rate->bps) / 1e9;
  path.delay = Duration{static_cast<int64_t>(*distance * static_cast<double>(kNanosPerKm))};
  path.loss = *loss;
  path.reorder = *reorder;
  path.duplicate = *duplicate;
  s.back = s.there;
  s.seed = *seed;
  s.xfer.rate = *rate;
  s.xfer.expected_loss = std::max(*loss, 1e-4);
  s.xfer.round_trip = Duration{std::max<int64_t>(2 * path.delay.ns, 10'000)};
  return {};
}

/// ADDRESS or ADDRESS:PORT; without a port it stays as it is.
Result<void> read_endpoint(const std::string& option, const std::string& text, std::string& ip,
                           uint16_t& port) {
  if (const auto address = parse_address(text); address) {
    ip = to_text(*address);
  } else if (const auto both = parse_endpoint(text); both) {
    ip = to_text(both->address);
    port = both->port;
  } else {
    return Error{option + " " + text + ": " + both.error()};
  }
  return {};
}

Result<void> read_cells(const XferArguments& a, XferRequest& r) {
  host::XferSettings& x = r.settings.xfer;
  const bool cells = r.schemes == std::vector<XferScheme>{XferScheme::kCells};
  for (const auto& [option, given] : {std::pair{"--paths", !a.paths.empty()}, std::pair{"--proxied", a.proxied},
                                      std::pair{"--register", !a.registrar.empty()}})
    if (given && !cells) return Error{std::string(option) + " is of cells alone: add --scheme cells"};
  if (!a.paths.empty()) {
    const auto paths = parse_whole("--paths", a.paths, 1, host::kMostXferPaths,
                                   "choose 1 to " + std::to_string(host::kMostXferPaths));
    if (!paths) return Error{paths.error()};
    x.paths = static_cast<uint32_t>(*paths);
  }
  x.proxied = a.proxied || !a.registrar.empty();
  if (a.registrar.empty()) return {};
  if (a.registrar_key.empty())
    return Error{"--register-key is missing: the file with the line IDENTITY HEXKEY of the proxy"};
  return read_endpoint("--register", a.registrar, r.registrar_ip, r.registrar_port);
}

Result<void> read_live(const XferArguments& a, XferRequest& r) {
  const bool listens = !a.listen.empty();
  const std::string option = listens ? "--listen" : "--connect", text = listens ? a.listen : a.connect;
  if (a.device.empty()) return Error{option + " needs the --device, as `rdma link` names it"};
  if (listens == !a.connect.empty())
    return Error{"--device " + a.device + ": give --listen ADDRESS at the receiving end, or --connect ADDRESS"};
  if (a.key.empty())
    return Error{"--key is missing: the file with the line IDENTITY HEXKEY that both ends have"};
  if (listens && !a.input.empty())
    return Error{a.input + ": the end that listens receives; name it at the other"};
  if (!listens && !a.output.empty())
    return Error{"--output " + a.output + ": this end sends; name it at the end that listens"};
  if (auto e = read_endpoint(option, text, r.ip, r.port); !e) return e;
  host::XferSettings& x = r.settings.xfer;
  if (r.settings.there.loss == 0) x.expected_loss = host::XferSettings{}.expected_loss;
  return {};
}

}  // namespace

const char* element_name(host::ElementType t) { return kElements[static_cast<size_t>(t)]; }

const char* scheme_name(XferScheme s) {
  return std::find_if(kSchemes.begin(), kSchemes.end(), [s](const Word& w) { return w.scheme == s; })->text;
}

void add_xfer_options(CLI::App& app, XferArguments& a) {
  app.add_option("input", a.input, "The file to move; without it, made-up bytes (--size)");
  app.add_option("--output", a.output, "Write what arrived to this file");
  app.add_option("--size", a.size, "Of made-up bytes")->capture_default_str();
  app.add_option("--scheme", a.scheme,
                 "sr: selective repeat; ec: erasure code; xor: one parity chunk; best-effort: what is lost is "
                 "zero; rc: the "
                 "NIC's go-back-N; cells: several queue pairs, each a path; channel: one, and TCP while there "
                 "is none; all: each of the first five in turn")
      ->capture_default_str();
  app.add_option("--code", a.code, "Data and parity chunks of ec; xor takes the first")->capture_default_str();
  app.add_option("--paths", a.paths, "Of cells, 1 to 64 (4): they share --rate");
  app.add_flag("--proxied", a.proxied,
               "Proxies answer for the far end: cells wait longer before a path is suspected");
  app.add_option("--transport", a.transport,
                 "uc; rc: the NICs repair, whatever the scheme; auto: uc where both NICs have it, otherwise rc")
      ->capture_default_str();
  app.add_option("--hadamard", a.hadamard,
                 "best-effort: the bytes are numbers, f32, bf16 or f16, and what is lost costs each a little");
  app.add_option("--message", a.message, "Bytes of one message")->capture_default_str();
  app.add_option("--mtu", a.mtu, "Path MTU: 256, 512, 1024, 2048 or 4096")->capture_default_str();
  app.add_option("--tier", a.tier, "a: into the application's memory; c: into the library's, and copied")
      ->capture_default_str();
  app.add_option("--rate", a.rate, "Of the link and the pacer; with --device of the pacer")
      ->capture_default_str();
  app.add_option("--distance", a.distance,
                 "Of the link, one way; with --device a first guess of its round trip")
      ->capture_default_str();
  app.add_option("--loss", a.loss,
                 "Probability per packet, both ways; with --device what the pacer takes for usual (0: 0.01)")
      ->capture_default_str();
  app.add_option("--reorder", a.reorder, "Probability per packet")->capture_default_str();
  app.add_option("--duplicate", a.duplicate, "Probability per packet")->capture_default_str();
  app.add_option("--seed", a.seed, "Of what is lost")->capture_default_str();
  app.add_option("--device", a.device, "Over this RDMA device to another process, instead of the model");
  app.add_option("--listen", a.listen, "Receive: ADDRESS[:PORT] of the control connection");
  app.add_option("--connect", a.connect, "Send to the end that listens there");
  app.add_option("--key", a.key, "File with the line IDENTITY HEXKEY that both ends have");
  app.add_option(
      "--register", a.registrar,
      "Tell the proxy of this end, at its registration listener ADDRESS[:PORT], the queue pairs of cells");
  app.add_option("--register-key", a.registrar_key,
                 "File with the line IDENTITY HEXKEY that the proxy has, too");
  app.add_option("--json", a.json, "Write the figures as JSON to this file; - is stdout");
}

Result<XferRequest> read_xfer(const XferArguments& a) {
  XferRequest r;
  auto schemes = schemes_of(a.scheme);
  if (!schemes) return Error{schemes.error()};
  r.schemes = std::move(*schemes);
  host::XferSettings& x = r.settings.xfer;
  const auto code = parse_code(a.code);
  if (!code) return Error{code.error()};
  x.code_k = code->k;
  x.code_m = code->m;
  if (auto p = read_path(a, r.settings); !p) return Error{p.error()};
  if (auto t = read_transport(a.transport, x); !t) return Error{t.error()};
  if (auto h = read_hadamard(a.hadamard, r); !h) return Error{h.error()};
  const auto size = parse_bytes_between("--size", a.size, 1, kMostXferBytes);
  if (!size) return Error{size.error()};
  r.bytes = *size;
  const auto message = parse_bytes_between("--message", a.message, 1, kMostXferBytes);
  if (!message) return Error{message.error()};
  x.message_bytes = *message;
  const auto mtu = parse_whole("--mtu", a.mtu, 256, 4096, "choose 256, 512, 1024, 2048 or 4096");
  if (!mtu) return Error{mtu.error()};
  x.path_mtu = static_cast<uint32_t>(*mtu);
  if (!legal_path_mtu(x.path_mtu)) return Error{"--mtu " + a.mtu + ": choose 256, 512, 1024, 2048 or 4096"};
  x.messages_ahead = host::messages_ahead(x.rate, x.round_trip, x.message_bytes);
  if (a.tier != "a" && a.tier != "c") return Error{"--tier " + a.tier + ": choose a or c"};
  x.copy = a.tier == "c";
  if (auto c = read_cells(a, r); !c) return Error{c.error()};
  if (!a.live())
    for (const auto& [option, given] : {std::pair{"--key", &a.key}, std::pair{"--register", &a.registrar},
                                        std::pair{"--register-key", &a.registrar_key}})
      if (!given->empty()) return Error{std::string(option) + " is of two processes: add --device"};
  if (!a.registrar_key.empty() && a.registrar.empty())
    return Error{"--register-key: add --register ADDRESS, the proxy that it is for"};
  if (a.live())
    if (auto l = read_live(a, r); !l) return Error{l.error()};
  if (r.schemes.size() > 1 && !a.output.empty())
    return Error{"--output " + a.output + ": one scheme writes one file; name the --scheme"};
  return r;
}

}  // namespace matchrdma
