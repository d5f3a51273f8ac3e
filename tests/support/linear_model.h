// SPDX-License-Identifier: Apache-2.0
//
// An encoder that is one linear operation: a token's id picks a row of `inputs`, with `residual` a row of the
// residual, which the outputs replace in place.
#pragma once

#include <random>

#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

namespace test {

struct LinearModel {
  uint32_t inputs, outputs;
  bool bias = true;
  mote::Activation activation = mote::Activation::none;
  bool residual = false;
  std::vector<std::pair<uint32_t, float>> special = {};  // ids whose first input is that number
  uint32_t repeated = 1;                                 // times that the same operation is in the program

  static constexpr uint32_t kIds = 400;

  std::vector<float> input_values() const {
    return random(1, kIds, inputs);
  }  // [kIds, inputs], but for `special`
  std::vector<float> weight_values() const { return random(2, outputs, inputs); }
  std::vector<float> bias_values() const { return random(3, 1, outputs); }
  std::vector<float> residual_values() const { return random(4, kIds, outputs); }

  /// The .mote file.
  AlignedBytes file() const {
    return graph_file(graph(), "linear", [this](size_t weight, std::byte* bytes) {
      for (const auto& [id, number] : special) {  // the converter would refuse a NaN
        if (weight == 0) std::memcpy(bytes + size_t{id} * inputs * sizeof number, &number, sizeof number);
      }
    });
  }

 private:
  /// From -1 to 1.
  std::vector<float> random(uint32_t seed, uint32_t rows, uint32_t cols) const {
    std::mt19937 engine(seed * 1000000 + inputs * 1000 + outputs);
    std::vector<float> numbers(size_t{rows} * cols);
    for (float& number : numbers) number = static_cast<float>(engine() >> 8) * 0x1p-23f - 1.0f;
    return numbers;
  }

  mote::convert::Graph graph() const {
    using namespace mote::convert;
    Graph graph = bare_graph(kIds, outputs, kIds);
    graph.output_kind = OutputKind::hidden;
    graph.values = {{inputs, mote::DType::f32, Unit::token},
                    {outputs, mote::DType::f32, Unit::token},
                    {outputs, mote::DType::f32, Unit::selected}};
    graph.weights = {{"inputs", mote::DType::f32, true, kIds, inputs, {}, input_values()},
                     {"weight", mote::DType::f32, false, outputs, inputs, {}, weight_values()},
                     {"bias", mote::DType::f32, true, 1, outputs, {}, bias_values()},
                     {"residual", mote::DType::f32, true, kIds, outputs, {}, residual_values()}};
    const View x{0, 0, inputs}, y{1, 0, outputs}, selected{2, 0, outputs};
    graph.nodes.push_back(EmbedNode{0, x});
    if (residual) graph.nodes.push_back(EmbedNode{3, y});
    for (uint32_t i = 0; i < repeated; ++i) {
      graph.nodes.push_back(
          LinearNode{1, bias ? 2 : -1, activation, x, y, residual ? std::optional<View>(y) : std::nullopt});
    }
    graph.nodes.push_back(SelectNode{y, selected});
    graph.output = selected;
    return graph;
  }
};

/// Its file, opened.
class OpenLinearModel {
 public:
  explicit OpenLinearModel(const LinearModel& linear) : file_(linear.file()), model_(file_) {}
  operator const OpenModel&() const { return model_; }
  mote_model* get() const { return model_.get(); }

 private:
  AlignedBytes file_;
  OpenModel model_;
};

/// Its outputs for the ids 0, 1, ..., [rows, outputs].
inline std::vector<float> run_linear_model(const OpenModel& model, const mote_session_options& options,
                                           uint32_t rows) {
  const OpenSession session(model, options);
  std::vector<int32_t> ids(rows);
  for (uint32_t i = 0; i < rows; ++i) ids[i] = static_cast<int32_t>(i);
  const mote_batch batch{ids.data(), nullptr, &rows, 1, nullptr, 0, nullptr, {}, {}, {}};
  mote_error error{};
  const mote_status status = mote_encode(session.get(), &batch, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  const uint32_t width = model.info().width;
  std::vector<float> all;
  for (uint32_t row = 0; row < rows; ++row) {
    const float* out = mote_session_output(session.get(), row);
    all.insert(all.end(), out, out + width);
  }
  return all;
}

}  // namespace test
