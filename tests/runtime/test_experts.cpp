// SPDX-License-Identifier: Apache-2.0
//
// Linears of experts have the bits of plain linears, an expert each, whose outputs are put together by hand.
#include <random>

#include "tests/support/linear_model.h"
#include "tests/support/thread_pool.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kIds = test::LinearModel::kIds;

struct Mixture {
  uint32_t inputs, outputs, experts, chosen;
  mote::DType type;
  bool by_slot, sums;
  int32_t more = 0;  // routes that are not 0, besides as many as are chosen
};

std::vector<float> numbers(uint32_t seed, size_t count) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(engine() >> 8) * 0x1p-23f - 1.0f;
  return values;
}

uint32_t padded(const Mixture& m) {
  return static_cast<uint32_t>(mote::align_up(m.outputs, mote::kPanelRows));
}

/// [ids, experts]: id 0 goes to the first experts, the last id to the last ones, others to any.
std::vector<float> routes_of(const Mixture& m) {
  std::vector<float> routes(size_t{kIds} * m.experts);
  std::mt19937 engine(5);
  for (uint32_t id = 0; id < kIds; ++id) {
    std::vector<uint32_t> order(m.experts);
    for (uint32_t e = 0; e < m.experts; ++e) order[e] = e;
    if (id != 0) std::shuffle(order.begin(), order.end(), engine);
    for (uint32_t i = 0; i < m.chosen + static_cast<uint32_t>(m.more); ++i)
      routes[size_t{id} * m.experts + order[i]] = 0.25f + static_cast<float>(engine() % 64) / 64.0f;
  }
  return routes;
}

/// [experts, rows of one, inputs]; the rows that pad an expert are not 0, and are not read.
std::vector<float> weights_of(const Mixture& m) {
  return numbers(1, size_t{m.experts} * padded(m) * m.inputs);
}
std::vector<float> bias_of(const Mixture& m) { return numbers(2, size_t{m.experts} * padded(m)); }
std::vector<float> inputs_of(const Mixture& m) {
  return numbers(3, size_t{kIds} * m.inputs * (m.by_slot ? m.chosen : 1));
}

class Maker {
 public:
  explicit Maker(uint32_t width) : graph(test::bare_graph(kIds, width, kIds)) {
    graph.output_kind = OutputKind::hidden;
  }
  View value(uint32_t width, mote::DType type = mote::DType::f32, Unit unit = Unit::token) {
    return test::add_value(graph, width, unit, type);
  }
  int32_t weight(mote::DType type, bool in_rows, uint32_t rows, uint32_t cols, std::vector<float> values) {
    const auto index = static_cast<int32_t>(graph.weights.size());
    graph.weights.push_back({"w" + std::to_string(index), type, in_rows, rows, cols, {}, std::move(values)});
    return index;
  }
  View embedded(uint32_t width, std::vector<float> table) {
    const View out = value(width);
    graph.nodes.push_back(EmbedNode{weight(mote::DType::f32, true, kIds, width, std::move(table)), out});
    return out;
  }
  View quantized(View x, mote::DType weight_type) {
    const mote::DType type = mote::activation_dtype(weight_type);
    if (type == mote::DType::f32) return x;
    const View out = value(x.width, type);
    graph.nodes.push_back(QuantizeNode{x, out});
    return out;
  }
  test::AlignedBytes file(View out) {
    const View selected = value(out.width, mote::DType::f32, Unit::selected);
    graph.nodes.push_back(SelectNode{out, selected});
    graph.output = selected;
    return test::graph_file(graph, "experts");
  }

  Graph graph;
};

