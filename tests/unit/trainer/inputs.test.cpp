#include "inputs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "normal_quantile.hpp"
#include "philox.hpp"
#include "sha256.hpp"

using namespace assay::trainer;

namespace {

std::string hexadecimal(const sha256_digest& digest) {
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string digest_of(const std::string& text, std::size_t piece) {
    sha256 hash;
    for (std::size_t i = 0; i < text.size(); i += piece) hash.update(text.data() + i, std::min(piece, text.size() - i));
    return hexadecimal(hash.finish());
}

constexpr model_shape smoke{1, 32, 16, 2, 2};

}  // namespace

TEST_CASE("philox gives the words that its authors published") {
    // The known-answer vectors of the Random123 distribution for philox4x32, 10 rounds.
    CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == philox_counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
          philox_counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          philox_counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("sha-256 gives the digests of its standard, whatever the pieces") {
    const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    CHECK(digest_of("", 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest_of("abc", 3) == abc);
    CHECK(digest_of("abc", 1) == abc);
    const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    CHECK(digest_of(two_blocks, 56) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    const std::string million(1000000, 'a');
    for (const std::size_t piece : {1000000, 64, 63, 4096})
        CHECK(digest_of(million, piece) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the normal quantile inverts the normal distribution to fifteen digits") {
    // erfc is the C library's own, accurate to an ulp or two.
    for (const double p : {1e-9, 1e-4, 0.01, 0.0749, 0.075, 0.0751, 0.3, 0.5, 0.7, 0.925, 0.99, 0.9999}) {
        const double z = normal_quantile(p);
        CHECK(0.5 * std::erfc(-z / std::sqrt(2.0)) == doctest::Approx(p).epsilon(1e-13));
    }
    CHECK(normal_quantile(0.5) == 0.0);
    CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-15));
    CHECK(normal_quantile(0.25) == -normal_quantile(0.75));
}

TEST_CASE("the logarithm made of exactly rounded operations agrees with the library's") {
    for (double x = 2.4e-10; x < 1.0; x *= 1.37)
        CHECK(exactly_rounded_log(x) == doctest::Approx(std::log(x)).epsilon(1e-14));
}

TEST_CASE("every machine makes the same weights, corpus and batches") {
    // The digests were made by the WebAssembly and x86-64 builds alike; any other value is another generator.
    const auto layout = tensor_layout(smoke);
    std::vector<float> weights(smoke.parameters());
    initial_weights(layout, 42, 0, weights.size(), weights.data());
    sha256 hash;
    hash.update(weights.data(), weights.size() * sizeof(float));
    CHECK(hexadecimal(hash.finish()) == "57b49847328154e83a3cb5dae0a23b8ee5ea5eda3901c95c72777fc9d1923d24");

    std::vector<std::uint8_t> corpus(builtin_corpus_bytes);
    make_builtin_corpus(corpus.data(), builtin_corpus_bytes);
    sha256 corpus_hash;
    corpus_hash.update(corpus.data(), corpus.size());
    CHECK(hexadecimal(corpus_hash.finish()) == "6d69740c163cc74adc279ac1151115ae8e864b98e227966065a6ef9aed684d42");

    sha256 batches_hash;
    for (std::uint32_t index = 0; index < 5; ++index) {
        std::vector<std::int32_t> batch(2 * smoke.tokens());
        make_batch(smoke, 42, corpus.data(), builtin_corpus_bytes, index, batch.data(), batch.data() + smoke.tokens());
        batches_hash.update(batch.data(), batch.size() * sizeof(std::int32_t));
    }
    CHECK(hexadecimal(batches_hash.finish()) == "fe301167e3cfb5919aad0ed406cba755b3875fc178048dd43b11b57682f41e8d");
}

TEST_CASE("initial weights do not depend on the pieces they are made in") {
    const auto layout = tensor_layout(smoke);
    std::vector<float> whole(smoke.parameters());
    initial_weights(layout, 7, 0, whole.size(), whole.data());
    std::vector<float> pieces(whole.size());
    for (std::uint64_t begin = 0; begin < pieces.size(); begin += 1001)
        initial_weights(layout, 7, begin, std::min<std::uint64_t>(begin + 1001, pieces.size()), pieces.data() + begin);
    CHECK(whole == pieces);
}

TEST_CASE("initial weights have the deviations of the model's definition") {
    const model_shape shape{3, 96, 64, 16, 3};
    const auto layout = tensor_layout(shape);
    std::vector<float> weights(shape.parameters());
    initial_weights(layout, 1, 0, weights.size(), weights.data());
    for (const tensor_info& tensor : layout) {
        double sum = 0.0, squares = 0.0;
        for (std::uint64_t i = 0; i < tensor.size; ++i) {
            const double w = weights[tensor.offset + i];
            sum += w;
            squares += w * w;
        }
        const double mean = sum / static_cast<double>(tensor.size);
        const double deviation = std::sqrt(squares / static_cast<double>(tensor.size) - mean * mean);
        CAPTURE(tensor.name);
        if (tensor.name.ends_with(".gain")) {
            CHECK(mean == 1.0);
        } else if (tensor.name.ends_with(".bias")) {
            CHECK(squares == 0.0);
        } else {
            const bool residual = tensor.name.ends_with("proj.weight");
            CHECK(deviation == doctest::Approx(residual ? 0.02 / std::sqrt(6.0) : 0.02).epsilon(0.03));
            CHECK(std::fabs(mean) < 0.001);
        }
    }
}

TEST_CASE("a batch holds windows of the corpus, each target the byte after its token") {
    std::vector<std::uint8_t> corpus(1000);
    for (std::size_t i = 0; i < corpus.size(); ++i) corpus[i] = static_cast<std::uint8_t>(i * 7 % 251);
    std::vector<std::int32_t> tokens(smoke.tokens()), targets(smoke.tokens());
    std::set<std::int32_t> starts;
    for (std::uint32_t index = 0; index < 50; ++index) {
        make_batch(smoke, 3, corpus.data(), 1000, index, tokens.data(), targets.data());
        for (int t = 0; t < smoke.tokens(); ++t) {
            CHECK(targets[t] == (tokens[t] + 7) % 251);
            if (t % smoke.ctx != 0) CHECK(tokens[t] == targets[t - 1]);
        }
        starts.insert(tokens[0]);
    }
    CHECK(starts.size() > 30);
}

TEST_CASE("the shortest corpus has one window only") {
    std::vector<std::uint8_t> corpus(17, 65);
    corpus[16] = 66;
    std::vector<std::int32_t> tokens(smoke.tokens()), targets(smoke.tokens());
    make_batch(smoke, 3, corpus.data(), 17, 9, tokens.data(), targets.data());
    CHECK(targets[15] == 66);
    CHECK(targets[31] == 66);
}

TEST_CASE("a shape that cannot be made is refused with the reason") {
    CHECK(smoke.fault().empty());
    CHECK(model_shape{1, 32, 16, 2, 3}.fault() == "heads (3) does not divide d_model (32)");
    CHECK(model_shape{0, 32, 16, 2, 2}.fault() == "layers is 0, outside 1..96");
    CHECK(model_shape{1, 32, 5000, 2, 2}.fault() == "ctx is 5000, outside 2..4096");
}

TEST_CASE("the built-in corpus reads like text") {
    std::vector<std::uint8_t> corpus(builtin_corpus_bytes);
    make_builtin_corpus(corpus.data(), builtin_corpus_bytes);
    std::size_t letters = 0, spaces = 0;
    for (const std::uint8_t byte : corpus) {
        const bool printable = (byte >= 32 && byte < 127) || byte == '\n';
        REQUIRE(printable);
        letters += byte >= 'a' && byte <= 'z';
        spaces += byte == ' ';
    }
    CHECK(letters > corpus.size() * 6 / 10);
    CHECK(spaces > corpus.size() / 12);
}
