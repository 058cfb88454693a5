#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "attention.hpp"
#include "embedding_loss.hpp"
#include "gemm.hpp"
#include "platform.hpp"

namespace assay::trainer {
namespace {

/// Floats of one task that makes or hashes initial weights.
constexpr std::uint64_t weights_chunk = 1u << 16;

std::size_t thread_scratch_floats(const model_shape& shape) {
    const std::size_t floats = std::max(attention_scratch_floats(shape), optimiser_scratch_floats);
    return (floats + 15) / 16 * 16;
}

/// The packing space of the largest product of a step.
std::size_t gemm_scratch_for(const model_shape& shape) {
    const int n = shape.tokens();
    const int d = shape.d_model;
    std::size_t most = 0;
    const int outputs[][2] = {{d, 3 * d}, {d, d}, {d, 4 * d}, {4 * d, d}, {d, vocabulary_size}, {vocabulary_size, d}};
    for (const auto& [in, out] : outputs) {
        most = std::max(most, gemm_scratch_floats(n, out, in, false));  // forward
        most = std::max(most, gemm_scratch_floats(n, in, out, false));  // input gradient
        most = std::max(most, gemm_scratch_floats(in, out, n, true));   // weight gradient
    }
    return most;
}

}  // namespace

void model::place(arena& memory, const model_shape& shape, int threads, model_mode mode, std::size_t chunks,
                  buffers& all, layer_buffers* layers) {
    const std::size_t n = shape.tokens();
    const std::size_t d = shape.d_model;
    const std::size_t parameters = shape.parameters();
    all.parameters = memory.take<float>(parameters);
    all.tokens = memory.take<std::int32_t>(2 * n);
    if (mode == model_mode::inputs) return;
    all.gradients = memory.take<float>(parameters);
    all.moment1 = memory.take<float>(parameters);
    all.moment2 = memory.take<float>(parameters);
    all.chunk_squares = memory.take<double>(chunks);
    const std::size_t partial = static_cast<std::size_t>(norm_blocks(static_cast<int>(n))) * 2 * d;
    for (int layer = 0; layer < shape.layers; ++layer) {
        layer_buffers b{};
        b.x = memory.take<float>(n * d);
        b.ln1 = memory.take<float>(n * d);
        b.ln1_statistics = memory.take<float>(2 * n);
        b.ln1_partial = memory.take<float>(partial);
        b.qkv = memory.take<float>(3 * n * d);
        b.attention = memory.take<float>(n * d);
        b.attention_statistics = memory.take<float>(attention_statistics_floats(shape));
        b.middle = memory.take<float>(n * d);
        b.ln2 = memory.take<float>(n * d);
        b.ln2_statistics = memory.take<float>(2 * n);
        b.ln2_partial = memory.take<float>(partial);
        b.hidden = memory.take<float>(4 * n * d);
        b.activated = memory.take<float>(4 * n * d);
        if (layers) layers[layer] = b;
    }
    all.last_x = memory.take<float>(n * d);
    all.lnf = memory.take<float>(n * d);
    all.lnf_statistics = memory.take<float>(2 * n);
    all.lnf_partial = memory.take<float>(partial);
    all.logits = memory.take<float>(n * vocabulary_size);
    all.row_losses = memory.take<float>(n);
    all.d_x = memory.take<float>(n * d);
    all.d_branch = memory.take<float>(n * d);
    all.d_qkv = memory.take<float>(3 * n * d);
    all.d_hidden = memory.take<float>(4 * n * d);
    all.gemm_scratch = memory.take<float>(gemm_scratch_for(shape));
    all.thread_scratch = memory.take<float>(thread_scratch_floats(shape) * threads);
}

std::uint64_t model::bytes_needed(const model_shape& shape, int threads, model_mode mode) {
    arena measure(nullptr);
    buffers none{};
    place(measure, shape, threads, mode, optimiser_chunk_count(tensor_layout(shape)), none, nullptr);
    return measure.used() + arena::alignment;
}

model::model(const model_shape& shape, std::uint64_t seed, model_mode mode, thread_pool& pool)
    : shape_(shape), seed_(seed), mode_(mode), pool_(pool), layout_(tensor_layout(shape)) {
    if (mode == model_mode::train) chunks_ = optimiser_chunks(layout_);
    layers_.resize(static_cast<std::size_t>(shape.layers));
}

model::~model() {
    std::free(block_);
}

std::unique_ptr<model> model::create(const model_shape& shape, std::uint64_t seed, model_mode mode, thread_pool& pool,
                                     const std::uint8_t* corpus, std::uint32_t corpus_bytes,
                                     memory_shortage& shortage) {
    const std::uint64_t bytes = bytes_needed(shape, pool.threads(), mode);
    void* block = allocate_block(bytes);
    if (block == nullptr) {
        shortage = {bytes, memory_at_hand()};
        return nullptr;
    }
    std::unique_ptr<model> made(new model(shape, seed, mode, pool));
    made->block_ = block;
    made->corpus_ = corpus;
    made->corpus_bytes_ = corpus_bytes;
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    auto* base =
        reinterpret_cast<std::uint8_t*>((address + arena::alignment - 1) / arena::alignment * arena::alignment);
    arena memory(base);
    place(memory, shape, pool.threads(), mode, made->chunks_.size(), made->buffers_, made->layers_.data());
    if (mode == model_mode::train) {
        for (int layer = 0; layer < shape.layers; ++layer) {
            made->norm_gradients_.push_back(
                {made->layers_[layer].ln1_partial, made->gradient(layer, ln1_gain), made->gradient(layer, ln1_bias)});
            made->norm_gradients_.push_back(
                {made->layers_[layer].ln2_partial, made->gradient(layer, ln2_gain), made->gradient(layer, ln2_bias)});
        }
        const std::uint64_t last = made->layout_[made->layout_.size() - 2].offset;
        float* d_gain = made->buffers_.gradients + last;
        made->norm_gradients_.push_back({made->buffers_.lnf_partial, d_gain, d_gain + shape.d_model});
    }
    made->reset();
    return made;
}

void model::reset() {
    const std::uint64_t count = parameter_count();
    pool_.run(static_cast<std::uint32_t>((count + weights_chunk - 1) / weights_chunk), [&](std::uint32_t index, int) {
        const std::uint64_t begin = index * weights_chunk;
        const std::uint64_t end = std::min(count, begin + weights_chunk);
        initial_weights(layout_, seed_, begin, end, buffers_.parameters + begin);
        if (mode_ != model_mode::train) return;
        std::fill(buffers_.gradients + begin, buffers_.gradients + end, 0.0f);
        std::fill(buffers_.moment1 + begin, buffers_.moment1 + end, 0.0f);
        std::fill(buffers_.moment2 + begin, buffers_.moment2 + end, 0.0f);
    });
    steps_ = 0;
}

float* model::weight(int layer, layer_tensor tensor) {
    return buffers_.parameters + layout_[2 + static_cast<std::size_t>(layer) * layer_tensor_count + tensor].offset;
}

float* model::gradient(int layer, layer_tensor tensor) {
    return buffers_.gradients + layout_[2 + static_cast<std::size_t>(layer) * layer_tensor_count + tensor].offset;
}

const std::int32_t* model::batch(std::uint32_t index) {
    make_batch(shape_, seed_, corpus_, corpus_bytes_, index, buffers_.tokens, buffers_.tokens + shape_.tokens());
    return buffers_.tokens;
}

float model::forward() {
    const int n = shape_.tokens();
    const int d = shape_.d_model;
    const norm_shape rows{n, d};
    float* wte = buffers_.parameters;
    float* wpe = wte + static_cast<std::size_t>(vocabulary_size) * d;
    float* scratch = buffers_.gemm_scratch;
    embedding_forward(pool_, shape_, buffers_.tokens, wte, wpe, layers_[0].x);
    profile_.mark(operation::embedding);
    for (int layer = 0; layer < shape_.layers; ++layer) {
        const layer_buffers& b = layers_[layer];
        float* next = layer + 1 < shape_.layers ? layers_[layer + 1].x : buffers_.last_x;
        layer_norm_forward(pool_, rows, b.x, weight(layer, ln1_gain), weight(layer, ln1_bias), b.ln1, b.ln1_statistics);
        profile_.mark(operation::layer_norm);
        gemm(pool_, scratch,
             {n,
              3 * d,
              d,
              {b.ln1, d},
              {weight(layer, qkv_weight), 3 * d},
              b.qkv,
              {epilogue_kind::add_bias, weight(layer, qkv_bias)}});
        profile_.mark(operation::gemm_forward);
        attention_forward(pool_, shape_, b.qkv, b.attention, b.attention_statistics, buffers_.thread_scratch);
        profile_.mark(operation::attention_forward);
        gemm(pool_, scratch,
             {n,
              d,
              d,
              {b.attention, d},
              {weight(layer, proj_weight), d},
              b.middle,
              {epilogue_kind::bias_residual, weight(layer, proj_bias), b.x}});
        profile_.mark(operation::gemm_forward);
        layer_norm_forward(pool_, rows, b.middle, weight(layer, ln2_gain), weight(layer, ln2_bias), b.ln2,
                           b.ln2_statistics);
        profile_.mark(operation::layer_norm);
        gemm(pool_, scratch,
             {n,
              4 * d,
              d,
              {b.ln2, d},
              {weight(layer, fc_weight), 4 * d},
              b.hidden,
              {epilogue_kind::bias_gelu, weight(layer, fc_bias), nullptr, b.activated}});
        gemm(pool_, scratch,
             {n,
              d,
              4 * d,
              {b.activated, 4 * d},
              {weight(layer, fcproj_weight), d},
              next,
              {epilogue_kind::bias_residual, weight(layer, fcproj_bias), b.middle}});
        profile_.mark(operation::gemm_forward);
    }
    const float* lnf_gain = buffers_.parameters + layout_[layout_.size() - 2].offset;
    layer_norm_forward(pool_, rows, buffers_.last_x, lnf_gain, lnf_gain + d, buffers_.lnf, buffers_.lnf_statistics);
    profile_.mark(operation::layer_norm);
    gemm(pool_, scratch, {n, vocabulary_size, d, {buffers_.lnf, d}, {wte, d, true}, buffers_.logits});
    profile_.mark(operation::gemm_forward);
    const float loss =
        cross_entropy(pool_, n, buffers_.logits, buffers_.tokens + n, buffers_.row_losses);  // leaves its gradient
    profile_.mark(operation::cross_entropy);
    return loss;
}

void model::backward() {
    const int n = shape_.tokens();
    const int d = shape_.d_model;
    const norm_shape rows{n, d};
    float* wte = buffers_.parameters;
    float* d_wte = buffers_.gradients;
    float* d_wpe = d_wte + static_cast<std::size_t>(vocabulary_size) * d;
    float* scratch = buffers_.gemm_scratch;
    float* d_x = buffers_.d_x;
    float* d_branch = buffers_.d_branch;
    // The gradient of a linear map's input, then of its weight (and bias, while packing the output's gradient).
    const auto input_gradient = [&](const float* d_out, int out, const float* weights, int in, float* d_in,
                                    epilogue finish = {}) {
        gemm(pool_, scratch, {n, in, out, {d_out, out}, {weights, out, true}, d_in, finish});
        profile_.mark(operation::gemm_input_gradient);
    };
    const auto weight_gradient = [&](const float* input, int in, const float* d_out, int out, float* d_weight,
                                     float* d_bias) {
        gemm(pool_, scratch, {in, out, n, {input, in, true}, {d_out, out}, d_weight, {}, d_bias});
        profile_.mark(operation::gemm_weight_gradient);
    };

    weight_gradient(buffers_.logits, vocabulary_size, buffers_.lnf, d, d_wte, nullptr);
    gemm(pool_, scratch, {n, d, vocabulary_size, {buffers_.logits, vocabulary_size}, {wte, d}, d_branch});
    profile_.mark(operation::gemm_input_gradient);
    std::fill_n(d_x, static_cast<std::size_t>(n) * d, 0.0f);
    const float* lnf_gain = buffers_.parameters + layout_[layout_.size() - 2].offset;
    layer_norm_backward(pool_, rows, buffers_.last_x, lnf_gain, buffers_.lnf_statistics, d_branch, d_x,
                        buffers_.lnf_partial);
    profile_.mark(operation::layer_norm);
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
        const layer_buffers& b = layers_[layer];
        input_gradient(d_x, d, weight(layer, fcproj_weight), 4 * d, buffers_.d_hidden,
                       {epilogue_kind::gelu_gradient, nullptr, b.hidden});
        weight_gradient(b.activated, 4 * d, d_x, d, gradient(layer, fcproj_weight), gradient(layer, fcproj_bias));
        input_gradient(buffers_.d_hidden, 4 * d, weight(layer, fc_weight), d, d_branch);
        weight_gradient(b.ln2, d, buffers_.d_hidden, 4 * d, gradient(layer, fc_weight), gradient(layer, fc_bias));
        layer_norm_backward(pool_, rows, b.middle, weight(layer, ln2_gain), b.ln2_statistics, d_branch, d_x,
                            b.ln2_partial);
        profile_.mark(operation::layer_norm);
        input_gradient(d_x, d, weight(layer, proj_weight), d, d_branch);
        weight_gradient(b.attention, d, d_x, d, gradient(layer, proj_weight), gradient(layer, proj_bias));
        attention_backward(pool_, shape_, b.qkv, b.attention, b.attention_statistics, d_branch, buffers_.d_qkv,
                           buffers_.thread_scratch);
        profile_.mark(operation::attention_backward);
        input_gradient(buffers_.d_qkv, 3 * d, weight(layer, qkv_weight), d, d_branch);
        weight_gradient(b.ln1, d, buffers_.d_qkv, 3 * d, gradient(layer, qkv_weight), gradient(layer, qkv_bias));
        layer_norm_backward(pool_, rows, b.x, weight(layer, ln1_gain), b.ln1_statistics, d_branch, d_x, b.ln1_partial);
        profile_.mark(operation::layer_norm);
    }
    layer_norm_reduce(pool_, rows, norm_gradients_.data(), static_cast<int>(norm_gradients_.size()));
    profile_.mark(operation::layer_norm);
    embedding_backward(pool_, shape_, buffers_.tokens, d_x, d_wte, d_wpe);
    profile_.mark(operation::embedding);
}

