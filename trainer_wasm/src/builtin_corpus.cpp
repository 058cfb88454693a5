// A text to train on that needs no file: the same bytes on every machine, learnable structure at every length scale.
#include "inputs.hpp"
#include "philox.hpp"

namespace assay::trainer {
namespace {

/// Any fixed number serves; another would make another text.
constexpr std::uint64_t corpus_seed = 0xA55A1;

constexpr const char* onsets[] = {"b", "br", "c", "d",  "f", "g",  "gr", "h", "l", "m", "n",
                                  "p", "r",  "s", "st", "t", "th", "tr", "v", "w", "",  ""};
constexpr const char* vowels[] = {"a", "e", "i", "o", "u", "ai", "ea", "ou", "e", "a"};
constexpr const char* codas[] = {"", "", "", "n", "r", "s", "l", "t", "nd", "st", "m", "ck"};

constexpr std::uint32_t word_count = 1500;

/// A stream of 32-bit words from the corpus stream, one lane (`row`) an independent purpose.
class word_source {
  public:
    explicit word_source(std::uint32_t row) : row_(row) {}
    /// Uniform in 0..bound-1, to within bound / 2^32.
    std::uint32_t below(std::uint32_t bound) {
        if (next_ % 4 == 0) words_ = philox_words(corpus_seed, philox_stream::corpus, next_ / 4, row_);
        return static_cast<std::uint32_t>((std::uint64_t{words_[next_++ % 4]} * bound) >> 32);
    }

  private:
    std::uint32_t row_;
    std::uint64_t next_ = 0;
    philox_counter words_{};
};

template <std::size_t Count>
const char* pick(word_source& source, const char* const (&parts)[Count]) {
    return parts[source.below(Count)];
}

std::vector<std::string> make_vocabulary() {
    word_source source(0);
    std::vector<std::string> words;
    words.reserve(word_count);
    for (std::uint32_t i = 0; i < word_count; ++i) {
        // Frequent words, which come first, are short.
        const std::uint32_t syllables = i < 60 ? 1 : 1 + source.below(i < 400 ? 2 : 3);
        std::string word;
        for (std::uint32_t s = 0; s <= syllables - 1; ++s) {
            word += pick(source, onsets);
            word += pick(source, vowels);
            word += pick(source, codas);
        }
        words.push_back(std::move(word));
    }
    return words;
}

}  // namespace

void make_builtin_corpus(std::uint8_t* out, std::uint32_t bytes) {
    const std::vector<std::string> words = make_vocabulary();
    word_source source(1);
    std::uint32_t filled = 0;
    const auto put = [&](const std::string& text) {
        for (char c : text)
            if (filled < bytes) out[filled++] = static_cast<std::uint8_t>(c);
    };
    while (filled < bytes) {
        const std::uint32_t sentences = 2 + source.below(6);
        for (std::uint32_t sentence = 0; sentence < sentences; ++sentence) {
            const std::uint32_t length = 4 + source.below(12);
            for (std::uint32_t i = 0; i < length; ++i) {
                // A product of two uniforms prefers low indices, as word frequencies do.
                const std::uint32_t limit = 1 + source.below(word_count);
                std::string word = words[source.below(limit)];
                if (i == 0 && word[0] >= 'a') word[0] = static_cast<char>(word[0] - 'a' + 'A');
                put(word);
                if (i + 1 < length) put(source.below(12) == 0 ? ", " : " ");
            }
            put(source.below(8) == 0 ? "? " : ". ");
        }
        put("\n\n");
    }
}

}  // namespace assay::trainer
