// SPDX-License-Identifier: Apache-2.0
//
// Operations that no golden model has yet, in models of a few nodes; and what the list of operations says.
#include "runtime/ops/ops.h"

#include <functional>

#include "runtime/exec/session.h"
#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

using namespace mote::convert;
using test::add_value;

namespace {

constexpr uint32_t kOpsWidth = 20, kContext = 64;

/// A vector of the file; returns its index.
int32_t add_vector(Graph& graph, const std::vector<float>& values, bool row_major = true) {
  graph.weights.push_back(
      {"vector", mote::DType::f32, row_major, 1, static_cast<uint32_t>(values.size()), {}, values});
  return static_cast<int32_t>(graph.weights.size() - 1);
}

std::vector<float> factors() {
  std::vector<float> scale(kOpsWidth);
  for (uint32_t k = 0; k < kOpsWidth; ++k) scale[k] = 0.3f * static_cast<float>(k) - 2.1f;
  return scale;
}

/// What opening says of a decoder with this node; empty if it is taken.
template <class Node>
std::string refusal(Node node, const std::string& operation = "ScaleRows") {
  const test::AlignedBytes file = test::decoder_file(
      kOpsWidth, kContext, [&](Graph& graph, const View& x) { graph.nodes.push_back(node(graph, x)); });
  const test::AlignedBytes storage(mote_model_bytes());
  mote_model* model = nullptr;
  mote_error error{};
  const mote_status status =
      mote_model_open(file.data(), file.size(), 0, storage.data(), storage.size(), &model, &error);
  if (status == MOTE_OK) return "";
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, status);
  const std::string start = " " + operation + ": ";
  const char* found = std::strstr(error.text, start.c_str());
  TEST_ASSERT_NOT_NULL(found);
  return found + start.size();
}

/// Logits of each token of a text.
std::vector<float> logits(const test::AlignedBytes& file, uint32_t threads, uint32_t chunk) {
  const test::OpenModel model(file);
  mote_posix_pool* pool = mote_posix_pool_create(threads);
  mote_session_options options = mote_session_options_default(model.get());
  options.platform = mote_posix_pool_platform(pool);
  options.threads = threads;
  options.chunk = chunk;
  std::vector<float> all;
  {
    const test::OpenSession session(model, options);
    const auto ids = test::some_ids(40, 16);
    all = test::prefill(session.get(), {ids.begin(), ids.end() - 3}, 16);
    for (size_t i = ids.size() - 3; i < ids.size(); ++i) {
      mote_error error{};
      REQUIRE(mote_decode(session.get(), &ids[i], &error) == MOTE_OK);
      const auto next = test::logits_of(session.get(), 16);
      all.insert(all.end(), next.begin(), next.end());
    }
  }
  mote_posix_pool_destroy(pool);
  return all;
}

/// Changes the values of the embedding, the first weight, as a node that follows it would.
template <class Change>
test::AlignedBytes with_table(Change change) {
  return test::decoder_file(kOpsWidth, kContext, [&](Graph& graph, const View&) {
    std::vector<float>& table = graph.weights[0].values;
    for (size_t i = 0; i < table.size(); ++i) table[i] = change(table[i], i % kOpsWidth);
  });
}

}  // namespace

TEST("a scale that is not f32 of the row's width is refused", "[ops]") {
  const auto with_scale = [](auto make) {
    return refusal([&](Graph& graph, const View& x) { return ScaleRowsNode{x, x, make(graph)}; });
  };
  TEST_ASSERT_EQUAL_STRING("", with_scale([](Graph& graph) { return add_vector(graph, factors()); }).c_str());
  const std::string is_not = "scale is not f32 [20]";
  TEST_ASSERT_TRUE(is_not == with_scale([](Graph& graph) {
                     return add_vector(graph, std::vector<float>(kOpsWidth + 1));
                   }));
  TEST_ASSERT_TRUE(is_not == with_scale([](Graph& graph) { return add_vector(graph, factors(), false); }));
  TEST_ASSERT_TRUE(is_not == with_scale([](Graph&) { return 0; }));  // the embedding
  TEST_ASSERT_TRUE("scale names tensor 7 of 2" == with_scale([](Graph&) { return 7; }));
  TEST_ASSERT_TRUE("scale names tensor -2 of 2" == with_scale([](Graph&) { return -2; }));
}

