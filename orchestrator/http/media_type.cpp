#include "http/media_type.hpp"

#include <array>

namespace assay::http {
namespace {

struct known_type {
    std::string_view ending;
    std::string_view media_type;
};

constexpr std::array known_types{
    known_type{".html", "text/html; charset=utf-8"},
    known_type{".js", "text/javascript; charset=utf-8"},
    known_type{".mjs", "text/javascript; charset=utf-8"},
    known_type{".css", "text/css; charset=utf-8"},
    known_type{".json", "application/json"},
    known_type{".map", "application/json"},
    known_type{".wasm", "application/wasm"},
    known_type{".wgsl", "text/wgsl; charset=utf-8"},
    known_type{".txt", "text/plain; charset=utf-8"},
    known_type{".svg", "image/svg+xml"},
    known_type{".png", "image/png"},
    known_type{".ico", "image/x-icon"},
    known_type{".webmanifest", "application/manifest+json"},
    known_type{".woff2", "font/woff2"},
};

}  // namespace

std::string_view media_type_of(std::string_view path) {
    for (const auto& known : known_types)
        if (path.ends_with(known.ending)) return known.media_type;
    return "application/octet-stream";
}

bool is_compressible(std::string_view media_type) {
    return media_type.starts_with("text/") || media_type.starts_with("application/json") ||
           media_type.starts_with("application/problem+json") || media_type.starts_with("application/wasm") ||
           media_type.starts_with("image/svg") || media_type.starts_with("application/manifest");
}

}  // namespace assay::http
