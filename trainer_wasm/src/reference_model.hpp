// The same model written plainly, in one precision chosen by the caller (double in tests), with neither blocking nor
// vectors nor threads: what the fast trainer and every other arm are checked against. Pre-LayerNorm GPT-2
// blocks (Radford et al., 2019), tanh-form GELU, tied embedding, mean cross-entropy.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "inputs.hpp"

namespace assay::trainer {

template <class Real>
class reference_model {
  public:
    explicit reference_model(const model_shape& shape) : shape_(shape), layout_(tensor_layout(shape)) {}

    std::vector<Real> parameters;
    std::vector<Real> gradients;

    /// Mean cross-entropy of one batch; keeps what `backward` needs.
    Real forward(const std::int32_t* tokens, const std::int32_t* targets) {
        tokens_ = tokens;
        targets_ = targets;
        const int n = shape_.tokens();
        const int d = shape_.d_model;
        layers_.assign(static_cast<std::size_t>(shape_.layers), {});
        std::vector<Real> x(static_cast<std::size_t>(n) * d);
        for (int t = 0; t < n; ++t)
            for (int j = 0; j < d; ++j)
                x[t * d + j] = parameter(0)[tokens[t] * d + j] + parameter(1)[t % shape_.ctx * d + j];
        for (int l = 0; l < shape_.layers; ++l) {
            layer& b = layers_[l];
            b.x = x;
            b.ln1 = normalise(b.x, at(l, ln1_gain), at(l, ln1_bias));
            b.qkv = linear(b.ln1, d, at(l, qkv_weight), at(l, qkv_bias), 3 * d);
            b.attention = attend(b);
            b.middle = linear(b.attention, d, at(l, proj_weight), at(l, proj_bias), d);
            for (std::size_t i = 0; i < x.size(); ++i) b.middle[i] += b.x[i];
            b.ln2 = normalise(b.middle, at(l, ln2_gain), at(l, ln2_bias));
            b.hidden = linear(b.ln2, d, at(l, fc_weight), at(l, fc_bias), 4 * d);
            b.activated = b.hidden;
            for (Real& h : b.activated) h = Real(0.5) * h * (1 + std::tanh(inner(h)));
            x = linear(b.activated, 4 * d, at(l, fcproj_weight), at(l, fcproj_bias), d);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += b.middle[i];
        }
        last_ = x;
        lnf_ = normalise(last_, layout_.size() - 2, layout_.size() - 1);
        probabilities_.assign(static_cast<std::size_t>(n) * vocabulary_size, 0);
        Real loss = 0;
        for (int t = 0; t < n; ++t) {
            Real* p = &probabilities_[static_cast<std::size_t>(t) * vocabulary_size];
            Real largest = -INFINITY;
            for (int v = 0; v < vocabulary_size; ++v) {
                for (int j = 0; j < d; ++j) p[v] += lnf_[t * d + j] * parameter(0)[v * d + j];
                largest = std::max(largest, p[v]);
            }
            Real sum = 0;
            const Real target = p[targets[t]];
            for (int v = 0; v < vocabulary_size; ++v) sum += p[v] = std::exp(p[v] - largest);
            for (int v = 0; v < vocabulary_size; ++v) p[v] /= sum;
            loss += std::log(sum) + largest - target;
        }
        return loss / n;
    }

    /// Gradients of the loss of the last `forward` with respect to every parameter.
    void backward() {
        const int n = shape_.tokens();
        const int d = shape_.d_model;
        gradients.assign(parameters.size(), 0);
        std::vector<Real> d_lnf(static_cast<std::size_t>(n) * d, 0);
        for (int t = 0; t < n; ++t) {
            for (int v = 0; v < vocabulary_size; ++v) {
                const Real g =
                    (probabilities_[static_cast<std::size_t>(t) * vocabulary_size + v] - (v == targets_[t] ? 1 : 0)) /
                    n;
                for (int j = 0; j < d; ++j) {
                    d_lnf[t * d + j] += g * parameter(0)[v * d + j];
                    gradient(0)[v * d + j] += g * lnf_[t * d + j];
                }
            }
        }
        std::vector<Real> d_x(static_cast<std::size_t>(n) * d, 0);
        normalise_backward(last_, layout_.size() - 2, layout_.size() - 1, d_lnf, d_x);
        for (int l = shape_.layers - 1; l >= 0; --l) {
            const layer& b = layers_[l];
            std::vector<Real> d_hidden =
                linear_backward(b.activated, 4 * d, at(l, fcproj_weight), at(l, fcproj_bias), d, d_x);
            for (std::size_t i = 0; i < d_hidden.size(); ++i) {
                const Real h = b.hidden[i];
                const Real t = std::tanh(inner(h));
                const Real slope = scale() * (1 + 3 * Real(0.044715) * h * h);
                d_hidden[i] *= Real(0.5) * (1 + t) + Real(0.5) * h * (1 - t * t) * slope;
            }
            normalise_backward(b.middle, at(l, ln2_gain), at(l, ln2_bias),
                               linear_backward(b.ln2, d, at(l, fc_weight), at(l, fc_bias), 4 * d, d_hidden), d_x);
            const std::vector<Real> d_attention =
                linear_backward(b.attention, d, at(l, proj_weight), at(l, proj_bias), d, d_x);
            normalise_backward(
                b.x, at(l, ln1_gain), at(l, ln1_bias),
                linear_backward(b.ln1, d, at(l, qkv_weight), at(l, qkv_bias), 3 * d, attend_backward(b, d_attention)),
                d_x);
        }
        for (int t = 0; t < n; ++t) {
            for (int j = 0; j < d; ++j) {
                gradient(0)[tokens_[t] * d + j] += d_x[t * d + j];
                gradient(1)[t % shape_.ctx * d + j] += d_x[t * d + j];
            }
        }
    }

