#include "run/receipt_recorder.hpp"

#include "receipt/digest.hpp"
#include "receipt/envelope.hpp"

namespace assay {

receipt_summary summarise(const receipt& document, std::string file_sha256) {
    receipt_summary out;
    out.id = document.id;
    out.run_id = document.run_id;
    if (document.machine) {
        out.machine_id = document.machine->machine_id;
        out.machine_name = document.machine->hostname;
    }
    out.created_at = document.created_at;
    out.preset = document.request.preset.value_or("custom");
    out.arm_a = document.request.arms.at(0);
    out.arm_b = document.request.arms.at(1);
    out.verdict = verdict_name(document.verdict.result);
    out.evidence = evidence_name(document.evidence);
    out.policy = document.request.policy;
    out.speedup = document.analysis.speedup;
    if (document.analysis.interval95) {
        out.interval_low = document.analysis.interval95->first;
        out.interval_high = document.analysis.interval95->second;
    }
    out.a_median_ms = document.analysis.a_median_ms;
    out.b_median_ms = document.analysis.b_median_ms;
    out.max_loss_drift = document.analysis.max_loss_drift;
    out.repeat_spread_a = document.analysis.repeat_spread_a;
    out.repeat_spread_b = document.analysis.repeat_spread_b;
    out.flops_per_step = document.model.flops_per_step;
    out.label = document.request.label;
    out.precision = document.verdict.precision;
    if (document.browser) out.browser = document.browser->product;
    if (document.adapter && document.adapter->page)
        out.adapter = document.adapter->page->vendor + " " + document.adapter->page->architecture;
    if (!document.verdict.reasons.empty()) out.first_reason = document.verdict.reasons.front().message;
    out.file_sha256 = std::move(file_sha256);
    out.chain_sequence = static_cast<std::int64_t>(document.chain.sequence);
    return out;
}

result<chain_link> receipt_recorder::next_link(const std::string& own_id) const {
    auto ids = files_.list();
    if (!ids) return ids.error();
    // Newest first; files of other machines that were copied here are passed over.
    for (auto id = ids->rbegin(); id != ids->rend(); ++id) {
        if (id->text() == own_id) continue;
        auto bytes = files_.read(*id);
        if (!bytes) return bytes.error();
        auto opened = open_envelope(*bytes);
        if (!opened) continue;
        auto previous = parse_receipt(opened->receipt_text);
        if (!previous || chain_owner(*previous) != identity_.machine_id) continue;
        return chain_link{opened->file_sha256, previous->chain.sequence + 1, identity_.machine_id};
    }
    return chain_link{{}, 0, identity_.machine_id};
}

result<std::optional<recorded_receipt>> receipt_recorder::recorded_for(const run_id& run) const {
    constexpr int newest = 8;  // a run's receipt is its machine's last; files of others may have been copied here since
    auto ids = files_.list();
    if (!ids) return ids.error();
    int left = newest;
    for (auto id = ids->rbegin(); id != ids->rend() && left > 0; ++id, --left) {
        auto bytes = files_.read(*id);
        if (!bytes) return bytes.error();
        auto opened = open_envelope(*bytes);
        if (!opened) continue;
        auto document = parse_receipt(opened->receipt_text);
        if (!document || document->run_id != run.text() || !document->machine ||
            document->machine->machine_id != identity_.machine_id)
            continue;
        auto summary = summarise(*document, opened->file_sha256);
        return std::optional(
            recorded_receipt{std::move(*document), std::move(*bytes), files_.path_of(*id), std::move(summary)});
    }
    return std::optional<recorded_receipt>();
}

result<recorded_receipt> receipt_recorder::record(receipt document) const {
    auto link = next_link(document.id);
    if (!link) return link.error();
    document.chain = *link;
    auto file_bytes = seal(receipt_text(document), identity_.key);
    if (!file_bytes) return file_bytes.error();
    auto path = files_.write(receipt_id(document.id), *file_bytes);
    if (!path) return path.error();
    receipt_summary summary = summarise(document, sha256_hex(*file_bytes));
    return recorded_receipt{std::move(document), std::move(*file_bytes), std::move(*path), std::move(summary)};
}

}  // namespace assay
