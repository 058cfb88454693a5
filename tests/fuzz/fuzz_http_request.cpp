// The HTTP edge: the request's head as the connection parses it, its target, query, Host and Origin.
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "core/http_message.hpp"
#include "fuzz.hpp"
#include "http/access.hpp"
#include "http/query.hpp"
#include "http/request_target.hpp"

namespace {

namespace beast_http = boost::beast::http;

std::string_view view(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

void check_target(std::string_view raw) {
    const auto target = assay::http::parse_request_target(raw);
    if (!target) return;
    assay::fuzz::must(target->path.starts_with('/'));
    assay::fuzz::must(assay::http::is_utf8(target->path));
    const std::string with_end = target->path + "/";
    assay::fuzz::must(with_end.find("/../") == std::string::npos && with_end.find("/./") == std::string::npos);
    assay::fuzz::must(target->path.find('\0') == std::string::npos && target->path.find('\\') == std::string::npos);
    assay::http_request request;
    request.query = target->query;
    (void)assay::http::check_query(request, {"limit", "cursor", "since"});
    if (const auto limit = assay::http::query_integer(request, "limit", 1, 500, 50))
        assay::fuzz::must(*limit >= 1 && *limit <= 500);
    (void)assay::http::query_time(request, "since");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = assay::fuzz::text_of(data, size);
    static const assay::http::host_policy hosts("127.0.0.1", {"assay.example"});
    beast_http::request_parser<beast_http::string_body> parser;
    parser.header_limit(16 * 1024);
    parser.body_limit(64 * 1024);
    parser.eager(true);
    boost::beast::error_code failed;
    std::size_t at = 0;
    while (at < bytes.size() && !parser.is_done() && !failed) {
        const auto used = parser.put(boost::asio::buffer(bytes.data() + at, bytes.size() - at), failed);
        if (used == 0) break;
        at += used;
    }
    if (parser.is_header_done()) {
        const auto& message = parser.get();
        check_target(view(message.target()));
        const auto host = view(message[beast_http::field::host]);
        if (hosts.allows_host(host)) (void)hosts.allows_origin(view(message[beast_http::field::origin]), host);
    }
    check_target(bytes);
    return 0;
}
