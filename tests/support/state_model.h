// SPDX-License-Identifier: Apache-2.0
//
// Decoders of layers that carry a state of a fixed size, alone and beside attention.
#pragma once

#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

namespace test {

enum class Mixer { conv, attention };

/// Puts layers into a graph: x += mixer(x).
class StateLayers {
 public:
  static constexpr uint32_t kWidth = 80;  // two blocks of channels, five heads

  StateLayers(mote::convert::Graph& graph, const mote::convert::View& x) : graph_(graph), x_(x) {}

  void add(Mixer mixer) {
    using namespace mote::convert;
    const View y = value(kWidth);
    switch (mixer) {
      case Mixer::conv:
        graph_.nodes.push_back(CausalConvNode{state(conv_tail(4, kWidth)), mote::Activation::silu,
                                              weight(4, kWidth), weight(1, kWidth), x_, y});
        break;
      case Mixer::attention:
        add_attention(y);
        break;
    }
    ScaleRowsNode sum{y, x_};
    sum.factor = 0.75f;
    sum.residual = x_;
    graph_.nodes.push_back(sum);
  }

 private:
  mote::convert::View value(uint32_t width) {
    graph_.values.push_back({width, mote::DType::f32, mote::convert::Unit::token});
    return {static_cast<uint32_t>(graph_.values.size() - 1), 0, width};
  }
  uint32_t state(const mote::convert::Cache& of_file) {
    graph_.caches.push_back(of_file);
    return static_cast<uint32_t>(graph_.caches.size() - 1);
  }
  int32_t weight(uint32_t rows, uint32_t cols) {
    const size_t count = graph_.weights.size();
    std::vector<float> values(size_t{rows} * cols);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i + count * 5) * (i + 3) % 29) / 24.0f - 0.6f;
    graph_.weights.push_back({"w" + std::to_string(count), mote::DType::f32, true, rows, cols, {}, values});
    return static_cast<int32_t>(count);
  }
  int32_t linear(uint32_t rows) {
    const int32_t index = weight(rows, kWidth);
    graph_.weights.back().row_major = false;
    return index;
  }
  /// A projection of x.
  mote::convert::View projected(uint32_t width) {
    const mote::convert::View out = value(width);
    graph_.nodes.push_back(
        mote::convert::LinearNode{linear(width), -1, mote::Activation::none, x_, out, std::nullopt});
    return out;
  }
  void add_attention(const mote::convert::View& y) {
    using namespace mote::convert;
    const View k = projected(16), v = projected(16);
    const uint32_t cache = state({1, 16, 0});
    graph_.nodes.push_back(KvStoreNode{cache, k, v});
    graph_.nodes.push_back(AttentionNode{cache, kWidth / 16, 0.25f, x_, y});
  }

  mote::convert::Graph& graph_;
  mote::convert::View x_;
};

inline AlignedBytes state_file(const std::vector<Mixer>& mixers, uint32_t context = 600) {
  return decoder_file(StateLayers::kWidth, context,
                      [&](mote::convert::Graph& graph, const mote::convert::View& x) {
                        StateLayers layers(graph, x);
                        for (const Mixer mixer : mixers) layers.add(mixer);
                      });
}

/// A model that says its name in failures.
struct StateModel {
  const char* name;
  AlignedBytes file;
  OpenModel model;
  StateModel(const char* called, const std::vector<Mixer>& mixers)
      : name(called), file(state_file(mixers)), model(file) {}
};

inline const std::vector<std::unique_ptr<StateModel>>& state_models() {
  static const auto models = [] {
    std::vector<std::unique_ptr<StateModel>> all;
    const auto add = [&](const char* name, const std::vector<Mixer>& mixers) {
      all.push_back(std::make_unique<StateModel>(name, mixers));
    };
    add("conv", {Mixer::conv, Mixer::conv});
    add("conv and attention", {Mixer::conv, Mixer::attention, Mixer::conv});
    return all;
  }();
  return models;
}

}  // namespace test
