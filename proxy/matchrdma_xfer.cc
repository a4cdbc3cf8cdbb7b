// matchrdma-xfer: moves a file or a piece of memory with the host library, and shows what it took. Both ends
// stand in this process, with a made-up link between them.
#include <openssl/evp.h>

#include <fstream>
#include <iostream>

#include "dataplane/base/prng.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/table.h"
#include "proxy/xfer_options.h"

namespace matchrdma {
namespace {

using host::ModelTransferResult;

std::string sha256(Bytes bytes) {
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  MRDMA_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

Result<std::vector<uint8_t>> source(const XferArguments& a, const XferRequest& r) {
  if (a.input.empty()) {
    Prng p(r.settings.seed);
    std::vector<uint8_t> bytes(r.bytes);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(p.next());
    return bytes;
  }
  std::ifstream in(a.input, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) return Error{a.input + ": cannot be read; is it a file, and may you read it?"};
  if (size == 0) return Error{a.input + ": is empty: there is nothing to move"};
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), size))
    return Error{a.input + ": cannot be read to its end"};
  return bytes;
}

struct Row {
  host::XferScheme scheme;
  ModelTransferResult result;
  bool same = false;
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
    t.add({scheme_name(r.scheme), duration_text(r.result.took.ns), decimal(gigabits(bytes, r.result.took), 2),
           thousands(r.result.packets), thousands(r.result.lost), thousands(r.result.resent),
           thousands(r.result.decoded), thousands(r.result.missing_bytes),
           r.same                        ? "right"
           : r.result.missing_bytes != 0 ? "as told"
                                         : "WRONG"});
  std::cout << thousands(bytes) << " bytes, SHA-256 " << sum << "\n\n";
  t.print(std::cout);
}

Result<void> print_json(const std::vector<Row>& rows, uint64_t bytes, const std::string& sum,
                        const std::string& path) {
  nlohmann::ordered_json all = {
      {"bytes", bytes}, {"sha256", sum}, {"transfers", nlohmann::ordered_json::array()}};
  for (const Row& r : rows)
    all["transfers"].push_back({{"scheme", scheme_name(r.scheme)},
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
  return write_json(all, path);
}

/// Zero, or the exit code.
int fail(const std::string& sentence, int code = kFailed) {
  std::cerr << "matchrdma-xfer: " << sentence << "\n";
  return code;
}

int run(const XferArguments& a) {
  auto request = read_xfer(a);
  if (!request) return fail(request.error(), kUsage);
  const std::vector<OutputFile> outputs{{"--output", a.output}, {"--json", a.json}};
  if (auto r = check_outputs(a.input, outputs, "the file to move"); !r) return fail(r.error(), kUsage);
  if (auto r = check_writable(outputs); !r) return fail(r.error());
  const auto from = source(a, *request);
  if (!from) return fail(from.error());
  const std::string sum = sha256(*from);
  std::vector<uint8_t> to(from->size());
  std::vector<Row> rows;
  for (const host::XferScheme scheme : request->schemes) {
    std::fill(to.begin(), to.end(), uint8_t{0});
    request->settings.xfer.scheme = scheme;
    Progress progress(scheme_name(scheme), from->size());
    auto result = host::run_model_transfer(request->settings, *from, to,
                                           [&progress](uint64_t bytes) { progress.update(bytes); });
    progress.finish();
    if (!result) return fail(std::string(scheme_name(scheme)) + ": " + result.error());
    rows.push_back({scheme, *result, sha256(to) == sum});
  }
  const auto arrived = [&to](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(to.data()), static_cast<std::streamsize>(to.size()));
  };
  if (!a.output.empty())
    if (auto r = write_file(a.output, arrived); !r) return fail(r.error());
  if (!a.json.empty())
    if (auto r = print_json(rows, from->size(), sum, a.json); !r) return fail(r.error());
  if (a.json != "-") print(rows, from->size(), sum);
  const bool wrong = std::any_of(rows.begin(), rows.end(),
                                 [](const Row& r) { return !r.same && r.result.missing_bytes == 0; });
  return wrong ? kBroken : 0;
}

}  // namespace
}  // namespace matchrdma

int main(int argc, char** argv) {
  CLI::App app{
      "matchrdma-xfer: moves a file, or made-up bytes, over a long link that loses packets. Both ends stand in "
      "this process; the link is a model in virtual time."};
  app.set_version_flag("--version", MATCHRDMA_VERSION);
  matchrdma::XferArguments a;
  matchrdma::add_xfer_options(app, a);
  app.footer(
      "Example: matchrdma-xfer --scheme all --distance 2500km --loss 0.001\n"
      "Exit codes: 0 every byte right; 1 a file cannot be read or written, or it did not end; 2 what was typed "
      "is "
      "wrong; 3 WRONG bytes.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : matchrdma::kUsage;
  }
  return matchrdma::run(a);
}
