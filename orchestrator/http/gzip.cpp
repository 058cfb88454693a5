#include "http/gzip.hpp"

#include <zlib.h>

#include <stdexcept>

namespace assay::http {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// True for a weight that is zero: "q=0", "q=0.000".
bool weight_is_zero(std::string_view parameter) {
    parameter = trimmed(parameter);
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return false;
    return parameter.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::string gzip(std::string_view bytes, int level) {
    z_stream stream{};
    constexpr int window_bits = 15 + 16;  // 16 asks zlib for the gzip wrapper
    if (deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib could not start");
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int ended = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (ended != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
    return out;
}

bool accepts_gzip(std::string_view accept_encoding) {
    while (!accept_encoding.empty()) {
        const auto comma = accept_encoding.find(',');
        std::string_view coding = accept_encoding.substr(0, comma);
        accept_encoding = comma == std::string_view::npos ? std::string_view() : accept_encoding.substr(comma + 1);
        const auto semicolon = coding.find(';');
        const auto name = trimmed(coding.substr(0, semicolon));
        if (name != "gzip" && name != "*") continue;
        return semicolon == std::string_view::npos || !weight_is_zero(coding.substr(semicolon + 1));
    }
    return false;
}

}  // namespace assay::http
