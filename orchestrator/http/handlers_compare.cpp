// /api/v1/compare: may the numbers of two receipts be compared, and what do they say?
#include "analysis/comparability.hpp"
#include "contract/json_writer.hpp"
#include "contract/receipt.hpp"
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "receipt/envelope.hpp"

namespace assay::http {
namespace {

struct opened_receipt {
    receipt document;
    receipt_summary summary;
};

/// The receipt that a query field names; errors name the field.
result<opened_receipt> open_named(api_context& context, const http_request& request, const char* field) {
    const auto id = query_text(request, field);
    const std::string pointer = std::string("?") + field;
    if (!id) return error{error_code::invalid_argument, std::string("The field '") + field + "' is missing", pointer};
    const auto named = [&](error cause) {
        cause.field = pointer;
        return cause;
    };
    auto summary = context.store->find_receipt(receipt_id(*id));
    if (!summary) return named(summary.error());
    const auto file = context.store->receipt_file(receipt_id(*id));
    if (!file) return named(file.error());
    const auto opened = open_envelope(*file);
    if (!opened) return named(opened.error());
    auto document = parse_receipt(opened->receipt_text);
    if (!document) return named(document.error());
    return opened_receipt{std::move(*document), std::move(*summary)};
}

void add_ratio(json_object& out, std::string_view name, const std::string& interval_name,
               const std::optional<compared_ratio>& ratio) {
    if (!ratio) return;
    out.add(name, ratio->value);
    if (ratio->interval95)
        out.raw(
            interval_name,
            json_array().raw(json_number(ratio->interval95->first)).raw(json_number(ratio->interval95->second)).text());
}

}  // namespace

http_response get_comparison(api_context& context, const http_request& request) {
    if (const auto checked = check_query(request, {"a", "b"}); !checked) return problem(checked.error());
    const auto first = open_named(context, request, "a");
    if (!first) return problem(first.error());
    const auto second = open_named(context, request, "b");
    if (!second) return problem(second.error());
    const auto outcome = compare(first->document, second->document);
    json_array differences, reasons;
    for (const auto& each : outcome.differences) {
        const bool blocks = each.kind != difference_kind::conditions;
        differences.raw(json_object()
                            .add("kind", difference_kind_name(each.kind))
                            .add("field", each.field)
                            .add("a", each.first)
                            .add("b", each.second)
                            .add("why", each.why)
                            .add("blocks", blocks)
                            .text());
        if (blocks)
            reasons.raw(json_object()
                            .add("code", each.kind == difference_kind::work ? "different-work" : "no-proof")
                            .add("message", each.field + ": " + each.why)
                            .text());
    }
    json_object document;
    document.add("comparable", outcome.comparable)
        .add("same_work", outcome.same_work)
        .raw("reasons", reasons.text())
        .raw("differences", differences.text());
    add_ratio(document, "ratio", "ratio_interval", outcome.speedup_ratio);
    add_ratio(document, "a_ratio", "a_ratio_interval", outcome.a_ratio);
    add_ratio(document, "b_ratio", "b_ratio_interval", outcome.b_ratio);
    http_response response;
    response.body = document.raw("a", receipt_summary_document(first->summary))
                        .raw("b", receipt_summary_document(second->summary))
                        .text();
    return response;
}

}  // namespace assay::http
