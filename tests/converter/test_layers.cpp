// SPDX-License-Identifier: Apache-2.0
//
// Models put together from layers of every form, run and compared with plain loops.
#include <fmt/format.h>

#include "converter/layers/build_transformer.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/graph_file.h"
#include "tests/support/plain_transformer.h"
#include "tests/support/test_model.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::contains;
using mote::testing::message_of;
using ::test::Matrix;
using ::test::PlainTransformer;
using ::test::RandomWeights;

namespace {

constexpr uint32_t kLength = 13;

/// As llama's; the names say what they are of.
LayerSpec plain_layer() {
  LayerSpec layer;
  layer.attention.heads = 4;
  layer.attention.kv_heads = 2;
  layer.attention.head_dim = 4;
  layer.attention.scale = 0.5f;
  layer.attention.rope = 0;
  layer.ffn.width = 20;
  layer.names.q = "{}.q";
  layer.names.k = "{}.k";
  layer.names.v = "{}.v";
  layer.names.o = "{}.o";
  layer.names.gate = "{}.gate";
  layer.names.up = "{}.up";
  layer.names.down = "{}.down";
  layer.names.attention_norms.before = "{}.attention_before";
  layer.names.ffn_norms.before = "{}.ffn_before";
  return layer;
}

TransformerSpec plain_spec(uint32_t layers) {
  TransformerSpec spec{};
  spec.vocab = 24;
  spec.width = 16;
  spec.context = 16;
  spec.norm_eps = 1e-5f;
  spec.ropes = {{RopeKind::half, {1.0f, 0.1f}, 1.0f}};
  spec.names.embedding = "embedding";
  spec.names.final_norm = "final_norm";
  spec.names.head = "head";
  spec.repeat(plain_layer(), layers);
  return spec;
}

TransformerSpec encoder_spec(uint32_t layers) {
  TransformerSpec spec = plain_spec(layers);
  spec.head.kind = OutputKind::hidden;
  spec.head.probabilities = Probabilities::none;
  return spec;
}

Graph graph_of(const TransformerSpec& spec, const Source& source, const char* type = "f32") {
  TensorSet tensors(source);
  return build_transformer(spec, TypePolicy(type, source, spec.is_encoder()), tensors);
}

/// All rows of the output.
Matrix run(const Graph& graph, const std::vector<int32_t>& ids) {
  const ::test::AlignedBytes file = ::test::graph_file(graph, "layers");
  const ::test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = options.logit_rows = options.context;
  const ::test::OpenSession session(model, options);
  const auto length = static_cast<uint32_t>(ids.size());
  const bool encoder = is_encoder(graph.output_kind);
  mote_error error{};
  const mote_batch batch{ids.data(), nullptr, &length, 1, nullptr, 0, nullptr, {}, {}, {}};
  const mote_status status =
      encoder ? mote_encode(session.get(), &batch, &error)
              : mote_prefill(session.get(), 0, ids.data(), length, MOTE_LOGITS_ALL, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  Matrix rows;
  for (uint32_t row = 0; row < length; ++row) {
    const float* values =
        encoder ? mote_session_output(session.get(), row) : mote_session_logits(session.get(), row);
    rows.emplace_back(values, values + graph.output.width);
  }
  return rows;
}

/// A sum of K products of floats is exact to K 2^-24 of its size, and no K here exceeds 32: 2e-6. Some 20
/// sums follow each other.
void check_close(const Matrix& expected, const Matrix& found) {
  double largest = 0;
  for (const auto& row : expected) {
    for (const double value : row) largest = std::max(largest, std::fabs(value));
  }
  for (size_t t = 0; t < expected.size(); ++t) {
    CAPTURE(t);
    for (size_t k = 0; k < expected[t].size(); ++k)
      TEST_ASSERT_FLOAT_WITHIN(largest * 4e-5, expected[t][k], found[t][k]);
  }
}

/// Runs the spec's graph and compares it with plain loops, which it returns.
Matrix check(const TransformerSpec& spec,
             std::function<void(PlainTransformer&, Matrix&, const LayerSpec&)> built = nullptr) {
  const std::vector<int32_t> ids = ::test::some_ids(kLength, spec.vocab);
  RandomWeights weights;
  PlainTransformer plain(spec, weights);
  plain.built = std::move(built);
  Matrix expected = plain.run(ids);
  check_close(expected, run(graph_of(spec, weights.source()), ids));
  return expected;
}

/// What the builder refuses the spec with.
std::string error_of(const TransformerSpec& spec) {
  const Source source;
  return message_of<Error>([&] { graph_of(spec, source); });
}

template <class NodeType>
size_t count_nodes(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes) count += std::holds_alternative<NodeType>(node);
  return count;
}

}  // namespace

