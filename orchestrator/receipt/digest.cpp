#include "receipt/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

class sha256_state {
  public:
    sha256_state() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
            throw std::runtime_error("OpenSSL has no SHA-256");
    }
    void add(std::string_view bytes) {
        if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
            throw std::runtime_error("SHA-256 failed");
    }
    sha256_bytes end() {
        sha256_bytes digest{};
        if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) throw std::runtime_error("SHA-256 failed");
        return digest;
    }

  private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::string_view as_text(const sha256_bytes& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

sha256_bytes sha256(std::string_view bytes) {
    sha256_state state;
    state.add(bytes);
    return state.end();
}

std::string sha256_hex(std::string_view bytes) {
    return to_hex(as_text(sha256(bytes)));
}

result<std::string> sha256_hex_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return error{error_code::io_error, "cannot read " + path.string() + ": " + std::strerror(errno)};
    sha256_state state;
    std::vector<char> block(1 << 16);
    while (file) {
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        state.add({block.data(), static_cast<std::size_t>(file.gcount())});
    }
    if (file.bad()) return error{error_code::io_error, "cannot read " + path.string() + " to its end"};
    return to_hex(as_text(state.end()));
}

std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
    constexpr std::size_t block_bytes = 64;
    std::string padded(key.size() > block_bytes ? as_text(sha256(key)) : key);
    padded.resize(block_bytes, '\0');
    std::string inner = padded, outer = padded;
    for (char& byte : inner) byte = static_cast<char>(byte ^ 0x36);
    for (char& byte : outer) byte = static_cast<char>(byte ^ 0x5c);
    const auto inside = sha256(inner.append(bytes));
    return sha256_hex(outer.append(as_text(inside)));
}

std::string to_hex(std::string_view bytes) {
    static constexpr char hex[] = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        out += hex[(static_cast<unsigned char>(c) >> 4) & 15];
        out += hex[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

bool is_sha256_hex(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](std::size_t i) -> unsigned {
            return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
        };
        const unsigned word = byte(0) << 16 | byte(1) << 8 | byte(2);
        out += base64_digits[word >> 18];
        out += base64_digits[(word >> 12) & 63];
        out += at + 1 < bytes.size() ? base64_digits[(word >> 6) & 63] : '=';
        out += at + 2 < bytes.size() ? base64_digits[word & 63] : '=';
    }
    return out;
}

result<std::string> decode_base64(std::string_view text) {
    const error bad{error_code::corrupt, "not canonical base 64"};
    if (text.size() % 4 != 0) return bad;
    std::array<signed char, 256> value{};
    value.fill(-1);
    for (std::size_t i = 0; i < base64_digits.size(); ++i)
        value[static_cast<unsigned char>(base64_digits[i])] = static_cast<signed char>(i);
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        const bool last = at + 4 == text.size();
        const int padding = last ? (text[at + 3] == '=') + (text[at + 3] == '=' && text[at + 2] == '=') : 0;
        unsigned word = 0;
        for (int i = 0; i < 4 - padding; ++i) {
            const int digit = value[static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)])];
            if (digit < 0) return bad;
            word = word << 6 | static_cast<unsigned>(digit);
        }
        word <<= 6 * padding;
        if (padding > 0 && (word & (padding == 1 ? 0xffU : 0xffffU)) != 0) return bad;
        out += static_cast<char>(word >> 16 & 255);
        if (padding < 2) out += static_cast<char>(word >> 8 & 255);
        if (padding < 1) out += static_cast<char>(word & 255);
    }
    return out;
}

}  // namespace assay
