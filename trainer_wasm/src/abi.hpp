// The narrow C interface between the trainer and its hosts: the page (through Emscripten exports) and the native arm.
//
// One instance of the module holds one model. Every function that can fail returns `abi_ok` (0) or a negative status,
// and `assay_last_error` then holds one sentence that names what was asked and the remedy. Pointers returned are byte
// addresses in the module's memory; they stay valid until the next `assay_create` (memory never grows after it).
//
// The flow of a host:
//   assay_corpus_builtin()  or  assay_corpus_reserve(bytes) and a copy of the text to the address it returns
//   assay_create(...)       arena, weights, optimiser state, pool
//   assay_step() x warm-up; assay_reset(); assay_step() x timed
#pragma once

#include <cstdint>

extern "C" {

/// Status codes shared by every function below.
enum assay_status : int {
    abi_ok = 0,
    abi_bad_argument = -1,   ///< a shape, count or pointer out of range
    abi_out_of_memory = -2,  ///< the arena does not fit; the message states bytes needed and bytes at hand
    abi_no_corpus = -3,      ///< assay_create before a corpus was given, or a corpus shorter than ctx + 1 bytes
    abi_not_created = -4,    ///< a call that needs a model came before assay_create
    abi_not_finite = -5,     ///< the loss or the gradient norm is NaN or infinite
};

/// What assay_create builds.
enum assay_mode : int {
    mode_train = 0,   ///< the whole trainer
    mode_inputs = 1,  ///< initial weights and batches only, for an arm that trains elsewhere (WebGPU)
};

/// One zero-ended UTF-8 sentence about the last failure of this module; empty when there was none.
const char* assay_last_error();

/// Makes the built-in corpus (deterministic pseudo-text, 1 MiB) the current one.
int assay_corpus_builtin();
/// Reserves `bytes` for a corpus that the host copies in; null when it does not fit.
std::uint8_t* assay_corpus_reserve(std::uint32_t bytes);
/// Size in bytes of the current corpus.
std::uint32_t assay_corpus_size();

/// Makes the model. `threads` >= 1 counts the calling thread. The seed is 64 bits in two halves.
/// The whole arena is allocated here; no later call allocates.
int assay_create(int layers, int d_model, int ctx, int batch, int heads, int threads, std::uint32_t seed_low,
                 std::uint32_t seed_high, int mode);

/// Bytes that assay_create would need for this shape (a double, since it may pass 4 GiB), without creating anything.
double assay_bytes_needed(int layers, int d_model, int ctx, int batch, int heads, int threads, int mode);

/// Restores initial weights, zero optimiser state and batch counter 0: the next assay_step is training step 1.
int assay_reset();

/// One training step: batch, forward, loss, backward, clip, AdamW. Writes the mean cross-entropy (nats) of the batch.
int assay_step(float* loss);

/// Forward and backward only, on batch number `batch_index`, leaving gradients in place; for gradient checks.
int assay_gradients_only(std::uint32_t batch_index, float* loss);

/// The flat parameter vector: count of floats, address, address of the gradients (null in mode_inputs).
/// `std::uintptr_t` is 32 or 64 bits wide with the build (Memory64): hosts convert in one place.
double assay_parameter_count();
float* assay_parameters();
float* assay_gradients();

/// The tensors in flat order: wte, wpe, then per layer ln1.gain ln1.bias qkv.weight qkv.bias proj.weight proj.bias
/// ln2.gain ln2.bias fc.weight fc.bias fcproj.weight fcproj.bias, then lnf.gain lnf.bias. Weights are row-major
/// [in, out], qkv.weight is [d, 3d] (q, k, v side by side), wte [256, d], wpe [ctx, d].
int assay_tensor_count();
const char* assay_tensor_name(int index);
double assay_tensor_offset(int index);  ///< in floats, from the start of the flat vector
double assay_tensor_size(int index);    ///< in floats
int assay_tensor_decays(int index);     ///< 1 where AdamW's weight decay applies (matrices and embeddings)

/// Batch number `batch_index` (0 is the first training step's): int32 tokens [batch, ctx], then targets [batch, ctx].
/// A pure function of seed, corpus and index.
const std::int32_t* assay_batch(std::uint32_t batch_index);

/// SHA-256 digests, 32 bytes written to `out`: the initial weights as little-endian f32; batches 0..count-1, each as
/// assay_batch lays it out, little-endian; the corpus.
int assay_weights_sha256(std::uint8_t* out);
int assay_batches_sha256(std::uint32_t count, std::uint8_t* out);
int assay_corpus_sha256(std::uint8_t* out);

/// Test hook: runs the optimiser's arithmetic `repeats` times (1 is normal), the extra passes on a scratch result, so
/// that a test can show that the step's clock covers the update.
int assay_test_repeat_optimizer(int repeats);

/// Nanoseconds spent in each operation during the last step when profiling was switched on (bench only).
int assay_profile_enable(int enabled);
int assay_profile_count();
const char* assay_profile_name(int index);
double assay_profile_milliseconds(int index);

/// 256 bytes of the module's static memory where a host may let the functions above write their results.
std::uint8_t* assay_host_buffer();

/// Milliseconds of one product C[m,n] = A[m,k] B[k,n] in f32 with the model's own packed GEMM, packing included: the
/// mean of `repeats`. Needs no model; uses the calling thread alone. Negative: a status (bench and tests only).
double assay_bench_gemm(int m, int n, int k, int repeats);

/// GFLOP/s of one thread's multiply-adds on registers alone, `rounds` million of them: the peak that a product's speed
/// is a share of (bench only).
double assay_bench_peak(int rounds);

/// Facts about the build and what it chose at run time, as one JSON object (microkernel, relaxed SIMD fused or not).
const char* assay_build_facts();
}