  private:
    struct layer {
        std::vector<Real> x, ln1, qkv, attention, middle, ln2, hidden, activated;
    };

    static Real scale() { return std::sqrt(2 / Real(3.14159265358979323846)); }
    static Real inner(Real h) { return scale() * (h + Real(0.044715) * h * h * h); }

    std::size_t at(int l, layer_tensor tensor) const {
        return 2 + static_cast<std::size_t>(l) * layer_tensor_count + tensor;
    }
    const Real* parameter(std::size_t tensor) const { return parameters.data() + layout_[tensor].offset; }
    Real* gradient(std::size_t tensor) { return gradients.data() + layout_[tensor].offset; }

    void row_statistics(const Real* row, Real& mean, Real& inverse) const {
        const int d = shape_.d_model;
        mean = 0;
        for (int j = 0; j < d; ++j) mean += row[j] / d;
        Real variance = 0;
        for (int j = 0; j < d; ++j) variance += (row[j] - mean) * (row[j] - mean) / d;
        inverse = 1 / std::sqrt(variance + Real(1e-5));
    }

    std::vector<Real> normalise(const std::vector<Real>& x, std::size_t gain, std::size_t bias) const {
        const int d = shape_.d_model;
        std::vector<Real> y(x.size());
        for (int t = 0; t < shape_.tokens(); ++t) {
            Real mean, inverse;
            row_statistics(&x[t * d], mean, inverse);
            for (int j = 0; j < d; ++j)
                y[t * d + j] = (x[t * d + j] - mean) * inverse * parameter(gain)[j] + parameter(bias)[j];
        }
        return y;
    }

    /// Adds the gradient of the input to d_x.
    void normalise_backward(const std::vector<Real>& x, std::size_t gain, std::size_t bias,
                            const std::vector<Real>& d_y, std::vector<Real>& d_x) {
        const int d = shape_.d_model;
        for (int t = 0; t < shape_.tokens(); ++t) {
            Real mean, inverse;
            row_statistics(&x[t * d], mean, inverse);
            Real sum = 0;
            Real sum_normal = 0;
            for (int j = 0; j < d; ++j) {
                const Real normal = (x[t * d + j] - mean) * inverse;
                const Real g = d_y[t * d + j];
                gradient(gain)[j] += g * normal;
                gradient(bias)[j] += g;
                sum += g * parameter(gain)[j] / d;
                sum_normal += g * parameter(gain)[j] * normal / d;
            }
            for (int j = 0; j < d; ++j) {
                const Real normal = (x[t * d + j] - mean) * inverse;
                d_x[t * d + j] += inverse * (d_y[t * d + j] * parameter(gain)[j] - sum - normal * sum_normal);
            }
        }
    }

    std::vector<Real> linear(const std::vector<Real>& x, int in, std::size_t weight, std::size_t bias, int out) const {
        std::vector<Real> y(static_cast<std::size_t>(shape_.tokens()) * out);
        for (int t = 0; t < shape_.tokens(); ++t) {
            for (int o = 0; o < out; ++o) y[t * out + o] = parameter(bias)[o];
            for (int i = 0; i < in; ++i)
                for (int o = 0; o < out; ++o) y[t * out + o] += x[t * in + i] * parameter(weight)[i * out + o];
        }
        return y;
    }

