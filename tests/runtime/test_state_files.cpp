// SPDX-License-Identifier: Apache-2.0
//
// What a file may say of states of a fixed size and of the operations that carry them.
#include <cstring>
#include <functional>

#include "tests/support/state_model.h"

using namespace mote::convert;
using mote::file::StateKind;

namespace {

constexpr uint32_t kWidth = test::StateLayers::kWidth;

using Change = std::function<void(Graph&)>;

/// The status of a decoder of one layer that `change` makes another, and the message.
mote_status status_of(
    test::Mixer mixer, const Change& change, mote_error* error,
    const std::function<void(mote::file::Model*)>& patch = [](mote::file::Model*) {}) {
  return test::open_changed(test::decoder_file(kWidth, 64,
                                               [&](Graph& graph, const View& x) {
                                                 test::StateLayers(graph, x).add(mixer);
                                                 change(graph);
                                               }),
                            error, patch);
}

template <class T>
T& only_node(Graph& graph) {
  for (auto& node : graph.nodes) {
    if (auto* found = std::get_if<T>(&node)) return *found;
  }
  FAIL("no such node");
  std::abort();
}

void expect_refused(test::Mixer mixer, const Change& change, const char* words,
                    mote_status status = MOTE_CORRUPT_FILE) {
  mote_error error{};
  CAPTURE(words);
  const mote_status given = status_of(mixer, change, &error);
  CAPTURE(error.text);
  TEST_ASSERT_EQUAL_INT(status, given);
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, words));
}

}  // namespace

TEST("a file says what a reader must know of its states", "[fixed_state]") {
  using mote::file::Feature;
  const test::AlignedBytes file = test::state_file({test::Mixer::conv});
  TEST_ASSERT_TRUE(mote::file::GetSizePrefixedModel(file.data())->required_features() == Feature::conv_tail);
  const test::AlignedBytes both = test::state_file({test::Mixer::conv, test::Mixer::delta});
  TEST_ASSERT_TRUE(mote::file::GetSizePrefixedModel(both.data())->required_features() ==
                   (Feature::conv_tail | Feature::recurrent));
}

TEST("states of no size, of too large a size or with the fields of another kind are refused",
     "[fixed_state]") {
  using Field = std::function<void(Cache&)>;
  for (const Field& spoil : std::initializer_list<Field>{
           [](Cache& s) { s.heads = 0; }, [](Cache& s) { s.rows = 0; }, [](Cache& s) { s.cols = 0; },
           [](Cache& s) { s.heads = s.rows = s.cols = UINT32_MAX; },
           [](Cache& s) { s.heads = s.rows = 1u << 16, s.cols = 1u << 31; },
           [](Cache& s) { s.rows = 1u << 22; }, [](Cache& s) { s.kv_heads = 1; },
           [](Cache& s) { s.key_dim = 1; }, [](Cache& s) { s.value_dim = 1; }, [](Cache& s) { s.window = 1; },
           [](Cache& s) { s.bidirectional = true; }}) {
    expect_refused(test::Mixer::conv, [&](Graph& graph) { spoil(graph.caches[0]); }, "state 0: ");
  }
  for (const Field& spoil : std::initializer_list<Field>{
           [](Cache& s) { s.heads = 1; }, [](Cache& s) { s.rows = 1; }, [](Cache& s) { s.cols = 1; }}) {
    expect_refused(test::Mixer::attention, [&](Graph& graph) { spoil(graph.caches[0]); }, "state 0: ");
  }
}

TEST("a convolution whose state, weight or operands do not fit is refused", "[fixed_state]") {
  const auto refused = [](const Change& change, const char* words) {
    expect_refused(test::Mixer::conv, change, words);
  };
  refused([](Graph& graph) { graph.caches[0].rows = 2; }, "weight is not f32 [3, 80]");
  refused([](Graph& graph) { graph.caches[0].rows = 8; }, "9 taps, at most 8");
  refused([](Graph& graph) { graph.caches[0].cols = 79; }, "state 0 is 1 x 3 x 79");
  refused([](Graph& graph) { graph.caches[0].heads = 2; }, "state 0 is 2 x 3 x 80");
  refused([](Graph& graph) { only_node<CausalConvNode>(graph).state = 1; }, "names state 1 of 1");
  refused([](Graph& graph) { only_node<CausalConvNode>(graph).bias = 2; }, "bias is not f32 [80]");
  refused([](Graph& graph) { only_node<CausalConvNode>(graph).weight = -1; }, "weight names tensor -1");
  refused([](Graph& graph) { only_node<CausalConvNode>(graph).out.width = 79; }, "out has width 79");
  refused([](Graph& graph) { only_node<CausalConvNode>(graph).activation = mote::Activation(77); },
          "unknown activation");
  refused([](Graph& graph) { graph.caches[0].kind = mote::convert::StateKind::recurrent; },
          "state 0 is of another kind");
}

