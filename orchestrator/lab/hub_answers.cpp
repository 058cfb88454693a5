#include "lab/hub_answers.hpp"

#include "contract/json_writer.hpp"

namespace assay::lab {
namespace {

int status_of(error_code code) {
    switch (code) {
        case error_code::invalid_argument:
            return 400;
        case error_code::not_found:
            return 404;
        case error_code::conflict:
            return 409;
        case error_code::too_large:
            return 413;
        case error_code::forbidden:
            return 403;
        case error_code::corrupt:
        case error_code::signature_invalid:
        case error_code::unsupported_version:
            return 422;
        case error_code::unavailable:
        case error_code::queue_full:
            return 503;
        default:
            return 500;
    }
}

}  // namespace

http_response json_answer(int status, std::string body) {
    http_response answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
}

http_response problem_answer(const error& cause) {
    const int status = status_of(cause.code);
    json_object body;
    body.add("type", "about:blank")
        .add("status", status)
        .add("title", code_name(cause.code))
        .add("detail", cause.message)
        .add("code", code_name(cause.code));
    if (!cause.field.empty()) body.add("pointer", cause.field);
    if (!cause.remedy.empty()) body.add("remedy", cause.remedy);
    auto answer = json_answer(status, body.text());
    answer.content_type = "application/problem+json";
    return answer;
}

}  // namespace assay::lab
