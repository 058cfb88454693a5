#include "analysis/recompute.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/paired_statistics.hpp"
#include "analysis/quadruples.hpp"
#include "analysis/text.hpp"

namespace assay {
namespace {

using optional_figure = std::optional<double>;

class comparison {
  public:
    void figure(std::string pointer, optional_figure stored, optional_figure recomputed) {
        if (stored.has_value() == recomputed.has_value() && (!stored || agree(*stored, *recomputed))) return;
        found_.push_back({std::move(pointer), text_of(stored), text_of(recomputed)});
    }
    void text(std::string pointer, const std::string& stored, const std::string& recomputed) {
        if (stored != recomputed) found_.push_back({std::move(pointer), stored, recomputed});
    }
    std::vector<figure_mismatch> take() { return std::move(found_); }

  private:
    static bool agree(double x, double y) {
        if (x == y) return true;
        // Differences of logarithms near zero carry the rounding of the logarithms themselves.
        const double scale = std::max({std::abs(x), std::abs(y), 1e-3});
        return std::abs(x - y) <= recompute_tolerance * scale;
    }
    static std::string text_of(const optional_figure& value) { return value ? exact_text(*value) : "absent"; }

    std::vector<figure_mismatch> found_;
};

std::string codes_text(const verdict_facts& verdict) {
    std::string out;
    for (const reason& item : verdict.reasons) out += (out.empty() ? "" : ", ") + item.code;
    return out;
}

void compare_analysis(comparison& to, const analysis_facts& stored, const analysis_facts& again) {
    to.figure("/analysis/quadruples", stored.quadruples, again.quadruples);
    to.figure("/analysis/a_median_ms", stored.a_median_ms, again.a_median_ms);
    to.figure("/analysis/b_median_ms", stored.b_median_ms, again.b_median_ms);
    to.figure("/analysis/speedup", stored.speedup, again.speedup);
    const auto part = [](const analysis_facts& facts, bool low) -> optional_figure {
        if (!facts.interval95) return std::nullopt;
        return low ? facts.interval95->first : facts.interval95->second;
    };
    to.figure("/analysis/interval95/0", part(stored, true), part(again, true));
    to.figure("/analysis/interval95/1", part(stored, false), part(again, false));
    to.figure("/analysis/max_loss_drift", stored.max_loss_drift, again.max_loss_drift);
    to.figure("/analysis/repeat_spread/a", stored.repeat_spread_a, again.repeat_spread_a);
    to.figure("/analysis/repeat_spread/b", stored.repeat_spread_b, again.repeat_spread_b);

    std::map<std::string, std::pair<optional_figure, optional_figure>> details;
    for (const auto& [name, value] : stored.details) details[name].first = value;
    for (const auto& [name, value] : again.details) details[name].second = value;
    // A detail that only a newer build computes is not a fault of an older receipt.
    for (const auto& [name, values] : details)
        if (values.first) to.figure("/analysis/details/" + name, values.first, values.second);
}

}  // namespace

std::vector<figure_mismatch> check_figures(const receipt& document, const budgets& bounds) {
    comparison out;
    out.figure("/model/parameters", static_cast<double>(document.model.parameters),
               static_cast<double>(parameter_count(document.model.shape)));
    out.figure("/model/flops_per_step", document.model.flops_per_step, flops_per_step(document.model.shape));
    for (std::size_t i = 0; i < document.arms.size(); ++i) {
        const arm_record& block = document.arms[i];
        const std::string at = "/arms/" + std::to_string(i);
        out.figure(at + "/median_step_ms", block.median_step_ms, block_median_ms(block));
        out.figure(at + "/final_loss", block.final_loss, block_final_loss(block));
    }
    const analysis_facts again = analyse(document);
    compare_analysis(out, document.analysis, again);

    const verdict_facts verdict =
        judge(document, again, stored_gate_outcome(document), bounds, stored_failures(document));
    out.text("/verdict/result", std::string(verdict_name(document.verdict.result)),
             std::string(verdict_name(verdict.result)));
    out.text("/verdict/precision", document.verdict.precision.value_or("absent"), verdict.precision.value_or("absent"));
    out.text("/verdict/reasons", codes_text(document.verdict), codes_text(verdict));
    return out.take();
}

}  // namespace assay
