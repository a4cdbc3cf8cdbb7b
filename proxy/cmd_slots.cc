// matchrdma slots INPUT.json [--plot FILE.svg|FILE.html] [--receiver IP] [--json]
#include <iostream>
#include <memory>

#include "dataplane/base/ip_text.h"
#include "proxy/commands.h"
#include "proxy/json_output.h"
#include "proxy/output_files.h"
#include "proxy/slots_picture.h"
#include "proxy/slots_summary.h"

namespace matchrdma {
namespace {

struct SlotsArguments {
  std::string input, plot, receiver;
  bool json = false;
};

void check(const SlotsArguments& a) {
  if (!a.plot.empty() && !a.plot.ends_with(".svg") && !a.plot.ends_with(".html"))
    stop("--plot " + a.plot + ": no such kind of picture; name a file that ends in .svg or .html", kUsage);
  if (!a.receiver.empty() && !ip_from_text(a.receiver))
    stop("--receiver " + a.receiver + ": not an IP address; write it like 10.2.0.1", kUsage);
  or_stop(check_outputs(a.input, {{"--plot", a.plot}}, "the file"));
  if (auto r = check_writable({{"--plot", a.plot}}); !r) stop(r.error());
}

void keep_receiver(const SlotsArguments& a, std::vector<SlotSeries>& all) {
  if (a.receiver.empty()) return;
  const auto wanted = ip_from_text(a.receiver);
  constexpr size_t kNamed = 8;
  std::string others;
  for (size_t i = 0; i < all.size() && i < kNamed; ++i) others += (i == 0 ? "" : ", ") + all[i].receiver;
  if (all.size() > kNamed) others += ", ...";
  std::erase_if(all, [&](const SlotSeries& s) { return ip_from_text(s.receiver) != wanted; });
  if (all.empty())
    stop("--receiver " + a.receiver + ": has no slots in " + a.input + "; there is: " + others, kUsage);
}

void write_picture(const SlotsArguments& a, const std::vector<SlotSeries>& all) {
  const auto picture = [&](std::ostream& out) {
    out << (a.plot.ends_with(".svg") ? slots_svg(all) : slots_html(all));
  };
  if (auto r = write_file(a.plot, picture); !r) stop(r.error());
}

void run_slots(const SlotsArguments& a) {
  check(a);
  auto read = read_slots(a.input);
  if (!read) stop(read.error());
  std::vector<SlotSeries> all = std::move(*read);
  keep_receiver(a, all);
  if (!a.plot.empty()) write_picture(a, all);
  if (a.json) {
    if (auto r = write_json(summaries_json(all), "-"); !r) stop(r.error());
  } else if (a.plot.empty()) {
    print_summaries(std::cout, all);
  } else if (all.size() > kMostPictures) {
    std::cout << a.plot << ": the " << kMostPictures << " busiest of " << all.size()
              << " receivers; --receiver IP draws another\n";
  }
  if (!std::cout.flush()) stop("(stdout): write failed");
}

}  // namespace

void add_slots_command(CLI::App& app) {
  CLI::App* c = app.add_subcommand("slots", "Sum up or draw what an estimator did, slot by slot");
  auto a = std::make_shared<SlotsArguments>();
  c->add_option("input", a->input,
                "JSON of `matchrdma replay --slots` or `matchrdma ctl --json show slots`; - is stdin")
      ->required();
  c->add_option("--plot", a->plot,
                "Draw a timeline instead: FILE.svg, or FILE.html with the figures beside it");
  c->add_option("--receiver", a->receiver, "Only this receiver");
  c->add_flag("--json", a->json, "Print the figures as JSON");
  c->footer("Example: matchrdma ctl --json show slots | matchrdma slots - --plot slots.html");
  c->callback([a] { run_slots(*a); });
}

}  // namespace matchrdma