test::AlignedBytes mixture_file(const Mixture& m) {
  Maker maker(m.sums ? m.outputs : m.chosen * m.outputs);
  const View x = maker.embedded(m.inputs * (m.by_slot ? m.chosen : 1), inputs_of(m));
  const View routes = maker.embedded(m.experts, routes_of(m));
  const View in = maker.quantized(x, m.type);
  const View out = maker.value(maker.graph.width);
  const int32_t weight = maker.weight(m.type, false, m.experts * padded(m), m.inputs, weights_of(m));
  const int32_t bias = maker.weight(mote::DType::f32, true, 1, m.experts * padded(m), bias_of(m));
  maker.graph.nodes.push_back(
      ExpertsNode{m.chosen, weight, bias, mote::Activation::silu, m.sums, routes, in, out, std::nullopt});
  return maker.file(out);
}

/// Every expert's output for every slot's input: [slots, experts, outputs].
test::AlignedBytes plain_file(const Mixture& m) {
  const uint32_t slots = m.by_slot ? m.chosen : 1, all = slots * m.experts * m.outputs;
  Maker maker(all);
  const View out = maker.value(all);
  const std::vector<float> inputs = inputs_of(m), weights = weights_of(m), bias = bias_of(m);
  for (uint32_t slot = 0; slot < slots; ++slot) {
    std::vector<float> part;
    for (uint32_t id = 0; id < kIds; ++id) {
      const auto first = inputs.begin() + static_cast<ptrdiff_t>(size_t{id * slots + slot} * m.inputs);
      part.insert(part.end(), first, first + m.inputs);
    }
    const View in = maker.quantized(maker.embedded(m.inputs, part), m.type);
    for (uint32_t e = 0; e < m.experts; ++e) {
      const auto first = weights.begin() + static_cast<ptrdiff_t>(size_t{e} * padded(m) * m.inputs);
      const auto first_bias = bias.begin() + static_cast<ptrdiff_t>(size_t{e} * padded(m));
      const int32_t weight =
          maker.weight(m.type, false, m.outputs, m.inputs, {first, first + m.outputs * m.inputs});
      const int32_t b =
          maker.weight(mote::DType::f32, true, 1, m.outputs, {first_bias, first_bias + m.outputs});
      const View y = {out.value, (slot * m.experts + e) * m.outputs, m.outputs};
      maker.graph.nodes.push_back(LinearNode{weight, b, mote::Activation::silu, in, y, std::nullopt});
    }
  }
  return maker.file(out);
}

std::vector<float> expected(const Mixture& m, const std::vector<float>& plain, uint32_t rows) {
  const std::vector<float> routes = routes_of(m);
  const uint32_t width = m.sums ? m.outputs : m.chosen * m.outputs;
  const size_t of_row = size_t{m.by_slot ? m.chosen : 1} * m.experts * m.outputs;
  std::vector<float> result(size_t{rows} * width, 0.0f);
  for (size_t t = 0; t < rows; ++t) {
    uint32_t slot = 0;
    for (uint32_t e = 0; e < m.experts; ++e) {
      const float route = routes[t * m.experts + e];
      if (route == 0.0f || slot == m.chosen) continue;
      const float* y = &plain[t * of_row + (size_t{m.by_slot ? slot : 0} * m.experts + e) * m.outputs];
      for (uint32_t i = 0; i < m.outputs; ++i) {
        const float term = route * y[i];
        if (m.sums) {
          result[t * width + i] += term;
        } else {
          result[t * width + slot * m.outputs + i] = y[i];
        }
      }
      ++slot;
    }
  }
  return result;
}

void check_mixture(const Mixture& m) {
  static const test::ThreadPool two(2), three(3);
  const test::AlignedBytes file = mixture_file(m), plain_bytes = plain_file(m);
  const test::OpenModel model(file), plain(plain_bytes);
  for (const mote_isa isa : test::all_families()) {
    mote_session_options options = mote_session_options_default(plain.get());
    options.isa = isa;
    const std::vector<float> all = test::run_linear_model(plain, options, 100);
    for (const uint32_t rows : {1u, 2u, 31u, 33u, 100u}) {
      const std::vector<float> want = expected(m, all, rows);
      for (const test::ThreadPool* pool : {static_cast<const test::ThreadPool*>(nullptr), &two, &three}) {
        CAPTURE(static_cast<int>(m.type), mote_isa_name(isa), m.inputs, m.outputs, rows, pool == nullptr);
        mote_session_options with = options;
        if (pool != nullptr) with.platform = pool->platform();
        const std::vector<float> found = test::run_linear_model(model, with, rows);
        TEST_ASSERT_TRUE(std::memcmp(want.data(), found.data(), want.size() * sizeof(float)) == 0);
      }
    }
  }
}

}  // namespace