TEST("scaled rows of other widths, types or units are refused", "[ops]") {
  const auto narrow = [](const View& x) { return View{x.value, 0, kOpsWidth - 1}; };
  TEST_ASSERT_TRUE("out has width 19, expected 20" == refusal([&](Graph&, const View& x) {
                     return ScaleRowsNode{x, narrow(x)};
                   }));
  TEST_ASSERT_TRUE("residual has width 19, expected 20" == refusal([&](Graph&, const View& x) {
                     return ScaleRowsNode{x, x, -1, 2.0f, narrow(x)};
                   }));
  TEST_ASSERT_TRUE("residual has rows for something else" == refusal([](Graph& graph, const View& x) {
                     return ScaleRowsNode{x, x, -1, 2.0f, add_value(graph, kOpsWidth, Unit::selected)};
                   }));
  TEST_ASSERT_TRUE("in is not f32" == refusal([](Graph& graph, const View& x) {
                     const View quantized = add_value(graph, kOpsWidth);
                     graph.values.back().dtype = mote::DType::q8g32;
                     return ScaleRowsNode{quantized, x};
                   }));
}

TEST("a factor that is not finite, or beside a scale, is refused", "[ops]") {
  for (const float factor : {NAN, INFINITY, -INFINITY}) {
    TEST_ASSERT_TRUE("factor is not finite" == refusal([&](Graph&, const View& x) {
                       return ScaleRowsNode{x, x, -1, factor};
                     }));
  }
  TEST_ASSERT_TRUE("has a scale and a factor" == refusal([](Graph& graph, const View& x) {
                     return ScaleRowsNode{x, x, add_vector(graph, factors()), 2.0f};
                   }));
}

TEST("clamps and xIELUs whose numbers make no sense are refused", "[ops]") {
  const auto clamp = [](float least, float most) {
    return refusal([&](Graph&, const View& x) { return ClampNode{least, most, x, x}; }, "Clamp");
  };
  TEST_ASSERT_EQUAL_STRING("", clamp(-1.0f, -1.0f).c_str());
  TEST_ASSERT_EQUAL_STRING("least is above most", clamp(1.0f, -1.0f).c_str());
  TEST_ASSERT_EQUAL_STRING("least is not finite", clamp(-INFINITY, 1.0f).c_str());
  TEST_ASSERT_EQUAL_STRING("most is not finite", clamp(0.0f, NAN).c_str());
  const auto xielu = [](XieluNode node) {
    const auto make = [&](Graph&, const View& x) {
      node.in = node.out = x;
      return node;
    };
    return refusal(make, "Xielu");
  };
  TEST_ASSERT_EQUAL_STRING("", xielu({1.0f, 1.0f, 0.5f, -1e-6f, {}, {}}).c_str());
  TEST_ASSERT_EQUAL_STRING("positive is not finite", xielu({NAN, 1.0f, 0.5f, 0.0f, {}, {}}).c_str());
  TEST_ASSERT_EQUAL_STRING("negative is not finite", xielu({1.0f, INFINITY, 0.5f, 0.0f, {}, {}}).c_str());
  TEST_ASSERT_EQUAL_STRING("beta is not finite", xielu({1.0f, 1.0f, NAN, 0.0f, {}, {}}).c_str());
  TEST_ASSERT_EQUAL_STRING("eps is not finite", xielu({1.0f, 1.0f, 0.5f, NAN, {}, {}}).c_str());
}

TEST("roundings to no scale, or to more than floats count exactly, are refused", "[ops]") {
  const auto round = [](RoundNode node) {
    const auto make = [&](Graph&, const View& x) {
      node.in = node.out = x;
      return node;
    };
    return refusal(make, "Round");
  };
  const auto integers = [&](float unit, float least, float most) {
    return round({mote::Rounding::integer, unit, least, most, {}, {}});
  };
  TEST_ASSERT_EQUAL_STRING("", integers(0.1f, -65536.0f, 65536.0f).c_str());
  TEST_ASSERT_EQUAL_STRING("", round({mote::Rounding::e4m3, 0.1f, -448.0f, 448.0f, {}, {}}).c_str());
  TEST_ASSERT_EQUAL_STRING("the unit is not positive", integers(0.0f, -1.0f, 1.0f).c_str());
  TEST_ASSERT_EQUAL_STRING("unit is not finite", integers(NAN, -1.0f, 1.0f).c_str());
  TEST_ASSERT_EQUAL_STRING("least is above most", integers(1.0f, 2.0f, 1.0f).c_str());
  const char far_off[] = "least or most is too far from 0";
  TEST_ASSERT_EQUAL_STRING(far_off, integers(1.0f, -65537.0f, 1.0f).c_str());
  TEST_ASSERT_EQUAL_STRING(far_off, integers(1.0f, -1.0f, NAN).c_str());
  TEST_ASSERT_EQUAL_STRING(far_off, round({mote::Rounding::e4m3, 0.1f, -448.0f, 449.0f, {}, {}}).c_str());
  TEST_ASSERT_EQUAL_STRING("unknown rounding",
                           round({static_cast<mote::Rounding>(2), 1.0f, -1.0f, 1.0f, {}, {}}).c_str());
}

