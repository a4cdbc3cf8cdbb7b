#include "sim/workload/aicb_model.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace matchrdma::sim {
namespace {

constexpr size_t kLayerFields = 12;
constexpr int64_t kMostLayers = 100'000, kMostRanks = 65536;

using Fields = std::vector<std::string_view>;

Fields fields_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  Fields fields;
  for (size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return fields;
}

/// Duty: reads one text from top to bottom and stops at the first mistake, which it puts into words.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  Result<AicbModel> read() {
    if (!header() || !layer_count()) return *error_;
    for (int64_t i = 0; i < layers_; ++i)
      if (!layer(i)) return *error_;
    if (next_line()) {
      wrong("'" + std::string(line_[0]) + "' after the last of " + std::to_string(layers_) + " layers",
            "raise the number in the second line, or remove the line");
      return *error_;
    }
    return std::move(model_);
  }

 private:
  // The next line that is not blank.
  bool next_line() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = fields_of(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (!line_.empty()) return true;
    }
    return false;
  }

  bool wrong(const std::string& found, const std::string& remedy) {
    error_ = Error{file_ + ":" + std::to_string(std::max<size_t>(number_, 1)) + ": " + found + ": " + remedy};
    return false;
  }

  bool number(std::string_view text, const std::string& what, int64_t low, int64_t high, int64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const std::string_view behind(end, static_cast<size_t>(text.data() + text.size() - end));
    // Some writers divide sizes and print 2097152.0.
    const bool whole = behind.empty() || (behind[0] == '.' && behind.find_first_not_of('0', 1) == behind.npos);
    if (error == std::errc() && whole && out >= low && out <= high) return true;
    return wrong(what + " is '" + std::string(text) + "'",
                 "write a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }

  bool header() {
    if (!next_line()) return wrong("the text is empty", "give a workload in AICB's format");
    if (line_.size() == 1 && line_[0].find_first_not_of("0123456789") == std::string_view::npos)
      return wrong("'" + std::string(line_[0]) + "' stands first",
                   "the first line names the policy and the groups, as in 'DATA pp: 1'");
    int64_t tensor = 1, stages = 1;
    for (size_t i = 0; i < line_.size(); ++i) {
      const std::string_view key = line_[i];
      int64_t* const to = key == "model_parallel_NPU_group:" ? &tensor
                          : key == "pp:"                     ? &stages
                          : key == "pp_comm:"                ? &model_.hand_over_bytes
                                                             : nullptr;
      if (to == nullptr) continue;
      const bool bytes = to == &model_.hand_over_bytes;
      const std::string_view value = i + 1 < line_.size() ? line_[i + 1] : std::string_view();
      if (!number(value, std::string(key.substr(0, key.size() - 1)), bytes ? 0 : 1,
                  bytes ? kMostAicbBytes : kMostRanks, *to))
        return false;
    }
    model_.tensor_parallel = static_cast<uint32_t>(tensor);
    model_.pipeline_stages = static_cast<uint32_t>(stages);
    return true;
  }

  bool layer_count() {
    if (!next_line()) return wrong("the text ends here", "the second line says how many layers follow");
    return number(line_[0], "the number of layers", 1, kMostLayers, layers_);
  }

  bool layer(int64_t i) {
    if (!next_line())
      return wrong("the text ends after " + std::to_string(i) + " of " + std::to_string(layers_) + " layers",
                   "add the others, or lower the number in the second line");
    if (line_.size() != kLayerFields)
      return wrong("layer '" + std::string(line_[0]) + "' has " + std::to_string(line_.size()) + " fields",
                   "write " + std::to_string(kLayerFields) +
                       ": name, dep, three times nanoseconds, collective and bytes, nanoseconds of the update");
    AicbLayer l;
    l.name = line_[0];
    if (!phase(2, "forward", l.forward) || !phase(5, "input gradient", l.input_gradient) ||
        !phase(8, "weight gradient", l.weight_gradient) ||
        !number(line_[11], "the update's time", 0, kMostAicbNanos, l.update_ns))
      return false;
    model_.layers.push_back(std::move(l));
    return true;
  }

  bool phase(size_t at, const std::string& name, AicbPhase& p) {
    if (!number(line_[at], "the " + name + "'s time", 0, kMostAicbNanos, p.compute_ns) ||
        !collective(line_[at + 1], name, p) ||
        !number(line_[at + 2], "the " + name + "'s size", 0, kMostAicbBytes, p.bytes))
      return false;
    if ((p.collective == Collective::kNone) == (p.bytes == 0)) return true;
    return wrong("the " + name + " has '" + std::string(line_[at + 1]) + "' with '" +
                     std::string(line_[at + 2]) + "' bytes",
                 "NONE goes with 0 bytes, every other collective with more");
  }

  bool collective(std::string_view word, const std::string& name, AicbPhase& p) {
    constexpr std::pair<std::string_view, Collective> kWords[]{{"NONE", Collective::kNone},
                                                               {"ALLREDUCE", Collective::kAllReduce},
                                                               {"REDUCESCATTER", Collective::kReduceScatter},
                                                               {"ALLGATHER", Collective::kAllGather},
                                                               {"ALLTOALL", Collective::kAllToAll}};
    for (const auto& [text, value] : kWords) {
      if (!word.starts_with(text)) continue;
      const std::string_view group = word.substr(text.size());
      if (!group.empty() && (value == Collective::kNone || (group != "_EP" && group != "_DP_EP"))) continue;
      p.collective = value;
      p.experts = !group.empty();
      return true;
    }
    return wrong("the " + name + "'s collective is '" + std::string(word) + "'",
                 "write NONE, ALLREDUCE, REDUCESCATTER, ALLGATHER or ALLTOALL, with _EP or _DP_EP behind it "
                 "for experts");
  }

  std::string_view rest_;
  const std::string& file_;
  Fields line_;
  size_t number_ = 0;  ///< of that line
  int64_t layers_ = 0;
  AicbModel model_;
  std::optional<Error> error_;
};

}  // namespace

Result<AicbModel> parse_aicb(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

}  // namespace matchrdma::sim
