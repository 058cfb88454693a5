#include "inputs.hpp"

#include <cmath>

#include "normal_quantile.hpp"
#include "philox.hpp"

namespace assay::trainer {

std::uint64_t model_shape::parameters() const {
    const std::uint64_t d = d_model;
    return (vocabulary_size + std::uint64_t(ctx)) * d + layers * (12 * d * d + 13 * d) + 2 * d;
}

std::string model_shape::fault() const {
    const auto outside = [](const char* name, int value, int low, int high) {
        return std::string(name) + " is " + std::to_string(value) + ", outside " + std::to_string(low) + ".." +
               std::to_string(high);
    };
    if (layers < 1 || layers > 96) return outside("layers", layers, 1, 96);
    if (d_model < 8 || d_model > 4096) return outside("d_model", d_model, 8, 4096);
    if (ctx < 2 || ctx > 4096) return outside("ctx", ctx, 2, 4096);
    if (batch < 1 || batch > 1024) return outside("batch", batch, 1, 1024);
    if (heads < 1 || heads > 64) return outside("heads", heads, 1, 64);
    if (d_model % heads != 0)
        return "heads (" + std::to_string(heads) + ") does not divide d_model (" + std::to_string(d_model) + ")";
    return {};
}

std::vector<tensor_info> tensor_layout(const model_shape& shape) {
    const std::uint64_t d = shape.d_model;
    const float deviation = 0.02f;
    // Residual projections start smaller so that the sum over 2L branches keeps its variance (GPT-2).
    const float residual_deviation = static_cast<float>(0.02 / std::sqrt(2.0 * shape.layers));
    std::vector<tensor_info> layout;
    std::uint64_t offset = 0;
    const auto add = [&](std::string name, std::uint64_t size, initial_values start, float tensor_deviation = 0.0f) {
        layout.push_back({std::move(name), offset, size, start == initial_values::normal, start, tensor_deviation});
        offset += size;
    };
    add("wte", vocabulary_size * d, initial_values::normal, deviation);
    add("wpe", shape.ctx * d, initial_values::normal, deviation);
    for (int layer = 0; layer < shape.layers; ++layer) {
        const std::string prefix = "layer" + std::to_string(layer) + ".";
        add(prefix + "ln1.gain", d, initial_values::one);
        add(prefix + "ln1.bias", d, initial_values::zero);
        add(prefix + "qkv.weight", 3 * d * d, initial_values::normal, deviation);
        add(prefix + "qkv.bias", 3 * d, initial_values::zero);
        add(prefix + "proj.weight", d * d, initial_values::normal, residual_deviation);
        add(prefix + "proj.bias", d, initial_values::zero);
        add(prefix + "ln2.gain", d, initial_values::one);
        add(prefix + "ln2.bias", d, initial_values::zero);
        add(prefix + "fc.weight", 4 * d * d, initial_values::normal, deviation);
        add(prefix + "fc.bias", 4 * d, initial_values::zero);
        add(prefix + "fcproj.weight", 4 * d * d, initial_values::normal, residual_deviation);
        add(prefix + "fcproj.bias", d, initial_values::zero);
    }
    add("lnf.gain", d, initial_values::one);
    add("lnf.bias", d, initial_values::zero);
    return layout;
}

void initial_weights(const std::vector<tensor_info>& layout, std::uint64_t seed, std::uint64_t begin, std::uint64_t end,
                     float* out) {
    for (const tensor_info& tensor : layout) {
        const std::uint64_t first = tensor.offset > begin ? tensor.offset : begin;
        const std::uint64_t last = tensor.offset + tensor.size < end ? tensor.offset + tensor.size : end;
        if (first >= last) continue;
        if (tensor.start != initial_values::normal) {
            const float value = tensor.start == initial_values::one ? 1.0f : 0.0f;
            for (std::uint64_t i = first; i < last; ++i) out[i - begin] = value;
            continue;
        }
        // Element i takes word i % 4 of counter i / 4, i counted over the whole flat vector.
        philox_counter words{};
        std::uint64_t known = ~std::uint64_t{0};
        for (std::uint64_t i = first; i < last; ++i) {
            if (i / 4 != known) {
                known = i / 4;
                words = philox_words(seed, philox_stream::weights, known);
            }
            const double z = normal_quantile(uniform_from_word(words[i % 4]));
            out[i - begin] = static_cast<float>(z) * tensor.deviation;
        }
    }
}

void make_batch(const model_shape& shape, std::uint64_t seed, const std::uint8_t* corpus, std::uint32_t corpus_bytes,
                std::uint32_t index, std::int32_t* tokens, std::int32_t* targets) {
    const std::uint64_t places = corpus_bytes - static_cast<std::uint32_t>(shape.ctx);
    for (int row = 0; row < shape.batch; ++row) {
        const std::uint32_t word =
            philox_words(seed, philox_stream::batches, index, static_cast<std::uint32_t>(row))[0];
        const std::uint8_t* window = corpus + ((word * places) >> 32);
        for (int i = 0; i < shape.ctx; ++i) {
            tokens[row * shape.ctx + i] = window[i];
            targets[row * shape.ctx + i] = window[i + 1];
        }
    }
}

}  // namespace assay::trainer
