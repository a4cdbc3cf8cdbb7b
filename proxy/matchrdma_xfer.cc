// matchrdma-xfer: moves a file or a piece of memory with the host library, and shows what it took: to another
// process over an RDMA device, or with both ends in this process and a made-up link between them.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>

#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/table.h"
#include "proxy/xfer_bytes.h"
#include "proxy/xfer_options.h"
#include "proxy/xfer_plan.h"
#ifdef MATCHRDMA_HAS_VERBS
#include "host/verbs/verbs_nic.h"
#include "proxy/xfer_live.h"
#include "proxy/xfer_live_report.h"
#endif

namespace matchrdma {
namespace {

using host::ModelTransferResult;

std::string scientific(double v) {
  std::ostringstream out;
  out << std::scientific << std::setprecision(1) << v;
  return out.str();
}

MadeUp made_up(const XferRequest& r) { return {r.bytes, r.settings.seed, r.settings.xfer.hadamard}; }

struct Row {
  PlannedTransfer plan;
  ModelTransferResult result;
  bool same = false;
  std::optional<double> error{};  ///< with the transform: relative, root mean square

  /// Nobody told that these bytes would be others.
  bool wrong() const { return !same && result.missing_bytes == 0 && !error; }
  std::string verdict() const {
    if (same) return "right";
    if (error) return "error " + scientific(*error);
    return wrong() ? "WRONG" : "as told";
  }
};

double gigabits(uint64_t bytes, Duration took) {
  return static_cast<double>(bytes) * 8 / static_cast<double>(std::max<int64_t>(took.ns, 1));
}

void print(const std::vector<Row>& rows, uint64_t bytes, const std::string& sum) {
  Table t({{"scheme", Table::Align::kLeft},
           {"time", Table::Align::kRight},
           {"Gb/s", Table::Align::kRight},
           {"packets", Table::Align::kRight},
           {"lost", Table::Align::kRight},
           {"resent", Table::Align::kRight},
           {"decoded", Table::Align::kRight},
           {"missing bytes", Table::Align::kRight},
           {"bytes", Table::Align::kLeft}});
  for (const Row& r : rows)
    t.add({scheme_name(r.result.scheme), duration_text(r.result.took.ns),
           decimal(gigabits(bytes, r.result.took), 2), thousands(r.result.packets), thousands(r.result.lost),
           thousands(r.result.resent), thousands(r.result.decoded), thousands(r.result.missing_bytes),
           r.verdict()});
  for (const Row& r : rows)
    if (const std::string note = r.plan.note(); !note.empty()) std::cout << note << "\n";
  for (const Row& r : rows)
    for (const std::string& n : r.result.news) std::cout << n << "\n";
  std::cout << thousands(bytes) << " bytes, SHA-256 " << sum << "\n\n";
  t.print(std::cout);
}

/// Beside what every scheme has.
void add_rest(nlohmann::ordered_json& transfer, const Row& r) {
  if (const std::string note = r.plan.note(); !note.empty()) transfer["note"] = note;
  if (r.error) transfer["relative_error"] = *r.error;
  if (!r.result.news.empty()) transfer["news"] = r.result.news;
}

Result<void> print_json(const std::vector<Row>& rows, uint64_t bytes, const std::string& sum,
                        const std::string& path) {
  nlohmann::ordered_json all = {
      {"bytes", bytes}, {"sha256", sum}, {"transfers", nlohmann::ordered_json::array()}};
  for (const Row& r : rows) {
    all["transfers"].push_back({{"scheme", scheme_name(r.result.scheme)},
                                {"time_ns", r.result.took.ns},
                                {"bits_per_second", gigabits(bytes, r.result.took) * 1e9},
                                {"packets", r.result.packets},
                                {"lost", r.result.lost},
                                {"resent", r.result.resent},
                                {"decoded", r.result.decoded},
                                {"duplicates", r.result.duplicates},
                                {"stale", r.result.stale},
                                {"missing_bytes", r.result.missing_bytes},
                                {"same", r.same}});
    add_rest(all["transfers"].back(), r);
  }
  return write_json(all, path);
}

/// Zero, or the exit code.
int fail(const std::string& sentence, int code = kFailed) {
  std::cerr << "matchrdma-xfer: " << sentence << "\n";
  return code;
}

Result<void> write_bytes(const std::string& path, Bytes bytes) {
  if (path.empty()) return {};
  return write_file(path, [bytes](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  });
}

#ifdef MATCHRDMA_HAS_VERBS
constexpr uint32_t kCompletions = 32768;  // of both queue pairs at any rate; a NIC with fewer says so

Result<std::vector<LiveRow>> move_live(const XferArguments& a, const XferRequest& request, host::Nic& nic) {
  const host::ControlHello hello = live_hello(nic.limits());
  std::unique_ptr<XferRegistration> registration;
  if (!request.registrar_ip.empty()) {
    auto made = XferRegistration::make(request.registrar_ip, request.registrar_port, a.registrar_key);
    if (!made) return Error{made.error()};
    registration = std::move(*made);
  }
  if (!a.listen.empty()) {
    auto peer = XferPeer::wait(request.ip, request.port, a.key, hello);
    if (!peer) return Error{peer.error()};
    return LiveEnd(nic, **peer, registration.get()).receive_all([&a](Bytes bytes) {
      return write_bytes(a.output, bytes);
    });
  }
  const auto from = bytes_to_move(a.input, made_up(request));
  if (!from) return Error{from.error()};
  auto peer = XferPeer::connect(request.ip, request.port, a.key, hello);
  if (!peer) return Error{peer.error()};
  return LiveEnd(nic, **peer, registration.get()).send_all(*from, request.settings.xfer, request.schemes);
}

int run_live(const XferArguments& a, const XferRequest& request) {
  catch_interrupts();
  host::VerbsOptions options;
  options.device = a.device;
  options.completion_queue = kCompletions;
  const auto nic = host::open_verbs_nic(options);
  if (!nic) return fail(nic.error());
  const auto rows = move_live(a, request, *nic->nic);
  if (!rows) return fail(rows.error());
  if (!a.json.empty())
    if (auto r = write_live_json(*rows, nic->summary, a.json); !r) return fail(r.error());
  if (a.json != "-") {
    std::cout << nic->summary << "\n";
    print_live(*rows, std::cout);
  }
  return any_wrong(*rows) ? kBroken : 0;
}
#else
int run_live(const XferArguments& a, const XferRequest&) {
  return fail("--device " + a.device +
              ": this build has no libibverbs; install libibverbs-dev and build again");
}
#endif

int run(const XferArguments& a) {
  auto request = read_xfer(a);
  if (!request) return fail(request.error(), kUsage);
  const std::vector<OutputFile> outputs{{"--output", a.output}, {"--json", a.json}};
  if (auto r = check_outputs(a.input, outputs, "the file to move"); !r) return fail(r.error(), kUsage);
  if (auto r = check_writable(outputs); !r) return fail(r.error());
  if (a.live()) return run_live(a, *request);
  const auto from = bytes_to_move(a.input, made_up(*request));
  if (!from) return fail(from.error());
  const Digest digest = sha256(*from);
  const std::string sum = digest_text(digest);
  std::vector<uint8_t> to(from->size());
  std::vector<Row> rows;
  int failed = 0;
  const auto plan = plan_transfers(request->settings.xfer, request->schemes, true, true);
  if (!plan) return fail(plan.error(), kUsage);
  for (const PlannedTransfer& planned : *plan) {
    const host::XferScheme scheme = planned.settings.scheme;
    std::fill(to.begin(), to.end(), uint8_t{0});
    request->settings.xfer = planned.settings;
    Progress progress(scheme_name(scheme), from->size());
    auto result = host::run_model_transfer(request->settings, *from, to,
                                           [&progress](uint64_t bytes) { progress.update(bytes); });
    progress.finish();
    if (!result) {
      failed = fail(std::string(scheme_name(scheme)) + ": " + result.error());
      continue;  // what the others took is worth seeing
    }
    rows.push_back({planned, *result, sha256(to) == digest});
    if (const auto type = request->settings.xfer.hadamard) rows.back().error = relative_error(*type, *from, to);
  }
  if (rows.empty()) return failed;
  if (auto r = write_bytes(a.output, to); !r) return fail(r.error());
  if (!a.json.empty())
    if (auto r = print_json(rows, from->size(), sum, a.json); !r) return fail(r.error());
  if (a.json != "-") print(rows, from->size(), sum);
  const bool wrong = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.wrong(); });
  return wrong ? kBroken : failed;
}

}  // namespace
}  // namespace matchrdma

int main(int argc, char** argv) {
  CLI::App app{
      "matchrdma-xfer: moves a file, or made-up bytes, over a long link that loses packets. With --device to "
      "another process; without, both ends stand in this one, and the link is a model in virtual time."};
  app.set_version_flag("--version", MATCHRDMA_VERSION);
  matchrdma::XferArguments a;
  matchrdma::add_xfer_options(app, a);
  app.footer(
      "Examples: matchrdma-xfer --scheme all --distance 2500km --loss 0.001\n"
      "          matchrdma-xfer --device mlx5_0 --listen 0.0.0.0 --key FILE --output copy\n"
      "          matchrdma-xfer --device mlx5_0 --connect 192.0.2.1 --key FILE --scheme ec file\n"
      "Exit codes: 0 every byte right; 1 a file cannot be read or written, or it did not end; 2 what was typed "
      "is "
      "wrong; 3 WRONG bytes.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : matchrdma::kUsage;
  }
  try {
    return matchrdma::run(a);
  } catch (const std::bad_alloc&) {
    return matchrdma::fail(
        "this machine has no memory for the bytes to move: choose a smaller --size, or a shorter file");
  }
}