TEST("layers: serial ones add the attention, then the feed-forward of the sum", "[layers]") {
  check(plain_spec(2));
  check(encoder_spec(2));
}

TEST("layers: branches of a parallel one read the same x through one norm, two, or none", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  for (LayerSpec& layer : spec.layers) layer.branches = Branches::parallel;
  spec.layers[1].names.ffn_norms.before = "";
  spec.layers[2].names.ffn_norms.before = spec.layers[2].names.attention_norms.before = "";
  check(spec);
}

TEST("layers: a norm that the branches of a parallel layer share is quantized once", "[layers]") {
  TransformerSpec spec = plain_spec(1);
  spec.layers[0].branches = Branches::parallel;
  RandomWeights weights;
  spec.layers[0].names.ffn_norms.before = "";
  PlainTransformer(spec, weights).run({0});
  const Graph graph = graph_of(spec, weights.source(), "q8");
  // The norm, the heads' outputs, the inner values of the feed-forward, the head's input.
  TEST_ASSERT_EQUAL_UINT64(4, count_nodes<QuantizeNode>(graph));
}

TEST("layers: norms stand before a branch, after the sum, on both sides or nowhere", "[layers]") {
  TransformerSpec spec = plain_spec(4);
  for (uint32_t i = 0; i < 4; ++i) {
    LayerNames& names = spec.layers[i].names;
    if (i % 2 == 0) names.attention_norms.before = names.ffn_norms.before = "";
    if (i >= 2) {
      names.attention_norms.sum = "{}.attention_sum";
      names.ffn_norms.sum = "{}.ffn_sum";
    }
  }
  check(spec);
  spec.layers[3].branches = Branches::parallel;  // one norm of the sum of both branches
  spec.layers[3].names.attention_norms.sum = "";
  check(spec);
}

TEST("layers: a norm of a branch is taken before the sum, with one before the branch or without",
     "[layers]") {
  TransformerSpec spec = plain_spec(3);
  for (LayerSpec& layer : spec.layers) {
    layer.names.attention_norms.after = "{}.attention_after";
    layer.names.ffn_norms.after = "{}.ffn_after";
  }
  LayerNames& after_alone = spec.layers[1].names;
  after_alone.attention_norms.before = after_alone.ffn_norms.before = "";
  spec.layers[2].branches = Branches::parallel;
  spec.layers[2].names.ffn_norms.sum = "{}.ffn_sum";
  check(spec);
}

TEST("layers: a residual multiplier scales each branch, after its norm", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  spec.layers[0].residual_multiplier = 0.3f;
  spec.layers[1].residual_multiplier = -0.25f;
  spec.layers[1].branches = Branches::parallel;
  spec.layers[2].residual_multiplier = 1.5f;
  spec.layers[2].names.ffn_norms.after = "{}.ffn_after";
  const Matrix scaled = check(spec);
  for (LayerSpec& layer : spec.layers) layer.residual_multiplier = 1.0f;
  TEST_ASSERT_FALSE(scaled == check(spec));
}

TEST("layers: an embedding multiplier scales the rows of tokens, not positions nor a tied head", "[layers]") {
  TransformerSpec spec = plain_spec(1);
  spec.embedding_multiplier = 4.0f;
  spec.names.positions = "positions";
  spec.names.head = "embedding";
  spec.tied_embedding = true;
  const Matrix scaled = check(spec);
  spec.embedding_multiplier = 1.0f;
  TEST_ASSERT_FALSE(scaled == check(spec));
}

TEST("layers: a logit multiplier scales a decoder's logits and those of masked words", "[layers]") {
  TransformerSpec masked = encoder_spec(1);
  masked.head.kind = OutputKind::masked_token;
  masked.head.output = "head";
  for (TransformerSpec spec : {plain_spec(1), masked}) {
    spec.logit_multiplier = -0.0625f;
    const Matrix scaled = check(spec);
    spec.logit_multiplier = 1.0f;
    TEST_ASSERT_FALSE(scaled == check(spec));
  }
}

