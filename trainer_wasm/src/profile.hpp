// Where a step's time goes, by operation, measured on the calling thread; costs nothing while switched off.
#pragma once

#include <array>
#include <chrono>

namespace assay::trainer {

enum class operation {
    inputs,
    embedding,
    layer_norm,
    gemm_forward,
    attention_forward,
    cross_entropy,
    gemm_input_gradient,
    gemm_weight_gradient,
    attention_backward,
    clip,
    adamw,
    count
};

inline constexpr int operation_count = static_cast<int>(operation::count);
inline constexpr std::array<const char*, operation_count> operation_names = {
    "inputs",        "embedding",       "layer norm",       "gemm forward",       "attention forward",
    "cross-entropy", "gemm input grad", "gemm weight grad", "attention backward", "clip",
    "adamw"};

class profile {
  public:
    void enable(bool enabled) { enabled_ = enabled; }
    void begin_step() {
        if (!enabled_) return;
        milliseconds_.fill(0.0);
        last_ = std::chrono::steady_clock::now();
    }
    /// The time since the last mark went into `what`.
    void mark(operation what) {
        if (!enabled_) return;
        const auto now = std::chrono::steady_clock::now();
        milliseconds_[static_cast<int>(what)] += std::chrono::duration<double, std::milli>(now - last_).count();
        last_ = now;
    }
    double milliseconds(int index) const { return milliseconds_[index]; }

  private:
    bool enabled_ = false;
    std::array<double, operation_count> milliseconds_{};
    std::chrono::steady_clock::time_point last_{};
};

}  // namespace assay::trainer