float model::gradients_only(std::uint32_t batch_index) {
    profile_.begin_step();
    batch(batch_index);
    profile_.mark(operation::inputs);
    const float loss = forward();
    backward();
    return loss;
}

bool model::step(float& loss) {
    loss = gradients_only(steps_);
    const optimiser_state state{buffers_.parameters, buffers_.gradients, buffers_.moment1, buffers_.moment2,
                                buffers_.chunk_squares};
    norm_ = gradient_norm(pool_, chunks_, state);
    profile_.mark(operation::clip);
    if (!std::isfinite(loss) || !std::isfinite(norm_)) return false;
    ++steps_;
    adamw_update(pool_, chunks_, state, adamw_settings{}, steps_, norm_, repeats_, buffers_.thread_scratch);
    profile_.mark(operation::adamw);
    return true;
}

sha256_digest model::weights_sha256() const {
    // Made anew rather than read, since training may have moved the parameters on.
    sha256 hash;
    std::vector<float> chunk(weights_chunk);
    for (std::uint64_t begin = 0; begin < parameter_count(); begin += weights_chunk) {
        const std::uint64_t end = std::min(parameter_count(), begin + weights_chunk);
        initial_weights(layout_, seed_, begin, end, chunk.data());
        hash.update(chunk.data(), (end - begin) * sizeof(float));
    }
    return hash.finish();
}

sha256_digest model::batches_sha256(std::uint32_t count) {
    sha256 hash;
    for (std::uint32_t index = 0; index < count; ++index)
        hash.update(batch(index), 2 * sizeof(std::int32_t) * static_cast<std::size_t>(shape_.tokens()));
    return hash.finish();
}

}  // namespace assay::trainer
