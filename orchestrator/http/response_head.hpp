// The bytes before a response's body.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/http_message.hpp"
#include "http/static_files.hpp"

namespace assay::http {

/// What the request asked for that shapes the head.
struct head_facts {
    bool keep_alive = true;
    bool is_head = false;  ///< the method was HEAD
    std::string_view if_none_match;
    std::string_view accept_encoding;
    std::string_view date;
};

/// Writes the head for a served file into `head` and returns the body's bytes, empty for 304, HEAD and redirects.
std::string_view begin_static_response(const static_file& file, const head_facts& facts, std::string& head);

/// The same for a handler's answer. Compresses the body where the caller accepts it and it pays, adds a weak entity tag
/// to successful GETs that lack one, and answers 304 where the caller's tag still holds.
std::string_view begin_response(http_response& response, const head_facts& facts, std::string& head);

/// True where an If-None-Match list holds `etag` (weak comparison, RFC 9110 §13.1.2) or is "*".
bool etag_matches(std::string_view if_none_match, std::string_view etag);

}  // namespace assay::http
