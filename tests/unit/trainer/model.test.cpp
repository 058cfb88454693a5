#include "model.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>

#include "reference_model.hpp"

using namespace assay::trainer;

namespace {

std::atomic<std::uint64_t> allocations{0};

struct trained {
    std::vector<std::uint8_t> corpus;
    std::unique_ptr<thread_pool> pool;
    std::unique_ptr<model> trainer;

    trained(const model_shape& shape, int threads, std::uint64_t seed = 42, model_mode mode = model_mode::train)
        : corpus(1 << 16), pool(std::make_unique<thread_pool>(threads)) {
        make_builtin_corpus(corpus.data(), static_cast<std::uint32_t>(corpus.size()));
        memory_shortage shortage{};
        trainer =
            model::create(shape, seed, mode, *pool, corpus.data(), static_cast<std::uint32_t>(corpus.size()), shortage);
        REQUIRE(trainer);
    }

    std::vector<float> losses(int steps) {
        std::vector<float> result;
        for (int i = 0; i < steps; ++i) {
            float loss = 0.0f;
            REQUIRE(trainer->step(loss));
            result.push_back(loss);
        }
        return result;
    }

    std::vector<float> parameters() {
        return {trainer->parameters(), trainer->parameters() + trainer->parameter_count()};
    }
};

constexpr model_shape smoke{1, 32, 16, 2, 2};
/// Nothing in it divides a vector, a tile or a block.
constexpr model_shape odd{2, 33, 37, 3, 3};

/// |g - r| / max(|r|, 1e-6 * global norm), norms over a tensor.
void check_gradients(const std::vector<tensor_info>& layout, const float* got, const std::vector<double>& reference) {
    double global = 0.0;
    for (const double r : reference) global += r * r;
    global = std::sqrt(global);
    for (const tensor_info& tensor : layout) {
        double difference = 0.0, size = 0.0;
        for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size; ++i) {
            difference += (got[i] - reference[i]) * (got[i] - reference[i]);
            size += reference[i] * reference[i];
        }
        CAPTURE(tensor.name);
        CHECK(std::sqrt(difference) / std::max(std::sqrt(size), 1e-6 * global) < 1e-4);
    }
}

/// A reference at the weights of a trainer, moved off the symmetric start so that every gradient is exercised.
reference_model<double> reference_at(trained& t) {
    reference_model<double> reference(t.trainer->shape());
    for (std::uint64_t i = 0; i < t.trainer->parameter_count(); ++i) {
        t.trainer->parameters()[i] +=
            0.01f * static_cast<float>(static_cast<int>(i * 2654435761u % 1000) - 500) / 500.0f;
        reference.parameters.push_back(t.trainer->parameters()[i]);
    }
    return reference;
}

}  // namespace

// Not inlined: g++ would otherwise see malloc and free through one of the pair and warn of a mismatch.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
    allocations.fetch_add(1);
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
    std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

TEST_CASE("the reference's gradients agree with finite differences in every tensor") {
    const model_shape shape{2, 12, 5, 2, 3};
    trained t(shape, 1);
    reference_model<double> reference = reference_at(t);
    const std::int32_t* batch = t.trainer->batch(0);
    reference.forward(batch, batch + shape.tokens());
    reference.backward();
    const std::vector<double> gradients = reference.gradients;
    double largest = 0.0;
    for (const double g : gradients) largest = std::max(largest, std::fabs(g));
    for (const tensor_info& tensor : t.trainer->layout()) {
        CAPTURE(tensor.name);
        // A few elements of each tensor; of the token embedding, rows of tokens that the batch holds.
        for (int sample = 0; sample < 4; ++sample) {
            std::uint64_t i = tensor.offset + (tensor.size - 1) * sample / 3;
            if (tensor.name == "wte") i = static_cast<std::uint64_t>(batch[sample]) * shape.d_model + sample;
            double& parameter = reference.parameters[i];
            const double kept = parameter;
            const double h = 1e-5;
            parameter = kept + h;
            const double above = reference.forward(batch, batch + shape.tokens());
            parameter = kept - h;
            const double below = reference.forward(batch, batch + shape.tokens());
            parameter = kept;
            CHECK(std::fabs((above - below) / (2 * h) - gradients[i]) < 1e-7 * std::max(1.0, largest));
        }
    }
}

TEST_CASE("the trainer's loss and gradients agree with the reference") {
    for (const model_shape& shape : {smoke, odd, model_shape{1, 48, 70, 1, 2}}) {
        trained t(shape, 2);
        reference_model<double> reference = reference_at(t);
        const float loss = t.trainer->gradients_only(3);
        const std::int32_t* batch = t.trainer->batch(3);
        const double expected = reference.forward(batch, batch + shape.tokens());
        reference.backward();
        CHECK(loss == doctest::Approx(expected).epsilon(1e-6));
        check_gradients(t.trainer->layout(), t.trainer->gradients(), reference.gradients);
    }
}

