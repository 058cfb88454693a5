#include "run/corpus.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "receipt/digest.hpp"

namespace assay {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t sha256_hex_length = 64;
constexpr std::size_t max_name_length = 64;

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.size() <= max_name_length && name[0] != '.' &&
           std::all_of(name.begin(), name.end(), [](unsigned char letter) {
               return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
           });
}

}  // namespace

result<corpus> read_corpus_file(const std::string& file, std::size_t min_bytes) {
    std::error_code failure;
    const auto size = fs::file_size(file, failure);
    if (failure)
        return error{error_code::not_found, "The corpus file '" + file + "' cannot be read: " + failure.message(),
                     "/corpus", "Name a readable text file, or leave the option out for the built-in text."};
    if (size < min_bytes || size > max_corpus_bytes)
        return error{size < min_bytes ? error_code::invalid_argument : error_code::too_large,
                     "The corpus file '" + file + "' has " + std::to_string(size) + " bytes; this model takes " +
                         std::to_string(min_bytes) + " to " + std::to_string(max_corpus_bytes),
                     "/corpus", "Use a longer text or a preset with a shorter context."};
    std::ifstream in(file, std::ios::binary);
    auto bytes = std::make_shared<std::string>(size, '\0');
    if (!in.read(bytes->data(), static_cast<std::streamsize>(size)))
        return error{error_code::io_error, "The corpus file '" + file + "' could not be read to its end", "/corpus"};
    std::string digest = sha256_hex(*bytes);
    return corpus{std::move(bytes), std::move(digest)};
}

result<corpus> find_registered_corpus(const home_layout& home, std::string_view name_or_sha256, std::size_t min_bytes) {
    const std::string wanted(name_or_sha256);
    const error unknown{error_code::not_found, "There is no corpus '" + wanted + "' on this machine", "/corpus",
                        "Use 'builtin', or put the file into " + home.corpora().string() + " and name it."};
    if (!is_plain_name(wanted)) return unknown;
    const fs::path named = home.corpora() / wanted;
    std::error_code failure;
    if (fs::is_regular_file(named, failure)) return read_corpus_file(named.string(), min_bytes);
    if (wanted.size() != sha256_hex_length) return unknown;
    for (const auto& entry : fs::directory_iterator(home.corpora(), failure)) {
        if (!entry.is_regular_file(failure)) continue;
        auto candidate = read_corpus_file(entry.path().string(), min_bytes);
        if (candidate && candidate->sha256 == wanted) return candidate;
    }
    return unknown;
}

}  // namespace assay
