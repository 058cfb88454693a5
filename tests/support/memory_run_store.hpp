// A store in memory for tests of what stands above it: simple, unbounded, from one thread at a time.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "run/ports.hpp"

namespace assay::test {

class memory_run_store final : public run_store {
  public:
    result<run_row> enqueue(const run_row& row) override {
        for (const auto& [id, known] : runs)
            if (row.idempotency_key && known.idempotency_key == row.idempotency_key) {
                if (known.request_text == row.request_text) return known;
                return error{error_code::conflict, "The idempotency key was used with another request"};
            }
        return runs.emplace(row.id, row).first->second;
    }
    result<std::optional<run_row>> claim(const machine_id& machine, const std::vector<std::string>&,
                                         std::chrono::seconds) override {
        for (auto& [id, row] : runs)
            if (row.state == run_state::queued) {
                row.state = run_state::running;
                row.machine_id = machine.text();
                ++row.fencing_token;
                return std::optional<run_row>(row);
            }
        return std::optional<run_row>();
    }
    result<run_row> claim_run(const run_id& id, const machine_id& machine, std::chrono::seconds) override {
        auto& row = runs.at(id.text());
        if (row.state != run_state::queued) return error{error_code::conflict, "The run is not queued"};
        row.state = run_state::running;
        row.machine_id = machine.text();
        ++row.fencing_token;
        return row;
    }
    result<void> heartbeat(const run_id&, std::int64_t, std::chrono::seconds) override { return {}; }
    result<void> set_phase(const run_id& id, std::int64_t, std::string_view phase) override {
        runs.at(id.text()).phase = phase;
        return {};
    }
    result<void> finish(const run_id& id, std::int64_t, run_state state, const receipt_summary& summary,
                        std::string_view file_bytes) override {
        runs.at(id.text()).state = state;
        runs.at(id.text()).receipt_id = summary.id;
        return add_receipt(summary, file_bytes);
    }
    result<void> end_without_receipt(const run_id& id, run_state state, std::string_view error_text) override {
        runs.at(id.text()).state = state;
        runs.at(id.text()).error_text = std::string(error_text);
        return {};
    }
    result<run_row> request_cancel(const run_id& id) override {
        const auto found = runs.find(id.text());
        if (found == runs.end()) return error{error_code::not_found, "There is no run '" + id.text() + "'"};
        if (found->second.state == run_state::queued) found->second.state = run_state::cancelled;
        return found->second;
    }
    result<bool> cancel_requested(const run_id& id) override {
        return runs.at(id.text()).state == run_state::cancelled;
    }
    result<std::vector<run_row>> running_on(const machine_id& machine) override {
        std::vector<run_row> found;
        for (const auto& [id, row] : runs)
            if (row.state == run_state::running && row.machine_id == machine.text()) found.push_back(row);
        return found;
    }
    result<std::vector<run_row>> expired_leases() override { return std::vector<run_row>(); }
    result<run_row> find_run(const run_id& id) override {
        const auto found = runs.find(id.text());
        if (found == runs.end()) return error{error_code::not_found, "There is no run '" + id.text() + "'"};
        return found->second;
    }
    result<run_page> list_runs(const run_filter& filter) override {
        run_page page;
        for (auto each = runs.rbegin(); each != runs.rend(); ++each)
            if ((!filter.state || each->second.state == *filter.state) &&
                (!filter.label || each->second.label == filter.label) &&
                (!filter.cursor || each->first < *filter.cursor)) {
                if (static_cast<int>(page.runs.size()) == filter.limit) {
                    page.next = page.runs.back().id;
                    break;
                }
                page.runs.push_back(each->second);
            }
        return page;
    }
    result<void> add_receipt(const receipt_summary& summary, std::string_view file_bytes) override {
        summaries[summary.id] = summary;
        files[summary.id] = file_bytes;
        return {};
    }
    result<std::string> receipt_file(const receipt_id& id) override {
        const auto found = files.find(id.text());
        if (found == files.end()) return error{error_code::not_found, "There is no receipt '" + id.text() + "'"};
        return found->second;
    }
    result<receipt_summary> find_receipt(const receipt_id& id) override {
        const auto found = summaries.find(id.text());
        if (found == summaries.end()) return error{error_code::not_found, "There is no receipt '" + id.text() + "'"};
        return found->second;
    }
    result<receipt_page> list_receipts(const receipt_filter& filter) override {
        receipt_page page;
        for (auto each = summaries.rbegin(); each != summaries.rend(); ++each) {
            const auto& summary = each->second;
            if ((filter.preset && summary.preset != *filter.preset) ||
                (filter.arm_a && summary.arm_a != *filter.arm_a) || (filter.arm_b && summary.arm_b != *filter.arm_b) ||
                (filter.verdict && summary.verdict != *filter.verdict) ||
                (filter.machine && summary.machine_id != *filter.machine) ||
                (filter.since && summary.created_at < *filter.since) ||
                (filter.until && summary.created_at > *filter.until) ||
                (filter.cursor && each->first >= *filter.cursor))
                continue;
            if (static_cast<int>(page.receipts.size()) == filter.limit) {
                page.next = page.receipts.back().id;
                break;
            }
            page.receipts.push_back(summary);
        }
        return page;
    }
    result<std::optional<chain_head>> chain_head_of(const machine_id&) override { return std::optional<chain_head>(); }

    std::map<std::string, run_row> runs;
    std::map<std::string, receipt_summary> summaries;
    std::map<std::string, std::string> files;
};

}  // namespace assay::test
