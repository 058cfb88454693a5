// /api/v1/compare: may the numbers of two receipts be compared, and what do they say?
#include "contract/receipt.hpp"
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "receipt/envelope.hpp"

namespace assay::http {
namespace {

/// The receipt that a query field names; errors name the field.
result<compared_receipt> open_named(api_context& context, const http_request& request, const char* field) {
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
    return compared_receipt{std::move(*document), std::move(*summary)};
}

}  // namespace

http_response get_comparison(api_context& context, const http_request& request) {
    if (const auto checked = check_query(request, {"a", "b"}); !checked) return problem(checked.error());
    const auto first = open_named(context, request, "a");
    if (!first) return problem(first.error());
    const auto second = open_named(context, request, "b");
    if (!second) return problem(second.error());
    http_response response;
    response.body = comparison_document(*first, *second);
    return response;
}

}  // namespace assay::http
