// The text that the arms train on.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "run/home.hpp"

namespace assay {

/// A corpus that is not the built-in one.
struct corpus {
    std::shared_ptr<const std::string> bytes;
    std::string sha256;
};

inline constexpr std::size_t max_corpus_bytes = std::size_t{256} << 20;

/// Reads a corpus file; it needs at least `min_bytes` (ctx + 1), and at most max_corpus_bytes.
result<corpus> read_corpus_file(const std::string& file, std::size_t min_bytes);

/// A registered corpus by name or by digest: files of the home's corpora folder. A name over HTTP is never a path.
result<corpus> find_registered_corpus(const home_layout& home, std::string_view name_or_sha256, std::size_t min_bytes);

}  // namespace assay