TEST("leaky rectifiers and splines whose numbers make no sense are refused", "[ops]") {
  const auto leaky = [](float slope) {
    return refusal([&](Graph&, const View& x) { return LeakyReluNode{slope, x, x}; }, "LeakyRelu");
  };
  TEST_ASSERT_EQUAL_STRING("", leaky(0.1f).c_str());
  TEST_ASSERT_EQUAL_STRING("slope is not finite", leaky(NAN).c_str());
  const auto spline = [](uint32_t bins, float bound, uint32_t curve, uint32_t width = 1) {
    const auto make = [&](Graph& graph, const View& x) {
      const View value{x.value, 0, width};
      return SplineNode{bins, bound, value, add_value(graph, curve), value};
    };
    return refusal(make, "Spline");
  };
  TEST_ASSERT_EQUAL_STRING("", spline(4, 5.0f, 11).c_str());
  TEST_ASSERT_EQUAL_STRING("curve has width 12, expected 11", spline(4, 5.0f, 12).c_str());
  TEST_ASSERT_EQUAL_STRING("in has width 2, expected 1", spline(4, 5.0f, 11, 2).c_str());
  TEST_ASSERT_EQUAL_STRING("1 bins", spline(1, 5.0f, 2).c_str());
  TEST_ASSERT_EQUAL_STRING("129 bins", spline(129, 5.0f, 386).c_str());
  TEST_ASSERT_EQUAL_STRING("the bound is not positive", spline(4, 0.0f, 11).c_str());
  TEST_ASSERT_EQUAL_STRING("bound is not finite", spline(4, INFINITY, 11).c_str());
}

TEST("streams that do not divide their rows are refused", "[ops]") {
  const auto mix = [](uint32_t streams, uint32_t inputs, uint32_t coefficients) {
    const auto make = [&](Graph& graph, const View& x) {
      const View in = add_value(graph, inputs * x.width / 2), with = add_value(graph, coefficients);
      return MixStreamsNode{streams, in, with, x, x};
    };
    return refusal(make, "MixStreams");
  };
  TEST_ASSERT_EQUAL_STRING("", mix(2, 3, 6).c_str());
  TEST_ASSERT_NOT_NULL(std::strstr(mix(0, 2, 4).c_str(), "columns for 0 streams"));
  TEST_ASSERT_NOT_NULL(std::strstr(mix(1, 3, 1).c_str(), "columns for streams of"));
  TEST_ASSERT_EQUAL_STRING("coefficients has width 5, expected 6", mix(2, 3, 5).c_str());
  const auto numbers = [](auto node, const char* table) {
    return refusal(
        [&](Graph&, const View& x) {
          node.in = node.out = x;
          return node;
        },
        table);
  };
  TEST_ASSERT_EQUAL_STRING("deviations is not finite", numbers(CutoffNode{NAN, {}, {}}, "Cutoff").c_str());
  const auto match = [](float eps) {
    return refusal([&](Graph&, const View& x) { return MatchRmsNode{eps, x, x, x}; }, "MatchRms");
  };
  TEST_ASSERT_EQUAL_STRING("", match(1e-5f).c_str());
  TEST_ASSERT_EQUAL_STRING("eps is not finite", match(INFINITY).c_str());
}

TEST("a table whose scale grows every 0 positions or without end is refused", "[ops]") {
  const auto table = [](float growth, uint32_t every) {
    const auto make = [&](Graph& graph, const View&) {
      const int32_t frequencies = add_vector(graph, {1.0f, 0.5f});
      return RopeTableNode{frequencies, 1.0f, add_value(graph, 4), growth, every};
    };
    return refusal(make, "RopeTable");
  };
  TEST_ASSERT_EQUAL_STRING("", table(0.5f, 16).c_str());
  TEST_ASSERT_EQUAL_STRING("growth is not finite", table(INFINITY, 16).c_str());
  TEST_ASSERT_EQUAL_STRING("the scale grows every 0 positions", table(0.5f, 0).c_str());
}

