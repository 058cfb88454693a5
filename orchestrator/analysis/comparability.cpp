#include "analysis/comparability.hpp"

#include <cmath>

#include "analysis/paired_statistics.hpp"
#include "analysis/quadruples.hpp"
#include "analysis/sample_statistics.hpp"
#include "analysis/text.hpp"

namespace assay {
namespace {

class differences {
  public:
    void add(difference_kind kind, std::string field, std::string first, std::string second, std::string why) {
        if (first != second)
            found_.push_back({kind, std::move(field), std::move(first), std::move(second), std::move(why)});
    }
    void add(difference_kind kind, std::string field, const std::optional<std::string>& first,
             const std::optional<std::string>& second, std::string why) {
        add(kind, std::move(field), first.value_or("absent"), second.value_or("absent"), std::move(why));
    }
    void always(difference_kind kind, std::string field, std::string first, std::string second, std::string why) {
        found_.push_back({kind, std::move(field), std::move(first), std::move(second), std::move(why)});
    }
    std::vector<difference> take() { return std::move(found_); }

  private:
    std::vector<difference> found_;
};

std::string integer_text(const std::optional<int>& value) {
    return value ? std::to_string(*value) : "absent";
}

void compare_work(const receipt& x, const receipt& y, differences& out) {
    constexpr auto work = difference_kind::work;
    const auto shape = [&](const char* name, int model_shape::*part) {
        out.add(work, std::string("/model/") + name, std::to_string(x.model.shape.*part),
                std::to_string(y.model.shape.*part),
                "Another size is another amount of work, and the gain is a curve over sizes.");
    };
    shape("layers", &model_shape::layers);
    shape("d_model", &model_shape::d_model);
    shape("ctx", &model_shape::ctx);
    shape("batch", &model_shape::batch);
    shape("heads", &model_shape::heads);
    for (std::size_t i = 0; i < 2; ++i)
        if (x.request.arms.size() == 2 && y.request.arms.size() == 2)
            out.add(work, "/request/arms/" + std::to_string(i), x.request.arms[i], y.request.arms[i],
                    i == 0 ? "A ratio depends on its baseline." : "Another arm computes by another path.");
    out.add(work, "/request/steps", std::to_string(x.request.steps), std::to_string(y.request.steps),
            "Losses of runs of unequal length are not the same training, and medians settle with length.");
    out.add(work, "/inputs/weights_sha256", x.inputs.weights_sha256, y.inputs.weights_sha256,
            "Other initial weights: not the same training.");
    out.add(work, "/inputs/batches_sha256", x.inputs.batches_sha256, y.inputs.batches_sha256,
            "Other batches: not the same training.");
    out.add(work, "/inputs/corpus_sha256", x.inputs.corpus_sha256, y.inputs.corpus_sha256,
            "Another text: not the same training.");
    out.add(work, "/request/repeat_optimizer", integer_text(x.request.repeat_optimizer),
            integer_text(y.request.repeat_optimizer), "A test hook makes the update do more work.");
}

void compare_proof(const receipt& x, const receipt& y, differences& out) {
    constexpr auto proof = difference_kind::proof;
    out.add(proof, "/evidence", std::string(evidence_name(x.evidence)), std::string(evidence_name(y.evidence)),
            "Classes of evidence are never mixed: a published figure cannot be checked against its samples.");
    const auto holds = [](const receipt& document) {
        const verdict_result verdict = document.verdict.result;
        return verdict != verdict_result::refused && verdict != verdict_result::failed &&
               verdict != verdict_result::invalid;
    };
    const std::string first(verdict_name(x.verdict.result));
    const std::string second(verdict_name(y.verdict.result));
    if (!holds(x) || !holds(y))
        out.always(proof, "/verdict/result", first, second, "A run with this verdict has no figure that counts.");
    else
        out.add(difference_kind::conditions, "/verdict/result", first, second,
                "One of the two claims less: see its reasons.");
}

std::string adapter_name(const receipt& document) {
    if (!document.adapter || !document.adapter->page) return "absent";
    const page_adapter& page = *document.adapter->page;
    std::string name = page.vendor + " " + page.architecture;
    if (document.adapter->devtools && !document.adapter->devtools->devices.empty())
        name += " (" + document.adapter->devtools->devices.front().device + ")";
    return name;
}

std::string assets_text(const receipt& document) {
    // One digest stands for the code of the page: the first in name order is enough to name, equality needs them all.
    return std::to_string(document.inputs.assets.size()) + " files" +
           (document.inputs.assets.empty() ? "" : ", " + document.inputs.assets.begin()->second.substr(0, 12) + "...");
}

void compare_conditions(const receipt& x, const receipt& y, differences& out) {
    constexpr auto conditions = difference_kind::conditions;
    const auto machine = [](const receipt& document, std::string machine_facts::*part) -> std::optional<std::string> {
        if (!document.machine) return std::nullopt;
        return (*document.machine).*part;
    };
    const auto fact = [&](const char* name, std::string machine_facts::*part, const char* why) {
        out.add(conditions, std::string("/machine/") + name, machine(x, part), machine(y, part), why);
    };
    fact("machine_id", &machine_facts::machine_id, "Another machine.");
    fact("cpu_model", &machine_facts::cpu_model, "The baseline runs on the processor.");
    fact("os_version", &machine_facts::os_version, "Drivers and schedulers come with the system.");
    fact("assay_version", &machine_facts::assay_version, "Another build of the trainer.");
    if (x.inputs.assets != y.inputs.assets)
        out.always(conditions, "/inputs/assets", assets_text(x), assets_text(y),
                   "The served code differs: trainer, shaders or page.");
    const auto product = [](const receipt& document) -> std::optional<std::string> {
        if (!document.browser) return std::nullopt;
        return document.browser->product;
    };
    out.add(conditions, "/browser/product", product(x), product(y), "Engines change what both arms cost.");
    out.add(conditions, "/adapter/page", adapter_name(x), adapter_name(y), "Another GPU, or another view of it.");
    out.add(conditions, "/request/threads", integer_text(x.request.threads), integer_text(y.request.threads),
            "The multi-threaded arms use another number of threads.");
    out.add(conditions, "/request/warmup", std::to_string(x.request.warmup), std::to_string(y.request.warmup),
            "Caches, clocks and compilers are in another state when the timed steps begin.");
    out.add(conditions, "/request/slice_steps", integer_text(x.request.slice_steps), integer_text(y.request.slice_steps),
            "Blocks measured in turn share what disturbs the machine, and find their caches cold at each turn.");
    out.add(conditions, "/request/policy", x.request.policy, y.request.policy, "The gate asked for something else.");
}

// Logarithms, one a quadruple: of the ratio, or of an arm's time.
std::vector<double> logarithms(const receipt& document, char what) {
    std::vector<double> out;
    for (const quadruple& one : complete_quadruples(document)) {
        if (what == 'r')
            out.push_back(one.log_ratio());
        else
            out.push_back(what == 'a' ? (one.log_a[0] + one.log_a[1]) / 2 : (one.log_b[0] + one.log_b[1]) / 2);
    }
    return out;
}

std::optional<compared_ratio> ratio_of(const std::vector<double>& numerator, const std::vector<double>& denominator,
                                       std::optional<double> stated) {
    const auto top = mean(numerator);
    const auto bottom = mean(denominator);
    if (!top || !bottom) {
        // Published receipts have no samples; their stated figures still give a quotient, without an interval.
        if (!stated || !std::isfinite(*stated)) return std::nullopt;
        return compared_ratio{*stated, std::nullopt};
    }
    compared_ratio out{std::exp(*top - *bottom), std::nullopt};
    if (numerator.size() >= min_interval_quadruples && denominator.size() >= min_interval_quadruples)
        if (const auto half = welch_half_width(numerator, denominator, interval_confidence))
            out.interval95 = {std::exp(*top - *bottom - *half), std::exp(*top - *bottom + *half)};
    return out;
}

std::optional<double> quotient(const std::optional<double>& top, const std::optional<double>& bottom) {
    if (!top || !bottom || !(*bottom > 0)) return std::nullopt;
    return *top / *bottom;
}

}  // namespace

std::string_view difference_kind_name(difference_kind kind) {
    switch (kind) {
        case difference_kind::work:
            return "work";
        case difference_kind::proof:
            return "proof";
        case difference_kind::conditions:
            return "conditions";
    }
    return "conditions";
}

comparison compare(const receipt& first, const receipt& second) {
    differences found;
    compare_work(first, second, found);
    compare_proof(first, second, found);
    compare_conditions(first, second, found);
    comparison out;
    out.differences = found.take();
    out.same_work = true;
    out.comparable = true;
    for (const difference& item : out.differences) {
        if (item.kind == difference_kind::work) out.same_work = false;
        if (item.kind != difference_kind::conditions) out.comparable = false;
    }
    const analysis_facts& x = first.analysis;
    const analysis_facts& y = second.analysis;
    out.speedup_ratio = ratio_of(logarithms(second, 'r'), logarithms(first, 'r'), quotient(y.speedup, x.speedup));
    // Times: the first over the second, so that above 1 the second is faster.
    out.a_ratio = ratio_of(logarithms(first, 'a'), logarithms(second, 'a'), quotient(x.a_median_ms, y.a_median_ms));
    out.b_ratio = ratio_of(logarithms(first, 'b'), logarithms(second, 'b'), quotient(x.b_median_ms, y.b_median_ms));
    return out;
}

std::map<std::string, double> comparison_figures(const receipt& first, const receipt& second,
                                                 const comparison& outcome) {
    std::map<std::string, double> out;
    const auto add = [&out](const char* name, const std::optional<double>& value) {
        if (value) out[name] = *value;
    };
    if (outcome.speedup_ratio) {
        out["ratio"] = outcome.speedup_ratio->value;
        if (outcome.speedup_ratio->interval95) {
            out["ratio_low"] = outcome.speedup_ratio->interval95->first;
            out["ratio_high"] = outcome.speedup_ratio->interval95->second;
        }
    }
    if (outcome.a_ratio) out["a_ratio"] = outcome.a_ratio->value;
    if (outcome.b_ratio) out["b_ratio"] = outcome.b_ratio->value;
    add("first_speedup", first.analysis.speedup);
    add("second_speedup", second.analysis.speedup);
    add("drift", second.analysis.max_loss_drift);
    return out;
}

}  // namespace assay
