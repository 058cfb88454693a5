// The C interface over one corpus, one pool and one model: the only globals of the trainer, since the interface is that
// of a module which is instantiated once for each model.
#include "abi.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "gemm.hpp"
#include "model.hpp"
#include "platform.hpp"
#include "simd.hpp"
#include "tile_kernel.hpp"

namespace {

using namespace assay::trainer;

struct free_memory {
    void operator()(void* memory) const { std::free(memory); }
};

struct module_state {
    std::string error;
    std::string facts;
    std::unique_ptr<std::uint8_t, free_memory> corpus;
    std::uint32_t corpus_bytes = 0;
    std::unique_ptr<thread_pool> pool;
    std::unique_ptr<model> trainer;
    int repeats = 1;
    bool profiled = false;
};

module_state& state() {
    static module_state instance;
    return instance;
}

int fail(int status, std::string message) {
    state().error = std::move(message);
    return status;
}

int not_created(const char* asked) {
    return fail(abi_not_created, std::string(asked) + " needs a model: call assay_create first");
}

bool reserve_corpus(std::uint32_t bytes) {
    module_state& s = state();
    s.trainer.reset();  // it refers to the corpus
    s.corpus.reset();
    s.corpus_bytes = 0;
    auto* block = static_cast<std::uint8_t*>(std::malloc(bytes > 0 ? bytes : 1));
    if (block == nullptr) {
        fail(abi_out_of_memory, "a corpus of " + std::to_string(bytes) +
                                    " bytes does not fit: " + std::to_string(memory_at_hand()) + " bytes are at hand");
        return false;
    }
    s.corpus.reset(block);
    s.corpus_bytes = bytes;
    return true;
}

int write_digest(const sha256_digest& digest, std::uint8_t* out) {
    if (out == nullptr) return fail(abi_bad_argument, "a digest needs 32 bytes to be written to, not a null pointer");
    std::memcpy(out, digest.data(), digest.size());
    return abi_ok;
}

model_shape make_shape(int layers, int d_model, int ctx, int batch, int heads) {
    return {layers, d_model, ctx, batch, heads};
}

/// One madd whose exact product needs more than 24 bits: fused keeps the low part, two roundings lose it.
bool madd_is_fused() {
    volatile float a = 1.0f + 0x1p-12f;
    volatile float c = -(1.0f + 0x1p-11f);
    const vec result = madd(splat(a), splat(a), splat(c));
    return sum_lanes(result) != 0.0f;
}

bool threads_in_range(int threads) {
    return threads >= 1 && threads <= thread_pool::max_threads;
}

}  // namespace

