#pragma once
// The evaluation as one page that needs nothing else, and as data.
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "proxy/evaluation.h"

namespace matchrdma {

/// HTML with its pictures (SVG) and style inside.
std::string evaluation_html(const Evaluation& e);
/// One line a run and value: figure,series,x,seed,metric,value.
void write_evaluation_csv(std::ostream& out, const Evaluation& e);
nlohmann::ordered_json evaluation_json(const Evaluation& e);
/// Claims as a table, and where they are missed, for the terminal.
void print_evaluation(std::ostream& out, const Evaluation& e);

}  // namespace matchrdma
