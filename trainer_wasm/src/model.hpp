// The whole trainer: one byte-level GPT, its optimiser, its inputs and its pool, in one arena.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arena.hpp"
#include "inputs.hpp"
#include "normalisation.hpp"
#include "optimiser.hpp"
#include "profile.hpp"
#include "sha256.hpp"
#include "thread_pool.hpp"

namespace assay::trainer {

/// Whether a model trains or only makes inputs for an arm that trains elsewhere.
enum class model_mode { train, inputs };

/// Names what does not fit: bytes that the arena needs and bytes that the machine, or the module's memory, has.
struct memory_shortage {
    std::uint64_t needed;
    std::uint64_t at_hand;
};

class model {
  public:
    /// Bytes of the arena for this shape.
    static std::uint64_t bytes_needed(const model_shape& shape, int threads, model_mode mode);

    /// Makes the arena and fills it: initial weights, zero optimiser state, batch counter 0. The corpus must outlive
    /// the model and be longer than ctx bytes; the shape must be without fault. Null and `shortage` filled when the
    /// arena does not fit.
    static std::unique_ptr<model> create(const model_shape& shape, std::uint64_t seed, model_mode mode,
                                         thread_pool& pool, const std::uint8_t* corpus, std::uint32_t corpus_bytes,
                                         memory_shortage& shortage);
    ~model();
    model(const model&) = delete;
    model& operator=(const model&) = delete;

    void reset();

    /// One step; false when loss or gradient norm is not finite (the parameters are then left as they were).
    bool step(float& loss);
    /// Forward and backward on one batch, gradients left in place.
    float gradients_only(std::uint32_t batch_index);

    const std::int32_t* batch(std::uint32_t index);
    sha256_digest weights_sha256() const;
    sha256_digest batches_sha256(std::uint32_t count);

    const model_shape& shape() const { return shape_; }
    const std::vector<tensor_info>& layout() const { return layout_; }
    model_mode mode() const { return mode_; }
    std::uint64_t parameter_count() const { return shape_.parameters(); }
    float* parameters() { return buffers_.parameters; }
    float* gradients() { return buffers_.gradients; }
    double last_gradient_norm() const { return norm_; }
    std::uint32_t steps_done() const { return steps_; }
    void repeat_optimiser(int repeats) { repeats_ = repeats; }
    profile& step_profile() { return profile_; }

  private:
    /// What one layer keeps from the forward pass for the backward pass.
    struct layer_buffers {
        float *x, *ln1, *ln1_statistics, *ln1_partial, *qkv, *attention, *attention_statistics, *middle, *ln2,
            *ln2_statistics, *ln2_partial, *hidden, *activated;
    };
    struct buffers {
        float *parameters, *gradients, *moment1, *moment2;
        double* chunk_squares;
        std::int32_t* tokens;  ///< [batch, ctx], then targets [batch, ctx]
        float *last_x, *lnf, *lnf_statistics, *lnf_partial, *logits, *row_losses;
        float *d_x, *d_branch, *d_qkv, *d_hidden;
        float *gemm_scratch, *thread_scratch;
    };

    model(const model_shape& shape, std::uint64_t seed, model_mode mode, thread_pool& pool);
    static void place(arena& memory, const model_shape& shape, int threads, model_mode mode, std::size_t chunks,
                      buffers& all, layer_buffers* layers);

    float forward();
    void backward();
    float* weight(int layer, layer_tensor tensor);
    float* gradient(int layer, layer_tensor tensor);

    model_shape shape_;
    std::uint64_t seed_;
    model_mode mode_;
    thread_pool& pool_;
    const std::uint8_t* corpus_ = nullptr;
    std::uint32_t corpus_bytes_ = 0;
    std::vector<tensor_info> layout_;
    std::vector<optimiser_chunk> chunks_;
    std::vector<norm_gradient> norm_gradients_;
    std::vector<layer_buffers> layers_;
    buffers buffers_{};
    void* block_ = nullptr;
    std::uint32_t steps_ = 0;
    int repeats_ = 1;
    double norm_ = 0.0;
    profile profile_;
};

}  // namespace assay::trainer
