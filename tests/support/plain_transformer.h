// SPDX-License-Identifier: Apache-2.0
//
// A TransformerSpec computed by plain loops over doubles, and the weights that it reads: random ones, made
// when they are first asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/source.h"

namespace test {

using Matrix = std::vector<std::vector<double>>;  // [tokens][columns]

class RandomWeights {
 public:
  /// [rows, cols] from -1 to 1 times sqrt(3 / cols): sums over inputs of variance 1 have variance 1.
  const std::vector<float>& matrix(const std::string& name, uint32_t rows, uint32_t cols) {
    return make(name, {rows, cols}, 0.0, std::sqrt(3.0 / cols));
  }
  /// [width] from 0.5 to 1.5.
  const std::vector<float>& norm(const std::string& name, uint32_t width) {
    return make(name, {width}, 1.0, 0.5);
  }
  /// Those made so far, in f32, as a source's. They live as long as this object.
  mote::convert::Source source() const {
    mote::convert::Source source;
    source.format = "hf";
    for (const auto& [name, tensor] : tensors_) {
      const auto bytes = std::as_bytes(std::span(tensor.values));
      source.tensors[name + ".weight"] = {mote::convert::SourceType::f32, tensor.shape, bytes.data(),
                                          bytes.size()};
    }
    return source;
  }

 private:
  struct Tensor {
    std::vector<uint64_t> shape;
    std::vector<float> values;
  };

  const std::vector<float>& make(const std::string& name, std::vector<uint64_t> shape, double centre,
                                 double reach) {
    Tensor& tensor = tensors_[name];
    if (!tensor.values.empty()) return tensor.values;
    uint64_t count = 1;
    for (const uint64_t size : shape) count *= size;
    tensor.shape = std::move(shape);
    for (uint64_t i = 0; i < count; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      const double unit = static_cast<double>(state_ >> 40) / 0x1p23 - 1.0;
      tensor.values.push_back(static_cast<float>(centre + reach * unit));
    }
    return tensor.values;
  }

  std::map<std::string, Tensor> tensors_;
  uint64_t state_ = 1;
};

class PlainTransformer {
 public:
  using Spec = mote::convert::TransformerSpec;
  using Layer = mote::convert::LayerSpec;
  using Norms = mote::convert::BranchNorms;

  PlainTransformer(const Spec& spec, RandomWeights& weights) : spec_(spec), weights_(weights) {}

  /// What stands for the layers that have a `build`.
  std::function<void(PlainTransformer&, Matrix& x, const Layer&)> built;

  /// Logits, or an encoder's hidden states: a row for each token.
  Matrix run(const std::vector<int32_t>& ids) {
    const std::vector<float>& table = weights_.matrix(spec_.names.embedding, spec_.vocab, spec_.width);
    Matrix x;
    for (const int32_t id : ids) {
      const auto row = table.begin() + static_cast<std::ptrdiff_t>(id) * spec_.width;
      x.emplace_back(row, row + spec_.width);
    }
    scale(x, spec_.embedding_multiplier);
    if (!spec_.names.positions.empty()) add_positions(x);
    for (const Layer& spec : spec_.layers) {
      if (spec.build) {
        built(*this, x, spec);
      } else {
        layer(x, spec);
      }
    }
    if (!spec_.names.final_norm.empty()) norm(x, spec_.names.final_norm);
    if (spec_.head.kind == mote::convert::OutputKind::hidden) return x;
    Matrix logits = linear(x, spec_.is_encoder() ? spec_.head.output : spec_.names.head, spec_.vocab);
    scale(logits, spec_.logit_multiplier);
    return logits;
  }