TEST("a scan whose state, parameters or operands do not fit is refused", "[fixed_state]") {
  const auto refused = [](const std::function<void(SsmScanNode&)>& change, const char* words) {
    expect_refused(test::Mixer::ssm, [&](Graph& graph) { change(only_node<SsmScanNode>(graph)); }, words);
  };
  refused([](SsmScanNode& node) { node.groups = 3; }, "4 heads over 3 groups");
  refused([](SsmScanNode& node) { node.groups = 0; }, "4 heads over 0 groups");
  refused([](SsmScanNode& node) { node.groups = 4; }, "b has width 24, expected 48");
  refused([](SsmScanNode& node) { node.dt.width = 3; }, "dt has width 3, expected 4");
  refused([](SsmScanNode& node) { node.c.width = 23; }, "c has width 23");
  refused([](SsmScanNode& node) { node.decay = -1; }, "decay names tensor -1");
  refused([](SsmScanNode& node) { node.skip = 0; }, "skip is not f32 [4]");
  refused([](SsmScanNode& node) { node.dt_min = NAN; }, "dt_min is above dt_max");
  refused([](SsmScanNode& node) { node.dt_min = 2, node.dt_max = 1; }, "dt_min is above dt_max");
  expect_refused(
      test::Mixer::ssm, [](Graph& graph) { graph.caches[0].cols = 19; }, "x has width 80, expected 76");

  const auto refused_selective = [](const std::function<void(SelectiveScanNode&)>& change,
                                    const char* words) {
    expect_refused(
        test::Mixer::selective, [&](Graph& graph) { change(only_node<SelectiveScanNode>(graph)); }, words);
  };
  refused_selective([](SelectiveScanNode& node) { node.dt.width = 79; }, "dt has width 79");
  refused_selective([](SelectiveScanNode& node) { node.b.width = 5; }, "b has width 5, expected 6");
  refused_selective([](SelectiveScanNode& node) { node.decay = node.skip; }, "decay is not f32 [6, 80]");
  expect_refused(
      test::Mixer::selective, [](Graph& graph) { graph.caches[0].heads = 2; }, "state 0 is 2 x 6 x 80");
}

TEST("a recurrent cell or linear attention whose state, weights or operands do not fit is refused",
     "[fixed_state]") {
  const auto refused_cell = [](const std::function<void(RecurrentCellNode&)>& change, const char* words) {
    expect_refused(
        test::Mixer::cell, [&](Graph& graph) { change(only_node<RecurrentCellNode>(graph)); }, words);
  };
  refused_cell([](RecurrentCellNode& node) { node.kind = mote::convert::CellKind(3); }, "unknown kind");
  refused_cell([](RecurrentCellNode& node) { node.kind = mote::convert::CellKind::gru; },
               "state 0 is 1 x 2 x 80, expected 1 x 1 x 80");
  refused_cell([](RecurrentCellNode& node) { node.in.width = 319; }, "in has width 319, expected 320");
  refused_cell([](RecurrentCellNode& node) { node.weight = node.bias; }, "weight is not f32 [80, 320]");
  refused_cell([](RecurrentCellNode& node) { node.bias = node.weight; }, "bias is not f32 [320]");

  const auto refused = [](const std::function<void(LinearAttentionNode&)>& change, const char* words) {
    expect_refused(
        test::Mixer::linear, [&](Graph& graph) { change(only_node<LinearAttentionNode>(graph)); }, words);
  };
  refused([](LinearAttentionNode& node) { node.map = mote::convert::FeatureMap(2); }, "unknown map");
  refused([](LinearAttentionNode& node) { node.heads = 0; }, "0 heads in widths 48 and 80");
  refused([](LinearAttentionNode& node) { node.heads = 5; }, "5 heads in widths 48 and 80");
  refused([](LinearAttentionNode& node) { node.heads = 2; }, "projection is not f32 [6, 24]");
  refused([](LinearAttentionNode& node) { node.projection = -1; }, "a projection is of exponential features");
  refused([](LinearAttentionNode& node) { node.k.width = 47; }, "k has width 47, expected 48");
  refused([](LinearAttentionNode& node) { node.state = -1; },
          "only programs of whole sequences have no state");
}

TEST("a delta rule whose heads, parameters or operands do not fit is refused", "[fixed_state]") {
  const auto refused = [](const std::function<void(GatedDeltaNode&)>& change, const char* words) {
    expect_refused(
        test::Mixer::delta, [&](Graph& graph) { change(only_node<GatedDeltaNode>(graph)); }, words);
  };
  refused([](GatedDeltaNode& node) { node.key_heads = 3; }, "4 heads over 3 of keys");
  refused([](GatedDeltaNode& node) { node.key_heads = 0; }, "4 heads over 0 of keys");
  refused([](GatedDeltaNode& node) { node.k.width = 23; }, "k has width 23");
  refused([](GatedDeltaNode& node) { node.beta.width = 3; }, "beta has width 3");
  refused([](GatedDeltaNode& node) { node.eps = 0; }, "eps is not above 0");
  refused([](GatedDeltaNode& node) { node.scale = NAN; }, "scale is not finite");
  refused([](GatedDeltaNode& node) { node.state = 7; }, "names state 7 of 1");
}

TEST("attention over a state of a fixed size is refused", "[fixed_state]") {
  expect_refused(
      test::Mixer::attention, [](Graph& graph) { graph.caches[0] = conv_tail(4, 80); },
      "state 0 is of another kind");
}

TEST("each program carries each state once, or is refused", "[fixed_state]") {
  expect_refused(
      test::Mixer::conv, [](Graph& graph) { graph.caches.push_back(conv_tail(3, 80)); },
      "no operation for state 1");
  expect_refused(
      test::Mixer::conv, [](Graph& graph) { graph.nodes.push_back(only_node<CausalConvNode>(graph)); },
      "more than one operation for state 0");
}

TEST("an encoder with a state of a fixed size is refused", "[fixed_state]") {
  mote_error error{};
  const mote_status status = status_of(
      test::Mixer::conv, [](Graph&) {}, &error,
      [](mote::file::Model* root) {
        root->mutable_programs()->GetMutableObject(0)->mutate_kind(mote::file::ProgramKind::whole);
      });
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, status);
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "conv_tail"));
}
