// matchrdma trace info FILE [--json FILE|-]
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include "dataplane/base/ip_text.h"
#include "pcap/trace_info.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/progress.h"
#include "proxy/table.h"

namespace matchrdma {
namespace {

using Json = nlohmann::ordered_json;
using Align = Table::Align;

struct TraceInfoOptions {
  std::string file;
  std::string json;
};

Json flows_json(const TraceInfo& t) {
  Json flows = Json::array();
  for (const auto& [key, flow] : t.flows) {
    Json f = {{"src", ip_text(key.source)},
              {"dst", ip_text(key.destination)},
              {"dst_qpn", key.destination_qp.v},
              {"packets", flow.packets},
              {"bytes", flow.bytes},
              {"first_psn", nullptr},
              {"last_psn", nullptr}};
    if (flow.first_psn) f["first_psn"] = flow.first_psn->v;
    if (flow.last_psn) f["last_psn"] = flow.last_psn->v;
    flows.push_back(std::move(f));
  }
  return flows;
}

Json trace_json(const TraceInfo& t, const CaptureReader& reader) {
  Json opcodes = Json::object(), reasons = Json::object(), ecn = Json::object(), aeth = Json::object(),
       ports = Json::object();
  for (size_t i = 0; i < t.opcodes.size(); ++i) {
    if (t.opcodes[i] != 0) opcodes[opcode_name(static_cast<uint8_t>(i))] = t.opcodes[i];
    if (t.aeth_syndromes[i] != 0) aeth[aeth_syndrome_name(static_cast<uint8_t>(i))] = t.aeth_syndromes[i];
  }
  for (size_t i = 0; i < t.reasons.n.size(); ++i) {
    if (t.reasons.n[i] != 0) reasons[reason_key(static_cast<Reason>(i))] = t.reasons.n[i];
  }
  for (size_t i = 0; i < t.ecn.size(); ++i) ecn[ecn_name(i)] = t.ecn[i];
  for (const auto& [port, n] : t.udp_source_ports) ports[std::to_string(port)] = n;
  return Json{{"file", reader.name()},
              {"complete", reader.status() == ReadStatus::kEnd},
              {"problem", reader.message()},
              {"packets", t.packets},
              {"bytes", t.bytes},
              {"first_ns", t.first ? Json(t.first->ns) : Json(nullptr)},
              {"duration_ns", t.duration().ns},
              {"roce", t.roce},
              {"icrc_bad", t.icrc_bad},
              {"malformed", t.malformed},
              {"truncated", t.truncated},
              {"not_roce", t.not_roce},
              {"opcodes", std::move(opcodes)},
              {"reasons", std::move(reasons)},
              {"ecn", std::move(ecn)},
              {"aeth", std::move(aeth)},
              {"udp_source_ports", std::move(ports)},
              {"packets_of_unlisted_flows", t.packets_of_unlisted_flows},
              {"flows", flows_json(t)}};
}

void print_section(const char* heading, const Table& table) {
  if (table.empty()) return;
  std::cout << '\n' << heading << '\n';
  table.print(std::cout);
}

void print_totals(const TraceInfo& t, const std::string& name) {
  std::cout << name << '\n';
  Table totals({{"", Align::kLeft}, {"", Align::kRight}});
  totals.add({"packets", thousands(t.packets)});
  totals.add({"bytes on the wire", thousands(t.bytes)});
  totals.add({"duration", duration_text(t.duration().ns)});
  totals.add({"RoCEv2", thousands(t.roce)});
  totals.add({"wrong ICRC", thousands(t.icrc_bad)});
  totals.add({"malformed", thousands(t.malformed)});
  totals.add({"truncated", thousands(t.truncated)});
  totals.add({"not RoCEv2", thousands(t.not_roce)});
  totals.print(std::cout);
}

void print_counts(const TraceInfo& t) {
  Table opcodes({{"opcode"}, {"packets", Align::kRight}});
  Table aeth({{"syndrome"}, {"packets", Align::kRight}});
  for (size_t i = 0; i < t.opcodes.size(); ++i) {
    const auto value = static_cast<uint8_t>(i);
    if (t.opcodes[i] != 0) opcodes.add({opcode_name(value), thousands(t.opcodes[i])});
    if (t.aeth_syndromes[i] != 0) aeth.add({aeth_syndrome_name(value), thousands(t.aeth_syndromes[i])});
  }
  Table ecn({{"ECN"}, {"packets", Align::kRight}});
  for (size_t i = 0; i < t.ecn.size(); ++i) {
    if (t.ecn[i] != 0) ecn.add({ecn_name(i), thousands(t.ecn[i])});
  }
  Table reasons({{"reason"}, {"packets", Align::kRight}, {"meaning"}});
  for (size_t i = 0; i < t.reasons.n.size(); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (t.reasons.n[i] != 0) reasons.add({reason_key(reason), thousands(t.reasons.n[i]), reason_text(reason)});
  }
  Table ports({{"port", Align::kRight}, {"packets", Align::kRight}});
  constexpr size_t kMaxPorts = 20;  // more are in the JSON
  size_t shown = 0;
  for (const auto& [port, n] : t.udp_source_ports) {
    if (shown++ < kMaxPorts) ports.add({std::to_string(port), thousands(n)});
  }
  print_section("Opcodes", opcodes);
  print_section("AETH syndromes (number: credit code, RNR timer code or NAK code)", aeth);
  print_section("ECN of RoCEv2 packets", ecn);
  print_section("Why packets are not acted on", reasons);
  print_section("UDP source ports", ports);
  if (shown > kMaxPorts) std::cout << "  ... and " << thousands(shown - kMaxPorts) << " more (see --json)\n";
}

void print_flows(const TraceInfo& t) {
  Table flows({{"source"},
               {"destination"},
               {"dest QP", Align::kRight},
               {"packets", Align::kRight},
               {"bytes", Align::kRight},
               {"first PSN", Align::kRight},
               {"last PSN", Align::kRight}});
  const auto psn = [](const std::optional<Psn>& p) { return p ? std::to_string(p->v) : std::string("-"); };
  constexpr size_t kMaxRows = 50;  // more are in the JSON
  size_t rows = 0;
  for (const auto& [key, flow] : t.flows) {
    if (rows++ == kMaxRows) break;
    flows.add({ip_text(key.source), ip_text(key.destination), std::to_string(key.destination_qp.v),
               thousands(flow.packets), thousands(flow.bytes), psn(flow.first_psn), psn(flow.last_psn)});
  }
  print_section("Flows (one direction each, PSNs in file order)", flows);
  if (t.flows.size() > kMaxRows) {
    std::cout << "  ... and " << thousands(t.flows.size() - kMaxRows) << " more (see --json)\n";
  }
  if (t.packets_of_unlisted_flows > 0) {
    std::cout << "  " << thousands(t.packets_of_unlisted_flows) << " packets belong to flows behind the first "
              << thousands(TraceInfo::kMaxFlows) << ", which are not listed\n";
  }
}

void run_trace_info(const TraceInfoOptions& o) {
  or_stop(check_outputs(o.file, {{"--json", o.json}}));
  if (auto r = check_writable({{"--json", o.json}}); !r) stop(r.error());
  auto reader = CaptureReader::open(o.file);
  if (!reader) stop(reader.error());
  std::error_code no_size;  // a pipe has none
  const uintmax_t size = std::filesystem::file_size(o.file, no_size);
  TraceInfo info;
  {
    Progress progress("reading " + o.file, no_size ? 0 : size);
    CapturedPacket p;
    while (reader->next(p) == ReadStatus::kPacket) {
      info.add(p);
      progress.update(reader->bytes_read());
    }
  }
  if (o.json != "-") {
    print_totals(info, reader->name());
    print_counts(info);
    print_flows(info);
    if (!std::cout.flush()) stop("(stdout): write failed; the tables are incomplete");
  }
  if (!o.json.empty()) {
    if (auto r = write_json(trace_json(info, *reader), o.json); !r) stop(r.error());
  }
  if (reader->status() == ReadStatus::kError) stop(reader->message());
  if (reader->status() == ReadStatus::kCutOff) std::cerr << "matchrdma: warning: " << reader->message() << '\n';
}

}  // namespace

void add_trace_command(CLI::App& app) {
  CLI::App* trace = app.add_subcommand("trace", "Look into captures and make them");
  trace->require_subcommand(1);
  CLI::App* info = trace->add_subcommand("info", "Count what a pcap or pcapng file holds");
  auto options = std::make_shared<TraceInfoOptions>();
  info->add_option("file", options->file, "Capture of Ethernet frames; - is stdin")->required();
  info->add_option("--json", options->json,
                   "Also write the counts as JSON to this file; - is stdout, without tables");
  info->callback([options] { run_trace_info(*options); });
  add_trace_make_command(*trace);
}

}  // namespace matchrdma
