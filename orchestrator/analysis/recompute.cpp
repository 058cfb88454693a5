#include "analysis/recompute.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "analysis/paired_statistics.hpp"
#include "analysis/quadruples.hpp"
#include "analysis/text.hpp"

namespace assay {
namespace {

using optional_figure = std::optional<double>;

bool figures_agree(double x, double y) {
    if (x == y) return true;
    // Differences of logarithms near zero carry the rounding of the logarithms themselves.
    const double scale = std::max({std::abs(x), std::abs(y), 1e-3});
    return std::abs(x - y) <= recompute_tolerance * scale;
}

class comparison {
  public:
    void figure(std::string pointer, optional_figure stored, optional_figure recomputed) {
        if (stored.has_value() == recomputed.has_value() && (!stored || figures_agree(*stored, *recomputed))) return;
        found_.push_back({std::move(pointer), text_of(stored), text_of(recomputed)});
    }
    void text(std::string pointer, const std::string& stored, const std::string& recomputed) {
        if (stored != recomputed) found_.push_back({std::move(pointer), stored, recomputed});
    }
    std::vector<figure_mismatch> take() { return std::move(found_); }

  private:
    static std::string text_of(const optional_figure& value) { return value ? exact_text(*value) : "absent"; }

    std::vector<figure_mismatch> found_;
};

// Every number that stands in `text`: digits with a decimal part and an exponent.
std::vector<double> numbers_in(std::string_view text) {
    const auto is_digit = [&text](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    std::vector<double> out;
    for (std::size_t at = 0; at < text.size();) {
        if (!is_digit(at)) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (is_digit(end)) ++end;
        if (end < text.size() && text[end] == '.' && is_digit(end + 1))
            for (++end; is_digit(end);) ++end;
        const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 1 : 0;
        if (end < text.size() && text[end] == 'e' && is_digit(end + 1 + sign))
            for (end += 1 + sign; is_digit(end);) ++end;
        double value = std::numeric_limits<double>::infinity();
        std::from_chars(text.data() + at, text.data() + end, value);
        out.push_back(value);
        at = end;
    }
    return out;
}

// A sentence may be worded otherwise by another build, but it may not state a number that the samples do not give.
void compare_numbers(comparison& to, const std::string& pointer, const std::string& stored, const std::string& again) {
    const std::vector<double> known_list = numbers_in(again);
    const std::set<double> known(known_list.begin(), known_list.end());
    for (const double number : numbers_in(stored)) {
        if (known.contains(number)) continue;
        to.text(pointer, stored, again);
        return;
    }
}

std::optional<double> number_of(const std::string& text) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

// The reasons have the same codes; their facts and sentences must hold as well.
void compare_reasons(comparison& to, const std::vector<reason>& stored, const std::vector<reason>& again) {
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const std::string at = "/verdict/reasons/" + std::to_string(i);
        for (const auto& [name, value] : stored[i].facts) {
            const auto found = again[i].facts.find(name);
            const std::string other = found == again[i].facts.end() ? "absent" : found->second;
            const auto x = number_of(value);
            const auto y = number_of(other);
            if (!(x && y && figures_agree(*x, *y))) to.text(at + "/facts/" + name, value, other);
        }
        compare_numbers(to, at + "/message", stored[i].message, again[i].message);
    }
}

std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
    return out;
}

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
    compare_numbers(to, "/analysis/notes", joined(stored.notes), joined(again.notes));
}

// The sizes are those that the request names; parameters and operations follow from them.
void compare_model(comparison& to, const receipt& document) {
    const auto part = [&](const char* name, int model_shape::*of) {
        to.figure(std::string("/model/") + name, document.model.shape.*of, document.request.model.*of);
    };
    part("layers", &model_shape::layers);
    part("d_model", &model_shape::d_model);
    part("ctx", &model_shape::ctx);
    part("batch", &model_shape::batch);
    part("heads", &model_shape::heads);
    to.figure("/model/parameters", static_cast<double>(document.model.parameters),
              static_cast<double>(parameter_count(document.model.shape)));
    to.figure("/model/flops_per_step", document.model.flops_per_step, flops_per_step(document.model.shape));
}

void compare_block(comparison& to, const std::string& at, const arm_record& block) {
    to.figure(at + "/median_step_ms", block.median_step_ms, block_median_ms(block));
    to.figure(at + "/final_loss", block.final_loss, block_final_loss(block));
    if (block.cold_start_parts_ms.empty()) return;
    double total = 0;
    for (const auto& [name, milliseconds] : block.cold_start_parts_ms) total += milliseconds;
    to.figure(at + "/cold_start_ms", block.cold_start_ms, total);
}

}  // namespace

std::vector<figure_mismatch> check_figures(const receipt& document, const budgets& bounds) {
    comparison out;
    compare_model(out, document);
    for (std::size_t i = 0; i < document.arms.size(); ++i)
        compare_block(out, "/arms/" + std::to_string(i), document.arms[i]);
    const analysis_facts again = analyse(document);
    compare_analysis(out, document.analysis, again);

    const verdict_facts verdict =
        judge(document, again, stored_gate_outcome(document), bounds, stored_failures(document));
    out.text("/verdict/result", std::string(verdict_name(document.verdict.result)),
             std::string(verdict_name(verdict.result)));
    out.text("/verdict/precision", document.verdict.precision.value_or("absent"), verdict.precision.value_or("absent"));
    const std::string codes = codes_text(verdict);
    out.text("/verdict/reasons", codes_text(document.verdict), codes);
    if (codes_text(document.verdict) == codes) compare_reasons(out, document.verdict.reasons, verdict.reasons);
    return out.take();
}

}  // namespace assay
