#include "proxy/evaluation_page.h"
#include <ostream>
namespace matchrdma {
std::string evaluation_html(const Evaluation&) { return ""; }
void write_evaluation_csv(std::ostream& out, const Evaluation& e) { for (auto& r : e.runs) for (auto& [n,v] : r.values) out << r.what.figure << ";" << r.what.series << "," << r.what.x << "," << r.what.world.seed << "," << n << "," << v << "," << r.cpu_seconds << "\n"; }
nlohmann::ordered_json evaluation_json(const Evaluation&) { return {}; }
void print_evaluation(std::ostream& out, const Evaluation& e) { for (auto& c : e.claims) out << c.figure << " | " << c.paper << " | " << c.wanted << " | " << c.ours << " | " << (c.met ? "met" : "MISSED") << "\n"; for (auto& f : e.figures) { out << f.what.title << " [" << f.what.metric << "]\n"; for (auto& s : f.series) { out << "   " << s.name << ": "; for (auto& p : s.points) out << p.x << "=" << p.y.mean << "(" << p.y.low << ".." << p.y.high << ") "; out << "\n"; } } }
}