extern "C" {

const char* assay_last_error() {
    return state().error.c_str();
}

int assay_corpus_builtin() {
    if (!reserve_corpus(builtin_corpus_bytes)) return abi_out_of_memory;
    make_builtin_corpus(state().corpus.get(), builtin_corpus_bytes);
    return abi_ok;
}

std::uint8_t* assay_corpus_reserve(std::uint32_t bytes) {
    return reserve_corpus(bytes) ? state().corpus.get() : nullptr;
}

std::uint32_t assay_corpus_size() {
    return state().corpus_bytes;
}

double assay_bytes_needed(int layers, int d_model, int ctx, int batch, int heads, int threads, int mode) {
    const model_shape shape = make_shape(layers, d_model, ctx, batch, heads);
    if (!shape.fault().empty()) return fail(abi_bad_argument, shape.fault());
    if (!threads_in_range(threads)) return fail(abi_bad_argument, "threads is outside 1..256");
    return static_cast<double>(
        model::bytes_needed(shape, threads, mode == mode_inputs ? model_mode::inputs : model_mode::train));
}

int assay_create(int layers, int d_model, int ctx, int batch, int heads, int threads, std::uint32_t seed_low,
                 std::uint32_t seed_high, int mode) {
    module_state& s = state();
    const model_shape shape = make_shape(layers, d_model, ctx, batch, heads);
    if (const std::string fault = shape.fault(); !fault.empty()) return fail(abi_bad_argument, fault);
    if (mode != mode_train && mode != mode_inputs)
        return fail(abi_bad_argument, "mode is " + std::to_string(mode) + ", neither train (0) nor inputs (1)");
    if (!threads_in_range(threads))
        return fail(abi_bad_argument, "threads is " + std::to_string(threads) + ", outside 1..256");
    if (s.corpus_bytes <= static_cast<std::uint32_t>(ctx))
        return fail(abi_no_corpus, "the corpus has " + std::to_string(s.corpus_bytes) + " bytes; ctx " +
                                       std::to_string(ctx) + " needs " + std::to_string(ctx + 1) + " at least");
    s.trainer.reset();
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
    threads = 1;
#endif
    if (!s.pool || s.pool->threads() != threads) {
        s.pool.reset();
        s.pool = std::make_unique<thread_pool>(threads);
    }
    const std::uint64_t seed = std::uint64_t{seed_high} << 32 | seed_low;
    memory_shortage shortage{};
    s.trainer = model::create(shape, seed, mode == mode_inputs ? model_mode::inputs : model_mode::train, *s.pool,
                              s.corpus.get(), s.corpus_bytes, shortage);
    if (!s.trainer)
        return fail(abi_out_of_memory, "the model needs " + std::to_string(shortage.needed) + " bytes and " +
                                           std::to_string(shortage.at_hand) +
                                           " are at hand: choose a smaller preset, or a build with more memory");
    s.trainer->repeat_optimiser(s.repeats);
    s.trainer->step_profile().enable(s.profiled);
    return abi_ok;
}

int assay_reset() {
    if (!state().trainer) return not_created("assay_reset");
    state().trainer->reset();
    return abi_ok;
}

int assay_step(float* loss) {
    model* trainer = state().trainer.get();
    if (trainer == nullptr) return not_created("assay_step");
    if (trainer->mode() != model_mode::train) return fail(abi_not_created, "this model was made for inputs only");
    float value = 0.0f;
    const bool finite = trainer->step(value);
    if (loss != nullptr) *loss = value;
    if (!finite)
        return fail(abi_not_finite, "step " + std::to_string(trainer->steps_done() + 1) + " gave loss " +
                                        std::to_string(value) + " and gradient norm " +
                                        std::to_string(trainer->last_gradient_norm()));
    return abi_ok;
}

int assay_gradients_only(std::uint32_t batch_index, float* loss) {
    model* trainer = state().trainer.get();
    if (trainer == nullptr) return not_created("assay_gradients_only");
    if (trainer->mode() != model_mode::train) return fail(abi_not_created, "this model was made for inputs only");
    const float value = trainer->gradients_only(batch_index);
    if (loss != nullptr) *loss = value;
    return abi_ok;
}

double assay_parameter_count() {
    return state().trainer ? static_cast<double>(state().trainer->parameter_count()) : 0.0;
}
float* assay_parameters() {
    return state().trainer ? state().trainer->parameters() : nullptr;
}
float* assay_gradients() {
    return state().trainer ? state().trainer->gradients() : nullptr;
}

int assay_tensor_count() {
    return state().trainer ? static_cast<int>(state().trainer->layout().size()) : 0;
}

static const tensor_info* tensor(int index) {
    return index >= 0 && index < assay_tensor_count() ? &state().trainer->layout()[index] : nullptr;
}
const char* assay_tensor_name(int index) {
    return tensor(index) ? tensor(index)->name.c_str() : "";
}
double assay_tensor_offset(int index) {
    return tensor(index) ? static_cast<double>(tensor(index)->offset) : -1.0;
}
double assay_tensor_size(int index) {
    return tensor(index) ? static_cast<double>(tensor(index)->size) : -1.0;
}
int assay_tensor_decays(int index) {
    return tensor(index) != nullptr && tensor(index)->decays ? 1 : 0;
}

const std::int32_t* assay_batch(std::uint32_t batch_index) {
    if (!state().trainer) {
        not_created("assay_batch");
        return nullptr;
    }
    return state().trainer->batch(batch_index);
}

int assay_weights_sha256(std::uint8_t* out) {
    if (!state().trainer) return not_created("assay_weights_sha256");
    return write_digest(state().trainer->weights_sha256(), out);
}

int assay_batches_sha256(std::uint32_t count, std::uint8_t* out) {
    if (!state().trainer) return not_created("assay_batches_sha256");
    return write_digest(state().trainer->batches_sha256(count), out);
}

int assay_corpus_sha256(std::uint8_t* out) {
    if (!state().corpus) return fail(abi_no_corpus, "there is no corpus to hash yet");
    sha256 hash;
    hash.update(state().corpus.get(), state().corpus_bytes);
    return write_digest(hash.finish(), out);
}

int assay_test_repeat_optimizer(int repeats) {
    if (repeats < 1) return fail(abi_bad_argument, "the optimiser runs at least once a step");
    state().repeats = repeats;
    if (state().trainer) state().trainer->repeat_optimiser(repeats);
    return abi_ok;
}

int assay_profile_enable(int enabled) {
    state().profiled = enabled != 0;
    if (state().trainer) state().trainer->step_profile().enable(enabled != 0);
    return abi_ok;
}

int assay_profile_count() {
    return operation_count;
}

const char* assay_profile_name(int index) {
    return index >= 0 && index < operation_count ? operation_names[static_cast<std::size_t>(index)] : "";
}

double assay_profile_milliseconds(int index) {
    if (!state().trainer || index < 0 || index >= operation_count) return 0.0;
    return state().trainer->step_profile().milliseconds(index);
}

std::uint8_t* assay_host_buffer() {
    alignas(16) static std::uint8_t buffer[256];
    return buffer;
}

double assay_bench_gemm(int m, int n, int k, int repeats) {
    if (m < 1 || n < 1 || k < 1 || repeats < 1) return fail(abi_bad_argument, "a product needs positive sizes");
    const std::size_t left = static_cast<std::size_t>(m) * k;
    const std::size_t right = static_cast<std::size_t>(k) * n;
    const std::size_t product = static_cast<std::size_t>(m) * n;
    const std::size_t scratch = gemm_scratch_floats(m, n, k, false);
    auto* block = static_cast<float*>(allocate_block((left + right + product + scratch) * sizeof(float) + 64));
    if (block == nullptr) return fail(abi_out_of_memory, "the product's operands do not fit");
    for (std::size_t i = 0; i < left + right; ++i) block[i] = static_cast<float>(i % 17) * 0.125f - 1.0f;
    thread_pool alone(1);
    const gemm_call call{m, n, k, {block, k}, {block + left, n}, block + left + right};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) gemm(alone, block + left + right + product, call);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    std::free(block);
    return taken.count() / repeats;
}

double assay_bench_peak(int rounds) {
    if (rounds < 1) return fail(abi_bad_argument, "a peak needs one round at least");
    // Ten chains cover the latency of a multiply-add (4 or 5 cycles) on two units.
    vec sums[10] = {};
    const vec factor = splat(0.999f);
    const vec addend = splat(1e-3f);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds * 100000; ++i)
        detail::unrolled<10>([&](auto chain) { sums[chain] = madd(sums[chain], factor, addend); });
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    vec total = splat(0.0f);
    for (const vec& sum : sums) total = total + sum;
    volatile float keep = sum_lanes(total);
    (void)keep;
    return rounds * 1e6 * 2.0 * vec_width / taken.count();
}

const char* assay_build_facts() {
    module_state& s = state();
    s.facts = std::string("{\"simd\":\"") + simd_name + "\",\"microkernel\":\"" + std::to_string(tile_rows) + "x" +
              std::to_string(tile_columns) + "\",\"madd_fused\":" + (madd_is_fused() ? "true" : "false") +
              ",\"pointer_bits\":" + std::to_string(8 * sizeof(void*)) +
              ",\"threads\":" + std::to_string(s.pool ? s.pool->threads() : 1) + "}";
    return s.facts.c_str();
}
}
