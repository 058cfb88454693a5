#include "http/response_head.hpp"

#include <algorithm>

#include "http/gzip.hpp"
#include "http/media_type.hpp"
#include "http/problem.hpp"
#include "receipt/digest.hpp"

namespace assay::http {
namespace {

constexpr std::size_t min_bytes_to_compress = 1400;    // below, the answer fits one packet anyway
constexpr std::size_t max_bytes_to_tag = 1024 * 1024;  // a digest of more would cost more than it saves

void begin(std::string& head, int status, const head_facts& facts) {
    head.clear();
    if (status == 200) {
        head += "HTTP/1.1 200 OK\r\n";
    } else {
        head.append("HTTP/1.1 ")
            .append(std::to_string(status))
            .append(" ")
            .append(status_phrase(status))
            .append("\r\n");
    }
    head.append("Date: ").append(facts.date).append("\r\n");
    if (!facts.keep_alive) head += "Connection: close\r\n";
}

void add(std::string& head, std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
}

std::string_view without_weak_mark(std::string_view tag) {
    return tag.starts_with("W/") ? tag.substr(2) : tag;
}

const std::string* find_header(const http_response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers)
        if (key == name) return &value;
    return nullptr;
}

}  // namespace

bool etag_matches(std::string_view if_none_match, std::string_view etag) {
    etag = without_weak_mark(etag);
    while (!if_none_match.empty()) {
        const auto comma = if_none_match.find(',');
        auto tag = if_none_match.substr(0, comma);
        if_none_match = comma == std::string_view::npos ? std::string_view() : if_none_match.substr(comma + 1);
        while (tag.starts_with(' ')) tag.remove_prefix(1);
        while (tag.ends_with(' ')) tag.remove_suffix(1);
        if (tag == "*" || without_weak_mark(tag) == etag) return true;
    }
    return false;
}

std::string_view begin_static_response(const static_file& file, const head_facts& facts, std::string& head) {
    if (!file.location.empty()) {
        begin(head, 301, facts);
        head += file.headers;
        head += "Content-Length: 0\r\n\r\n";
        return {};
    }
    const bool compressed = !file.gzip_bytes.empty() && accepts_gzip(facts.accept_encoding);
    const std::string& etag = compressed ? file.gzip_etag : file.etag;
    const bool unchanged = !facts.if_none_match.empty() && etag_matches(facts.if_none_match, etag);
    const std::string& bytes = compressed ? file.gzip_bytes : file.bytes;
    begin(head, unchanged ? 304 : 200, facts);
    head += file.headers;
    add(head, "ETag", etag);
    if (!unchanged) {
        if (compressed) head += "Content-Encoding: gzip\r\n";
        add(head, "Content-Length", std::to_string(bytes.size()));
    }
    head += "\r\n";
    return unchanged || facts.is_head ? std::string_view() : std::string_view(bytes);
}

std::string_view begin_response(http_response& response, const head_facts& facts, std::string& head) {
    if (response.stream) {
        begin(head, response.status, facts);
        add(head, "Content-Type", response.content_type);
        for (const auto& [name, value] : response.headers) add(head, name, value);
        head += "Cache-Control: no-store\r\n";
        head += security_headers(false);
        head += "\r\n";
        return {};
    }
    if (response.status == 200 && !find_header(response, "ETag") && !find_header(response, "Cache-Control") &&
        response.body.size() <= max_bytes_to_tag)
        response.with("ETag", "W/\"" + sha256_hex(response.body).substr(0, 32) + "\"");
    const auto* etag = find_header(response, "ETag");
    if (response.status == 200 && etag && !facts.if_none_match.empty() && etag_matches(facts.if_none_match, *etag)) {
        response.status = 304;
        response.body.clear();
    }
    const bool may_compress = response.body.size() >= min_bytes_to_compress && is_compressible(response.content_type);
    const bool compressed = may_compress && accepts_gzip(facts.accept_encoding);
    if (compressed) response.body = gzip(response.body, 1);
    begin(head, response.status, facts);
    const bool has_content = response.status != 204 && response.status != 304;
    if (has_content) add(head, "Content-Type", response.content_type);
    for (const auto& [name, value] : response.headers) {
        // Another coding is another representation: a strong tag must tell them apart.
        if (compressed && name == "ETag" && !value.starts_with("W/"))
            add(head, name, "W/" + value);
        else
            add(head, name, value);
    }
    if (!find_header(response, "Cache-Control")) add(head, "Cache-Control", "no-cache");
    if (may_compress) add(head, "Vary", "Accept-Encoding");
    if (compressed) add(head, "Content-Encoding", "gzip");
    head += security_headers(response.content_type.starts_with("text/html"));
    if (has_content) add(head, "Content-Length", std::to_string(response.body.size()));
    head += "\r\n";
    return facts.is_head ? std::string_view() : std::string_view(response.body);
}

}  // namespace assay::http