TEST("experts have the bits of plain linears, in every family and type, for any rows and threads",
     "[experts]") {
  using mote::DType;
  for (const DType type : {DType::f32, DType::f16, DType::q8g32, DType::q4g32, DType::q4mg32}) {
    for (const Mixture& m :
         {Mixture{64, 48, 5, 2, type, false, false}, Mixture{128, 20, 7, 3, type, true, true},
          Mixture{64, 144, 3, 1, type, false, true}, Mixture{64, 33, 4, 4, type, true, false}})
      check_mixture(m);
  }
}

TEST("of routes that no operation chose a row has the first ones, as many as are chosen", "[experts]") {
  using mote::DType;
  for (const DType type : {DType::f32, DType::q8g32}) {
    for (const Mixture& m :
         {Mixture{64, 48, 5, 2, type, false, false, 1}, Mixture{128, 20, 7, 3, type, true, true, 4},
          Mixture{64, 144, 3, 1, type, false, true, 2}, Mixture{64, 33, 70, 2, type, true, false, 68}})
      check_mixture(m);
  }
}

TEST("slots that no route fills are 0", "[experts]") {
  using mote::DType;
  for (const DType type : {DType::f32, DType::q8g32}) {
    for (const Mixture& m :
         {Mixture{64, 48, 5, 2, type, false, false, -1}, Mixture{128, 20, 7, 3, type, true, true, -2},
          Mixture{64, 33, 4, 4, type, true, false, -3}, Mixture{64, 40, 4, 2, type, false, false, -2}})
      check_mixture(m);
  }
}

TEST("a file whose experts do not fit is refused", "[experts]") {
  const Mixture good{64, 48, 5, 2, mote::DType::q8g32, false, false};
  const auto refused = [&](const std::function<void(ExpertsNode&, Graph&)>& change, const char* words) {
    Maker maker(good.chosen * good.outputs);
    const View in = maker.quantized(maker.embedded(good.inputs, inputs_of(good)), good.type);
    const View routes = maker.embedded(good.experts, routes_of(good));
    const View out = maker.value(good.chosen * good.outputs);
    const int32_t weight =
        maker.weight(good.type, false, good.experts * padded(good), good.inputs, weights_of(good));
    ExpertsNode node{good.chosen, weight, -1, mote::Activation::none, false, routes, in, out, std::nullopt};
    change(node, maker.graph);
    maker.graph.nodes.push_back(node);
    mote_error error{};
    const mote_status status = test::open_changed(maker.file(out), &error, [](mote::file::Model*) {});
    CAPTURE(words, error.text);
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, status);
    TEST_ASSERT_NOT_NULL(std::strstr(error.text, words));
  };
  refused([](ExpertsNode& node, Graph&) { node.chosen = 0; }, "0 of 5 experts");
  refused([](ExpertsNode& node, Graph&) { node.chosen = 6; }, "6 of 5 experts");
  refused([](ExpertsNode& node, Graph&) { node.chosen = 5; }, "96 columns for 5 experts");
  refused([](ExpertsNode& node, Graph&) { node.chosen = 3; }, "weight rows 240 != 5 times 32");
  refused([](ExpertsNode& node, Graph& graph) { graph.weights[static_cast<size_t>(node.weight)].cols = 32; },
          "slots of 32 columns");
  refused([](ExpertsNode& node, Graph&) { node.residual = node.out; }, "sums nothing");
}