TEST("layers: nothing is added where the linear that ends a branch can add it", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  spec.layers[1].names.ffn_norms.after = "{}.ffn_after";
  RandomWeights weights;
  PlainTransformer(spec, weights).run({0});
  TEST_ASSERT_EQUAL_UINT64(1, count_nodes<ScaleRowsNode>(graph_of(spec, weights.source())));
}

TEST("layers: each turns its queries and keys by a RoPE of its own or not at all", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  spec.ropes.push_back({RopeKind::half, {0.25f}, 1.0f});  // of half the columns
  spec.layers[1].attention.rope = 1;
  spec.layers[2].attention.rope = kNone;
  const Matrix mixed = check(spec);
  for (LayerSpec& layer : spec.layers) layer.attention.rope = 0;
  TEST_ASSERT_FALSE(mixed == check(spec));
}

TEST("layers: heads, their widths, scales, windows and norms are each layer's", "[layers]") {
  TransformerSpec spec = plain_spec(4);
  AttentionSpec& wide = spec.layers[1].attention;
  wide.heads = 2;
  wide.kv_heads = 1;
  wide.head_dim = 12;
  wide.value_dim = 8;
  wide.scale = 0.3f;
  spec.layers[2].attention.window = 5;
  spec.layers[3].attention.window = 2;
  spec.layers[3].attention.kv_heads = 4;
  spec.layers[3].names.q_norm = "{}.q_norm";
  spec.layers[3].names.k_norm = "{}.k_norm";
  const Matrix mixed = check(spec);
  spec.layers[2].attention.window = 4;
  TEST_ASSERT_FALSE(mixed == check(spec));
}

TEST("layers: scores are capped, get slopes by distance, or beside either a sink", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  spec.layers[0].attention.softcap = 0.75f;
  spec.layers[1].attention.slopes = {0.5f, 0.25f, 0.125f, 0.0625f};
  const Matrix without = check(spec);
  for (LayerSpec& layer : spec.layers) layer.names.sinks = "{}.sinks.weight";
  TEST_ASSERT_FALSE(without == check(spec));
  spec.layers[1].attention.slopes = {0.5f};
  TEST_ASSERT_EQUAL_STRING("layer 1 has 1 slopes for 4 heads", error_of(spec));
}

TEST("layers: feed-forwards differ in width, kind and activation", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  spec.layers[1].ffn = {Ffn::plain, Activation::relu, 32, false};
  spec.layers[2].ffn = {Ffn::gated, Activation::relu, 8, false};
  check(spec);
}

TEST("layers: an encoder's may differ in heads and in their bias by distance", "[layers]") {
  TransformerSpec spec = encoder_spec(4);
  const uint32_t columns = 2 * spec.context - 1;
  for (const uint32_t heads : {4u, 2u}) {
    std::vector<float> bias(size_t{heads} * columns);
    for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i * i % 23) / 8.0f - 1.0f;
    spec.attention_biases.push_back(std::move(bias));
  }
  spec.layers[0].attention.bias = 0;
  AttentionSpec& wide = spec.layers[1].attention;
  wide.heads = wide.kv_heads = 2;
  wide.head_dim = 8;
  wide.bias = 1;
  spec.layers[2].attention.value_dim = 8;
  check(spec);
  RandomWeights weights;
  PlainTransformer(spec, weights).run({0});
  TEST_ASSERT_EQUAL_UINT64(3, graph_of(spec, weights.source()).caches.size());  // one for each shape
}

TEST("layers: of one number they share weights, and one may have names of its own", "[layers]") {
  TransformerSpec spec = plain_spec(3);
  spec.layers[1].weights = 0;
  LayerNames& own = spec.layers[2].names;
  own.q = "last.query";
  own.up = "last.{}.up";
  check(spec);
  RandomWeights weights;
  PlainTransformer(spec, weights).run({0});
  const Source source = weights.source();
  TEST_ASSERT_EQUAL_UINT64(1, source.tensors.count("last.2.up.weight"));
  TEST_ASSERT_EQUAL_UINT64(0, source.tensors.count("1.q.weight"));
  for (const Weight& weight : graph_of(spec, source).weights) {
    TEST_ASSERT_FALSE(weight.name.starts_with("layer.1."));
  }
}

TEST("layers: different weights of one name in the file are an error that has the name", "[layers]") {
  TransformerSpec spec = plain_spec(2);
  spec.layers[1].names.label = "layer.0.";
  RandomWeights weights;
  PlainTransformer(spec, weights).run({0});
  const Source source = weights.source();
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { graph_of(spec, source); }), "layer.0.attention_norm"));
}

