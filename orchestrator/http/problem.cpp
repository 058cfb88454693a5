#include "http/problem.hpp"

#include "contract/json_writer.hpp"

namespace assay::http {

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
        case error_code::queue_full:
            return 503;
        case error_code::unauthorized:
            return 401;
        case error_code::forbidden:
            return 403;
        case error_code::unsupported_version:
            return 422;
        case error_code::signature_invalid:
            return 422;
        case error_code::corrupt:
            return 422;
        case error_code::deadline_exceeded:
            return 504;
        case error_code::unavailable:
            return 503;
        default:
            return 500;
    }
}

std::string_view status_phrase(int status) {
    switch (status) {
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 301:
            return "Moved Permanently";
        case 304:
            return "Not Modified";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 421:
            return "Misdirected Request";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Unknown";
    }
}

http_response problem(const error& cause) {
    return problem(status_of(cause.code), cause);
}

http_response problem(int status, const error& cause) {
    json_object document;
    document.add("type", "urn:assay:problem:" + std::string(code_name(cause.code)))
        .add("title", status_phrase(status))
        .add("status", status)
        .add("detail", cause.message)
        .add("code", code_name(cause.code));
    if (!cause.field.empty()) document.add("pointer", cause.field);
    if (!cause.remedy.empty()) document.add("remedy", cause.remedy);
    http_response response;
    response.status = status;
    response.content_type = "application/problem+json";
    response.body = document.text();
    if (status == 401) response.with("WWW-Authenticate", "Bearer realm=\"assay\"");
    if (status == 503 || status == 429) response.with("Retry-After", "5");
    return response;
}

}  // namespace assay::http