    std::vector<Real> linear_backward(const std::vector<Real>& x, int in, std::size_t weight, std::size_t bias, int out,
                                      const std::vector<Real>& d_y) {
        std::vector<Real> d_x(static_cast<std::size_t>(shape_.tokens()) * in, 0);
        for (int t = 0; t < shape_.tokens(); ++t) {
            for (int o = 0; o < out; ++o) gradient(bias)[o] += d_y[t * out + o];
            for (int i = 0; i < in; ++i) {
                for (int o = 0; o < out; ++o) {
                    d_x[t * in + i] += d_y[t * out + o] * parameter(weight)[i * out + o];
                    gradient(weight)[i * out + o] += x[t * in + i] * d_y[t * out + o];
                }
            }
        }
        return d_x;
    }

    /// Softmax weights of one query over the keys up to its own place.
    std::vector<Real> weights(const layer& b, int sequence, int head, int query) const {
        const int d = shape_.d_model;
        const int size = shape_.head_size();
        const Real* q = &b.qkv[(static_cast<std::size_t>(sequence) * shape_.ctx + query) * 3 * d + head * size];
        std::vector<Real> p(static_cast<std::size_t>(query) + 1, 0);
        Real largest = -INFINITY;
        for (int key = 0; key <= query; ++key) {
            const Real* k = &b.qkv[(static_cast<std::size_t>(sequence) * shape_.ctx + key) * 3 * d + d + head * size];
            for (int j = 0; j < size; ++j) p[key] += q[j] * k[j] / std::sqrt(Real(size));
            largest = std::max(largest, p[key]);
        }
        Real sum = 0;
        for (Real& w : p) sum += w = std::exp(w - largest);
        for (Real& w : p) w /= sum;
        return p;
    }

    std::vector<Real> attend(const layer& b) const {
        const int d = shape_.d_model;
        const int size = shape_.head_size();
        std::vector<Real> out(static_cast<std::size_t>(shape_.tokens()) * d, 0);
        for (int s = 0; s < shape_.batch; ++s) {
            for (int head = 0; head < shape_.heads; ++head) {
                for (int query = 0; query < shape_.ctx; ++query) {
                    const std::vector<Real> p = weights(b, s, head, query);
                    Real* o = &out[(static_cast<std::size_t>(s) * shape_.ctx + query) * d + head * size];
                    for (int key = 0; key <= query; ++key) {
                        const Real* v =
                            &b.qkv[(static_cast<std::size_t>(s) * shape_.ctx + key) * 3 * d + 2 * d + head * size];
                        for (int j = 0; j < size; ++j) o[j] += p[key] * v[j];
                    }
                }
            }
        }
        return out;
    }

    std::vector<Real> attend_backward(const layer& b, const std::vector<Real>& d_out) const {
        const int d = shape_.d_model;
        const int size = shape_.head_size();
        const Real factor = 1 / std::sqrt(Real(size));
        std::vector<Real> d_qkv(b.qkv.size(), 0);
        for (int s = 0; s < shape_.batch; ++s) {
            for (int head = 0; head < shape_.heads; ++head) {
                for (int query = 0; query < shape_.ctx; ++query) {
                    const std::vector<Real> p = weights(b, s, head, query);
                    const Real* g = &d_out[(static_cast<std::size_t>(s) * shape_.ctx + query) * d + head * size];
                    const std::size_t at_q = (static_cast<std::size_t>(s) * shape_.ctx + query) * 3 * d + head * size;
                    std::vector<Real> d_p(p.size(), 0);
                    Real mean = 0;
                    for (int key = 0; key <= query; ++key) {
                        const std::size_t at_v =
                            (static_cast<std::size_t>(s) * shape_.ctx + key) * 3 * d + 2 * d + head * size;
                        for (int j = 0; j < size; ++j) {
                            d_p[key] += g[j] * b.qkv[at_v + j];
                            d_qkv[at_v + j] += p[key] * g[j];
                        }
                        mean += p[key] * d_p[key];
                    }
                    for (int key = 0; key <= query; ++key) {
                        const Real d_score = p[key] * (d_p[key] - mean) * factor;
                        const std::size_t at_k =
                            (static_cast<std::size_t>(s) * shape_.ctx + key) * 3 * d + d + head * size;
                        for (int j = 0; j < size; ++j) {
                            d_qkv[at_q + j] += d_score * b.qkv[at_k + j];
                            d_qkv[at_k + j] += d_score * b.qkv[at_q + j];
                        }
                    }
                }
            }
        }
        return d_qkv;
    }

    model_shape shape_;
    std::vector<tensor_info> layout_;
    std::vector<layer> layers_;
    std::vector<Real> last_, lnf_, probabilities_;
    const std::int32_t* tokens_ = nullptr;
    const std::int32_t* targets_ = nullptr;
};

}  // namespace assay::trainer
