// The inputs that every arm shares: shape, tensor layout, initial weights, corpus and batches, as pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::trainer {

inline constexpr int vocabulary_size = 256;

/// The model's shape; heads divides d_model.
struct model_shape {
    int layers = 0;
    int d_model = 0;
    int ctx = 0;    ///< tokens of one sequence
    int batch = 0;  ///< sequences of one step
    int heads = 0;

    int tokens() const { return batch * ctx; }
    int head_size() const { return d_model / heads; }
    std::uint64_t parameters() const;
    /// One sentence about the first fault, empty for a shape that can be made.
    std::string fault() const;
};

/// Layer tensors in flat order.
enum layer_tensor {
    ln1_gain,
    ln1_bias,
    qkv_weight,
    qkv_bias,
    proj_weight,
    proj_bias,
    ln2_gain,
    ln2_bias,
    fc_weight,
    fc_bias,
    fcproj_weight,
    fcproj_bias,
    layer_tensor_count
};

/// How a tensor begins.
enum class initial_values { zero, one, normal };

struct tensor_info {
    std::string name;
    std::uint64_t offset;  ///< in floats from the start of the flat vector
    std::uint64_t size;    ///< in floats
    bool decays;           ///< AdamW's weight decay applies
    initial_values start;
    float deviation;  ///< standard deviation where `start` is normal
};

/// Every tensor in flat order: wte, wpe, the layers' twelve each, lnf.gain, lnf.bias.
std::vector<tensor_info> tensor_layout(const model_shape& shape);

/// Writes the initial values of elements begin..end-1 of the flat vector; a pure function of seed and element.
/// Normal weights: quantile of one Philox word an element, rounded to float, times the deviation.
void initial_weights(const std::vector<tensor_info>& layout, std::uint64_t seed, std::uint64_t begin, std::uint64_t end,
                     float* out);

inline constexpr std::uint32_t builtin_corpus_bytes = 1u << 20;

/// The built-in text: `bytes` bytes of pseudo-words with a skewed distribution, in sentences and paragraphs.
void make_builtin_corpus(std::uint8_t* out, std::uint32_t bytes);

/// Batch number `index`: `batch` windows of ctx + 1 bytes, each at a uniformly drawn place of the corpus; tokens are
/// the first ctx bytes, targets the last ctx. Needs corpus_bytes > ctx.
void make_batch(const model_shape& shape, std::uint64_t seed, const std::uint8_t* corpus, std::uint32_t corpus_bytes,
                std::uint32_t index, std::int32_t* tokens, std::int32_t* targets);

}  // namespace assay::trainer
