#include "config/checks.h"
#include "config/once.h"
#include "config/units.h"

namespace matchrdma {
namespace {

/// `less` must not be more than `more`.
template <class V, class Print>
void at_most(const std::string& less, V a, const std::string& more, V b, Print print, Notes& notes) {
  if (a <= b || !notes.good(less) || !notes.good(more)) return;
  // Told at the key that somebody wrote; the other one may be a default.
  const bool at_less = notes.written(less);
  notes.error(at_less ? less : more,
              at_less ? "is more than " + more + " (" + print(b) + "); lower it, or raise that"
                      : "is less than " + less + " (" + print(a) + "); raise it, or lower that");
}

}  // namespace

void check_limits(const Config& c, Notes& notes) {
  const Limits& l = c.limits;
  const auto count = [](uint64_t n) { return std::to_string(n); };
  const auto time = [](Duration d) { return to_text(d); };
  at_most("limits.custody_soft", l.custody_soft_bytes, "limits.custody_hard", l.custody_hard_bytes, bytes_text,
          notes);
  at_most<uint64_t>("limits.max_owning_flows", l.max_owning_flows, "limits.max_flows", l.max_flows, count,
                    notes);
  at_most<uint64_t>("limits.confirmed_per_flow", l.confirmed_per_flow, "limits.confirmed_entries",
                    l.confirmed_entries, count, notes);
  const Timing& t = c.timing;
  at_most("cnp.port_interval", t.cnp_port_interval, "cnp.min_interval", t.cnp_min_interval, time, notes);
  at_most("timing.probe_interval", t.probe_interval, "timing.peer_timeout", t.peer_timeout, time, notes);
  at_most("timing.lan_reorder_wait", t.lan_reorder_wait, "timing.hold_max", t.hold_max, time, notes);
}

void check_daemon(const Config& c, Notes& notes) {
  if (c.memory.hugepages && c.memory.no_huge && notes.written("memory.hugepages") &&
      notes.written("memory.no-huge"))
    notes.error("memory.no-huge", "stands beside memory.hugepages; keep one of the two");
  if (c.registration && c.metrics && c.registration->listen == *c.metrics)
    notes.error("register.listen", "is the address of metrics.listen too; choose another port");
  if (notes.good("workers.cores") && notes.written("workers.cores") && c.workers.cores.empty())
    notes.error("workers.cores", "names no core; one worker at least is needed, like [1]");
  Once cores("stands at", notes);
  for (size_t i = 0; i < c.workers.cores.size(); ++i)
    if (const std::string core = nth("workers.cores", i); notes.written(core) && notes.good(core))
      cores.use(std::to_string(c.workers.cores[i]), core);
}

}  // namespace matchrdma