TEST("layers: one that no data describe is built from the same blocks", "[layers]") {
  // A feed-forward on either side of the attention, as in a Conformer.
  TransformerSpec spec = plain_spec(2);
  LayerSpec first = spec.layers[1];
  first.names.label = "layer.{}.first_";
  first.names.gate = "{}.first_gate";
  first.names.up = "{}.first_up";
  first.names.down = "{}.first_down";
  first.names.ffn_norms.before = "{}.first_norm";
  spec.layers[1].build = [first](TransformerBuilder& builder, const LayerSpec& layer) {
    builder.ffn(first);
    builder.attention(layer);
    builder.ffn(layer);
  };
  check(spec, [&](PlainTransformer& plain, Matrix& x, const LayerSpec& layer) {
    plain.ffn(x, first);
    plain.attention(x, layer);
    plain.ffn(x, layer);
  });
}

TEST("layers: a spec that makes no sense is an error that names what is wrong", "[layers]") {
  const auto error = [](const std::function<void(TransformerSpec&)>& change) {
    TransformerSpec spec = plain_spec(2);
    change(spec);
    return error_of(spec);
  };
  const auto layer_error = [&](const std::function<void(LayerSpec&)>& change) {
    return error([&](TransformerSpec& spec) { change(spec.layers[1]); });
  };
  TEST_ASSERT_EQUAL_STRING("the model has no layers", error([](auto& spec) { spec.layers.clear(); }));
  TEST_ASSERT_EQUAL_STRING("layer 1: 4 heads are not a multiple of 3 heads of keys and values",
                           layer_error([](auto& layer) { layer.attention.kv_heads = 3; }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has 4 heads, 0 heads of keys and values, head_dim 4",
                           layer_error([](auto& layer) { layer.attention.kv_heads = 0; }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has rope 1 of 1",
                           layer_error([](auto& layer) { layer.attention.rope = 1; }));
  TEST_ASSERT_EQUAL_STRING("layer 1: rope 0 rotates 4 columns, head_dim is 2",
                           layer_error([](auto& layer) { layer.attention.head_dim = 2; }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has attention bias 0 of 0",
                           layer_error([](auto& layer) { layer.attention.bias = 0; }));
  TEST_ASSERT_EQUAL_STRING("layer 1: attention bias 0 has 30 values, expected 124", error([](auto& spec) {
                             spec.attention_biases.emplace_back(30);
                             spec.layers[1].attention.bias = 0;
                           }));
  TEST_ASSERT_EQUAL_STRING("layer 1: attention scale nan",
                           layer_error([](auto& layer) { layer.attention.scale = NAN; }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has a window of 4; encoders have none", error([](auto& spec) {
                             spec.head.kind = OutputKind::hidden;
                             spec.layers[1].attention.window = 4;
                           }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has a feed-forward of width 0",
                           layer_error([](auto& layer) { layer.ffn.width = 0; }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has no name for gate",
                           layer_error([](auto& layer) { layer.names.gate = ""; }));
  TEST_ASSERT_EQUAL_STRING("layer 1 has no name for q and k",
                           layer_error([](auto& layer) { layer.names.k = ""; }));
  TEST_ASSERT_TRUE(contains(layer_error([](auto& layer) {
                              layer.branches = Branches::parallel;
                              layer.names.attention_norms.sum = "norm";
                            }),
                            "layer 1 is parallel"));
}

TEST("layers: a multiplier that is 0 or not finite is an error that names it", "[layers]") {
  for (const float factor : {0.0f, -INFINITY, INFINITY, NAN}) {
    TransformerSpec embedding = plain_spec(2), logits = plain_spec(2), residual = plain_spec(2);
    embedding.embedding_multiplier = logits.logit_multiplier = factor;
    residual.layers[1].residual_multiplier = factor;
    TEST_ASSERT_EQUAL_STRING(fmt::format("embedding multiplier {}", factor), error_of(embedding));
    TEST_ASSERT_EQUAL_STRING(fmt::format("logit multiplier {}", factor), error_of(logits));
    TEST_ASSERT_EQUAL_STRING(fmt::format("layer 1: residual multiplier {}", factor), error_of(residual));
  }
  TransformerSpec hidden = encoder_spec(1);
  hidden.logit_multiplier = 2.0f;
  TEST_ASSERT_EQUAL_STRING("logit multiplier 2 of an output that has no logits over the vocabulary",
                           error_of(hidden));
}
