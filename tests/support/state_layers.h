// SPDX-License-Identifier: Apache-2.0
//
// Files of decoders whose layers carry a state of a fixed size, alone and beside attention.
#pragma once

#include <math.h>

#include "tests/support/graph_file.h"

namespace test {

enum class Mixer { conv, ssm, selective, delta, attention, cell, linear };

/// Puts layers into a graph: x += mixer(x).
class StateLayers {
 public:
  static constexpr uint32_t kWidth = 80;  // two blocks of channels, five heads

  StateLayers(mote::convert::Graph& graph, const mote::convert::View& x) : graph_(graph), x_(x) {}

  void add(Mixer mixer) {
    using namespace mote::convert;
    static constexpr void (StateLayers::* kAdd[])(const View&) = {
        &StateLayers::add_conv,  &StateLayers::add_ssm,       &StateLayers::add_selective,
        &StateLayers::add_delta, &StateLayers::add_attention, &StateLayers::add_cell,
        &StateLayers::add_linear};
    const View y = value(kWidth);
    const auto add_mixer = kAdd[static_cast<size_t>(mixer)];
    (this->*add_mixer)(y);
    ScaleRowsNode sum{y, x_};
    sum.factor = 0.75f;
    sum.residual = x_;
    graph_.nodes.push_back(sum);
  }

 private:
  mote::convert::View value(uint32_t width) { return add_value(graph_, width); }
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
  /// Numbers below 0.
  int32_t decays(uint32_t rows, uint32_t cols) {
    const int32_t index = weight(rows, cols);
    for (float& value : graph_.weights.back().values) value = value * 0.5f - 0.4f;
    return index;
  }
  void add_conv(const mote::convert::View& y) {
    using namespace mote::convert;
    graph_.nodes.push_back(CausalConvNode{state(conv_tail(4, kWidth)), mote::Activation::silu,
                                          weight(4, kWidth), weight(1, kWidth), x_, y});
  }
  void add_ssm(const mote::convert::View& y) {
    using namespace mote::convert;
    constexpr uint32_t kHeads = 4, kGroups = 2, kColumns = 12;
    const View dt = projected(kHeads), b = projected(kGroups * kColumns), c = projected(kGroups * kColumns);
    graph_.nodes.push_back(SsmScanNode{state(recurrent(kHeads, kColumns, kWidth / kHeads)), kGroups, 0.01f,
                                       INFINITY, decays(1, kHeads), weight(1, kHeads), weight(1, kHeads), x_,
                                       dt, b, c, y});
  }
  void add_selective(const mote::convert::View& y) {
    using namespace mote::convert;
    constexpr uint32_t kColumns = 6;
    const View dt = projected(kWidth), b = projected(kColumns), c = projected(kColumns);
    graph_.nodes.push_back(SelectiveScanNode{state(recurrent(1, kColumns, kWidth)), decays(kColumns, kWidth),
                                             -1, weight(1, kWidth), x_, dt, b, c, y});
  }
  void add_delta(const mote::convert::View& y) {
    using namespace mote::convert;
    constexpr uint32_t kHeads = 4, kKeyHeads = 2, kColumns = 12;
    const View q = projected(kKeyHeads * kColumns), k = projected(kKeyHeads * kColumns),
               dt = projected(kHeads), beta = projected(kHeads);
    graph_.nodes.push_back(GatedDeltaNode{state(recurrent(kHeads, kColumns, kWidth / kHeads)), kKeyHeads,
                                          0.3f, 1e-6f, decays(1, kHeads), weight(1, kHeads), q, k, x_, dt,
                                          beta, y});
  }
  void add_cell(const mote::convert::View& y) {
    using namespace mote::convert;
    const View gates = projected(4 * kWidth);
    graph_.nodes.push_back(RecurrentCellNode{mote::convert::CellKind::lstm, state(recurrent(1, 2, kWidth)),
                                             weight(kWidth, 4 * kWidth), weight(1, 4 * kWidth), gates, y});
  }
  void add_linear(const mote::convert::View& y) {
    using namespace mote::convert;
    constexpr uint32_t kHeads = 4, kColumns = 12, kFeatures = 6;
    const View q = projected(kHeads * kColumns), k = projected(kHeads * kColumns);
    const auto sums = static_cast<int32_t>(state(recurrent(kHeads, kFeatures, kWidth / kHeads + 1)));
    graph_.nodes.push_back(LinearAttentionNode{mote::convert::FeatureMap::exponential, sums, kHeads,
                                               weight(kFeatures, kColumns), q, k, x_, y});
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

}  // namespace test