TEST("attention's scores have one form, whose numbers make sense, or the file is refused", "[ops]") {
  const auto attention = [](const std::function<void(Graph&, AttentionNode&)>& change) {
    const auto make = [&](Graph& graph, const View& x) {
      graph.caches.push_back({2, kOpsWidth / 2, 0});
      graph.nodes.push_back(KvStoreNode{0, x, x});
      AttentionNode node{0, 2, 0.5f, x, x};
      change(graph, node);
      return node;
    };
    return refusal(make, "Attention");
  };
  TEST_ASSERT_EQUAL_STRING("", attention([](Graph& graph, AttentionNode& node) {
                                 node.slopes = add_vector(graph, {0.5f, 0.25f});
                                 node.sinks = add_vector(graph, {0.5f, -0.25f});
                                 node.slopes_in_bf16 = true;
                               }).c_str());
  TEST_ASSERT_EQUAL_STRING("the softcap is negative or not finite",
                           attention([](Graph&, AttentionNode& node) { node.softcap = -1.0f; }).c_str());
  TEST_ASSERT_EQUAL_STRING("slopes is not f32 [2]", attention([](Graph& graph, AttentionNode& node) {
                                                      node.slopes = add_vector(graph, {0.5f});
                                                    }).c_str());
  TEST_ASSERT_EQUAL_STRING("sinks is not f32 [2]", attention([](Graph& graph, AttentionNode& node) {
                                                     node.sinks = add_vector(graph, {1, 2, 3});
                                                   }).c_str());
  TEST_ASSERT_EQUAL_STRING("rounds slopes that it does not have", attention([](Graph&, AttentionNode& node) {
                                                                    node.slopes_in_bf16 = true;
                                                                  }).c_str());
  TEST_ASSERT_EQUAL_STRING("has more than one of a bias, slopes and a softcap",
                           attention([](Graph& graph, AttentionNode& node) {
                             node.slopes = add_vector(graph, {0.5f, 0.25f});
                             node.softcap = 20.0f;
                           }).c_str());
}

TEST("a model that scales rows computes what one does whose embedding is scaled", "[ops]") {
  const std::vector<float> scale = factors();
  const test::AlignedBytes scaled = test::decoder_file(kOpsWidth, kContext, [&](Graph& graph, const View& x) {
    const View y = add_value(graph, kOpsWidth);
    graph.nodes.push_back(ScaleRowsNode{x, y, add_vector(graph, scale)});  // y = x s
    graph.nodes.push_back(ScaleRowsNode{y, x, -1, 1.7f, x});               // x = 1.7 y + x
    graph.nodes.push_back(ScaleRowsNode{x, x, -1, 0.37f});                 // in place
  });
  const test::AlignedBytes expected = with_table([&](float x, size_t k) {
    const float y = x * scale[k], product = 1.7f * y, sum = product + x;
    return sum * 0.37f;
  });
  const std::vector<float> bits = logits(expected, 1, 64);
  for (const uint32_t threads : {1u, 2u, 3u}) {
    for (const uint32_t chunk : {1u, 7u, 64u}) {
      CAPTURE(threads, chunk);
      TEST_ASSERT_TRUE(bits == logits(scaled, threads, chunk));
    }
  }
}

TEST("scaling rows goes by rows: it is chained to the embedding and to itself", "[ops]") {
  const test::AlignedBytes file = test::decoder_file(kOpsWidth, kContext, [](Graph& graph, const View& x) {
    const View y = add_value(graph, kOpsWidth);
    graph.nodes.push_back(ScaleRowsNode{x, y, -1, 2.0f});
    graph.nodes.push_back(ScaleRowsNode{y, x, -1, 2.0f, x});
  });
  const test::OpenModel model(file);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  const bool expected[] = {false, true, true, false, false};  // embed, scale, scale, select, linear
  TEST_ASSERT_EQUAL_UINT32(5u, session.get()->step_count);
  for (uint32_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    TEST_ASSERT_EQUAL(expected[i], session.get()->steps[i].chained);
  }
}

TEST("operations that leave tokens read rows of tokens, and only those by rows are chained", "[ops]") {
  constexpr const char* kNames[] = {
#define OP(op, operation, types) #operation,
#include "kernels/op_list.inc"
  };
  static_assert(std::size(kNames) == std::size(mote::kOpTraits));
  std::string leaving, by_rows;
  const char* const* name = kNames;
  for (const mote::Traits& traits : mote::kOpTraits) {
    CAPTURE(*name);
    TEST_ASSERT_TRUE(!traits.leaves_tokens || traits.reads == mote::Reads::tokens);
    TEST_ASSERT_FALSE(traits.leaves_tokens && traits.by_rows());
    TEST_ASSERT_FALSE(traits.across_rows() && traits.by_rows());
    if (traits.leaves_tokens) leaving += std::string(" ") + *name;
    if (traits.by_rows()) by_rows += std::string(" ") + *name;
    ++name;
  }
  TEST_ASSERT_EQUAL_STRING(" select pool", leaving.c_str());
  TEST_ASSERT_EQUAL_STRING(  // in the order of op_list.inc
      " embed positions norm quantize rope_table rope kv_store gate scale_rows input route clamp xielu "
      "token_dropout activate sines mix_streams match_rms cutoff leaky_relu spline round "
      "grid_positions",
      by_rows.c_str());
}