  void layer(Matrix& x, const Layer& spec) const {
    const Norms &first = spec.names.attention_norms, &second = spec.names.ffn_norms;
    if (spec.branches == mote::convert::Branches::serial) {
      attention(x, spec);
      ffn(x, spec);
      return;
    }
    const Matrix in = before(x, spec, first);
    const Matrix own = second.before.empty() ? in : before(x, spec, second);
    add(x, attended(in, spec), spec, first);
    add(x, fed_forward(own, spec), spec, second);
  }
  void attention(Matrix& x, const Layer& spec) const {
    const Norms& norms = spec.names.attention_norms;
    add(x, attended(before(x, spec, norms), spec), spec, norms);
  }
  void ffn(Matrix& x, const Layer& spec) const {
    const Norms& norms = spec.names.ffn_norms;
    add(x, fed_forward(before(x, spec, norms), spec), spec, norms);
  }

 private:
  static std::string of(std::string name, const Layer& spec) {
    const size_t at = name.find("{}");
    return at == std::string::npos ? name : name.replace(at, 2, std::to_string(spec.weights));
  }

  static void scale(Matrix& x, float factor) {
    for (std::vector<double>& row : x) {
      for (double& value : row) value *= double{factor};
    }
  }

  /// Row t of the table to row t.
  void add_positions(Matrix& x) const {
    const std::vector<float>& table = weights_.matrix(spec_.names.positions, spec_.context, spec_.width);
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t k = 0; k < spec_.width; ++k) x[t][k] += double{table[t * spec_.width + k]};
    }
  }

  Matrix linear(const Matrix& x, const std::string& name, uint32_t outputs) const {
    const size_t inputs = x[0].size();
    const std::vector<float>& w = weights_.matrix(name, outputs, static_cast<uint32_t>(inputs));
    Matrix y(x.size(), std::vector<double>(outputs));
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t n = 0; n < outputs; ++n) {
        for (size_t k = 0; k < inputs; ++k) y[t][n] += x[t][k] * double{w[n * inputs + k]};
      }
    }
    return y;
  }

  /// An rms norm of each of `groups` parts of the rows.
  void norm(Matrix& x, const std::string& name, size_t groups = 1) const {
    const size_t width = x[0].size() / groups;
    const std::vector<float>& w = weights_.norm(name, static_cast<uint32_t>(width));
    for (std::vector<double>& row : x) {
      for (size_t g = 0; g < groups; ++g) {
        double squares = 0;
        for (size_t k = 0; k < width; ++k) squares += row[g * width + k] * row[g * width + k];
        const double root = std::sqrt(squares / static_cast<double>(width) + double{spec_.norm_eps});
        for (size_t k = 0; k < width; ++k) row[g * width + k] *= double{w[k]} / root;
      }
    }
  }

  Matrix before(const Matrix& x, const Layer& spec, const Norms& norms) const {
    Matrix in = x;
    if (!norms.before.empty()) norm(in, of(norms.before, spec));
    return in;
  }

  void add(Matrix& x, Matrix branch, const Layer& spec, const Norms& norms) const {
    if (!norms.after.empty()) norm(branch, of(norms.after, spec));
    scale(branch, spec.residual_multiplier);
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t k = 0; k < x[t].size(); ++k) x[t][k] += branch[t][k];
    }
    if (!norms.sum.empty()) norm(x, of(norms.sum, spec));
  }

  /// Pairs (i, i + R / 2) of each head turn by position * frequency.
  void rotate(Matrix& x, uint32_t head_dim, const mote::convert::RopeSpec& rope) const {
    const size_t half = rope.frequencies.size();
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t head = 0; head < x[t].size(); head += head_dim) {
        for (size_t i = 0; i < half; ++i) {
          const double angle = static_cast<double>(t) * double{rope.frequencies[i]};
          double &a = x[t][head + i], &b = x[t][head + i + half];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
      }
    }
  }

  Matrix attended(const Matrix& in, const Layer& spec) const {
    const auto& attention = spec.attention;
    const uint32_t E = attention.head_dim, H = attention.heads, G = attention.kv_heads;
    const uint32_t F = attention.value_width();
    Matrix q = linear(in, of(spec.names.q, spec), H * E);
    Matrix k = linear(in, of(spec.names.k, spec), G * E);
    const Matrix v = linear(in, of(spec.names.v, spec), G * F);
    if (!spec.names.q_norm.empty()) {
      norm(q, of(spec.names.q_norm, spec), H);
      norm(k, of(spec.names.k_norm, spec), G);
    }
    if (attention.rope != mote::convert::kNone) {
      rotate(q, E, spec_.ropes[attention.rope]);
      rotate(k, E, spec_.ropes[attention.rope]);
    }
    const std::string sinks_name = spec.names.sinks.substr(0, spec.names.sinks.rfind(".weight"));
    const float* sinks = sinks_name.empty() ? nullptr : weights_.norm(of(sinks_name, spec), H).data();
    Matrix out(in.size(), std::vector<double>(size_t{H} * F));
    for (size_t t = 0; t < in.size(); ++t) {
      for (size_t h = 0; h < H; ++h) attend(q, k, v, t, h, attention, sinks, out[t]);
    }
    return linear(out, of(spec.names.o, spec), spec_.width);
  }

  void attend(const Matrix& q, const Matrix& k, const Matrix& v, size_t t, size_t h,
              const mote::convert::AttentionSpec& spec, const float* sinks, std::vector<double>& out) const {
    const size_t E = spec.head_dim, F = spec.value_width(), group = h / (spec.heads / spec.kv_heads);
    const size_t last = spec_.is_encoder() ? q.size() - 1 : t;
    const size_t first = spec.window != 0 && last + 1 > spec.window ? last + 1 - spec.window : 0;
    std::vector<double> weights;
    double sum = 0;
    for (size_t p = first; p <= last; ++p) {
      double dot = 0;
      for (size_t i = 0; i < E; ++i) dot += q[t][h * E + i] * k[p][group * E + i];
      weights.push_back(std::exp(score(spec, double{spec.scale} * dot, h, t, p)));
      sum += weights.back();
    }
    if (sinks != nullptr) sum += std::exp(double{sinks[h]});
    for (size_t p = first; p <= last; ++p) {
      for (size_t i = 0; i < F; ++i) out[h * F + i] += weights[p - first] / sum * v[p][group * F + i];
    }
  }

  double score(const mote::convert::AttentionSpec& spec, double scaled, size_t head, size_t query,
               size_t key) const {
    if (spec.softcap != 0.0f) return double{spec.softcap} * std::tanh(scaled / double{spec.softcap});
    if (spec.slopes.empty()) return scaled + bias(spec, head, query, key);
    return scaled - double{spec.slopes[head]} * (static_cast<double>(query) - static_cast<double>(key));
  }

  double bias(const mote::convert::AttentionSpec& spec, size_t head, size_t query, size_t key) const {
    if (spec.bias == mote::convert::kNone) return 0;
    const size_t columns = 2 * size_t{spec_.context} - 1;
    return double{spec_.attention_biases[spec.bias][head * columns + spec_.context - 1 + key - query]};
  }

  Matrix fed_forward(const Matrix& in, const Layer& spec) const {
    const bool gated = spec.ffn.kind == mote::convert::Ffn::gated;
    Matrix inner = linear(in, of(gated ? spec.names.gate : spec.names.up, spec), spec.ffn.width);
    for (std::vector<double>& row : inner) {
      for (double& value : row) {
        value = spec.ffn.activation == mote::Activation::relu ? std::max(value, 0.0)
                                                              : value / (1 + std::exp(-value));  // silu
      }
    }
    if (gated) {
      const Matrix up = linear(in, of(spec.names.up, spec), spec.ffn.width);
      for (size_t t = 0; t < up.size(); ++t) {
        for (size_t k = 0; k < up[t].size(); ++k) inner[t][k] *= up[t][k];
      }
    }
    return linear(inner, of(spec.names.down, spec), spec_.width);
  }

  const Spec& spec_;
  RandomWeights& weights_;
};

}  // namespace test