TEST_CASE("the first loss is about that of a uniform guess, and training lowers it") {
    trained t({2, 48, 32, 16, 3}, 2);
    const std::vector<float> losses = t.losses(20);
    CHECK(losses[0] == doctest::Approx(std::log(256.0)).epsilon(0.01));
    CHECK(losses.back() < losses.front() - 0.5f);
}

TEST_CASE("any number of threads gives the same bits") {
    trained alone(odd, 1);
    const std::vector<float> losses = alone.losses(5);
    const std::vector<float> parameters = alone.parameters();
    for (const int threads : {2, 3, 8}) {
        trained t(odd, threads);
        CHECK(t.losses(5) == losses);
        CHECK(t.parameters() == parameters);
    }
}

TEST_CASE("reset makes the next step training step 1 again") {
    trained t(smoke, 2);
    const std::vector<float> initial = t.parameters();
    const std::vector<float> first = t.losses(4);
    const std::vector<float> after = t.parameters();
    for (const int warmup : {0, 1, 3}) {
        t.losses(warmup);
        t.trainer->reset();
        CHECK(t.parameters() == initial);
        CHECK(t.losses(4) == first);
        CHECK(t.parameters() == after);
    }
}

TEST_CASE("a step allocates nothing") {
    trained t(odd, 3);
    t.losses(1);
    const std::uint64_t before = allocations.load();
    float loss = 0.0f;
    for (int i = 0; i < 3; ++i) t.trainer->step(loss);
    CHECK(allocations.load() == before);
    auto counted = std::make_unique<int>(1);
    CHECK(allocations.load() == before + 1);
}

TEST_CASE("a slower optimiser lengthens the step and changes no result") {
    trained plain(smoke, 1);
    trained slowed(smoke, 1);
    slowed.trainer->repeat_optimiser(400);
    const auto time_of = [](trained& t) {
        // The least of several: the machine may be busy, never faster than it is.
        double least = 1e9;
        for (int i = 0; i < 10; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            float loss = 0.0f;
            t.trainer->step(loss);
            least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        return least;
    };
    CHECK(time_of(slowed) > 3.0 * time_of(plain));
    CHECK(slowed.parameters() == plain.parameters());
}

TEST_CASE("one update follows AdamW's definition, with the gradient clipped to norm 1") {
    trained t(smoke, 2);
    const std::vector<float> before = t.parameters();
    float loss = 0.0f;
    REQUIRE(t.trainer->step(loss));
    double norm = 0.0;
    const float* g = t.trainer->gradients();
    for (std::uint64_t i = 0; i < before.size(); ++i) norm += double{g[i]} * g[i];
    norm = std::sqrt(norm);
    CHECK(t.trainer->last_gradient_norm() == doctest::Approx(norm).epsilon(1e-5));
    REQUIRE(norm > 1.0);
    for (const tensor_info& tensor : t.trainer->layout()) {
        CAPTURE(tensor.name);
        for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size; i += 1 + tensor.size / 50) {
            const double clipped = g[i] / norm;
            // After the first step both bias-corrected moments are the gradient itself.
            const double change = 3e-4 * clipped / (std::fabs(clipped) + 1e-8);
            const double expected = before[i] * (tensor.decays ? 1.0 - 3e-4 * 0.1 : 1.0) - change;
            CHECK(std::fabs(t.trainer->parameters()[i] - expected) < 2e-7);
        }
    }
}

TEST_CASE("a loss that is not finite stops before the update") {
    trained t(smoke, 1);
    // Every token's embedding is infinite; the position embeddings and all else stay as they are.
    const std::uint64_t embedding = 256 * 32;
    for (std::uint64_t i = 0; i < embedding; ++i) t.trainer->parameters()[i] = INFINITY;
    const std::vector<float> before = t.parameters();
    float loss = 0.0f;
    CHECK_FALSE(t.trainer->step(loss));
    CHECK(t.parameters() == before);
}

TEST_CASE("inputs mode makes the same weights and batches without the trainer's memory") {
    trained whole(smoke, 1);
    trained inputs(smoke, 1, 42, model_mode::inputs);
    CHECK(inputs.parameters() == whole.parameters());
    CHECK(inputs.trainer->batches_sha256(3) == whole.trainer->batches_sha256(3));
    CHECK(inputs.trainer->weights_sha256() == whole.trainer->weights_sha256());
    CHECK(inputs.trainer->gradients() == nullptr);
    CHECK(model::bytes_needed(smoke, 1, model_mode::inputs) * 4 < model::bytes_needed(smoke, 1, model_mode::train));
}

TEST_CASE("digests of the initial weights do not change with training") {
    trained t(smoke, 1);
    const sha256_digest before = t.trainer->weights_sha256();
    t.losses(2);
    CHECK(t.trainer->weights_sha256() == before);
    trained other(smoke, 1, 43);
    CHECK(other.trainer->weights_sha256() != before);
}
