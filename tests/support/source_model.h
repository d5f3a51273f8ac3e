// SPDX-License-Identifier: Apache-2.0
//
// A model of two kinds of programs: one appends tokens, which attend to each other and to a source, the other
// encodes the source.
#pragma once

#include "tests/support/graph_file.h"

namespace test {

inline constexpr uint32_t kSourceVocab = 16, kSourceWidth = 16, kSourceContext = 700, kTokenContext = 300;

/// What a row of a source is: an id, floats, or floats of which two rows are a position.
enum class SourceRows { ids, floats, pairs };

/// Makes a program of a graph that shares its weights with others by their names.
class ProgramMaker {
 public:
  ProgramMaker(mote::convert::Graph& graph, mote::convert::ProgramGraph& program)
      : graph_(graph), program_(program) {}

  mote::convert::View value(uint32_t width, mote::convert::Unit unit = mote::convert::Unit::token) {
    return add_value(program_, width, unit);
  }
  int32_t weight(const std::string& name, uint32_t rows, uint32_t cols) {
    for (size_t i = 0; i < graph_.weights.size(); ++i) {
      if (graph_.weights[i].name == name) return static_cast<int32_t>(i);
    }
    const size_t seed = graph_.weights.size();
    std::vector<float> values(size_t{rows} * cols);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 7 + seed * 13) * (i + 3) % 41) / 32.0f - 0.6f;
    graph_.weights.push_back({name, mote::DType::f32, false, rows, cols, {}, values});
    return static_cast<int32_t>(seed);
  }
  mote::convert::View linear(const std::string& name, const mote::convert::View& in, uint32_t width,
                             mote::convert::Unit unit = mote::convert::Unit::token) {
    const mote::convert::View out = value(width, unit);
    add(mote::convert::LinearNode{weight(name, width, in.width), -1, mote::Activation::none, in, out,
                                  std::nullopt});
    return out;
  }
  void add(const mote::convert::Node& node) { program_.nodes.push_back(node); }

  /// x += attention of x over the state.
  void attend(const std::string& name, uint32_t state, const mote::convert::View& x) {
    const auto q = linear(name + ".q", x, kSourceWidth), attended = value(kSourceWidth);
    add(mote::convert::AttentionNode{state, 2, 0.9f, q, attended});
    add(mote::convert::LinearNode{weight(name + ".o", kSourceWidth, kSourceWidth), -1, mote::Activation::none,
                                  attended, x, x});
  }
  void store(const std::string& name, uint32_t state, const mote::convert::View& x,
             mote::convert::Unit unit = mote::convert::Unit::token) {
    const auto k = linear(name + ".k", x, 8, unit), v = linear(name + ".v", x, 8, unit);
    add(mote::convert::KvStoreNode{state, k, v});
  }

 private:
  mote::convert::Graph& graph_;
  mote::convert::ProgramGraph& program_;
};

/// States: 0 of the tokens, 1 kept of the source, 2 of a run of the source. `deep`: tokens attend to tokens
/// too, and rows of a source of ids to each other before they are kept.
inline mote::convert::Graph source_graph(SourceRows rows, bool deep) {
  using namespace mote::convert;
  Graph graph = bare_graph(kSourceVocab, kSourceWidth, kTokenContext);
  graph.caches = {{1, 8, 0}, {1, 8, 0, true, 0, rows == SourceRows::pairs ? 2u : 1u, 1}, {1, 8, 0, true}};
  graph.more_programs.resize(1);

  ProgramMaker decode(graph, graph);
  const View x = decode.value(kSourceWidth), selected = decode.value(kSourceWidth, Unit::selected);
  decode.add(EmbedNode{decode.weight("table", kSourceVocab, kSourceWidth), x});
  decode.store("self", 0, x);
  if (deep) decode.attend("self", 0, x);
  decode.attend("cross", 1, x);
  decode.add(SelectNode{x, selected});
  graph.output = decode.linear("table", selected, kSourceVocab, Unit::selected);

  ProgramGraph& encode = graph.more_programs[0];
  encode.name = "encode";
  encode.context = kSourceContext;
  encode.output_kind = OutputKind::hidden;
  ProgramMaker maker(graph, encode);
  View y = maker.value(rows == SourceRows::pairs ? kSourceWidth / 2 : kSourceWidth);
  Unit unit = Unit::token;
  maker.add(rows == SourceRows::ids ? Node(EmbedNode{maker.weight("table", kSourceVocab, kSourceWidth), y})
                                    : Node(InputNode{y}));
  if (deep && rows == SourceRows::ids) {
    maker.store("encode", 2, y);
    maker.attend("encode", 2, y);
  }
  const View hidden = maker.value(y.width, Unit::selected);
  maker.add(SelectNode{y, hidden});
  encode.output = hidden;
  if (rows == SourceRows::pairs) {
    unit = encode.add_groups(Unit::token, 2);
    const View pairs = maker.value(kSourceWidth, unit);
    maker.add(StackRowsNode{y, pairs});
    y = pairs;
  }
  maker.store("cross", 1, y, unit);
  return graph;
}

/// The same as a decoder whose last token sees what its source is in the other, itself included.
inline mote::convert::Graph joint_graph() {
  using namespace mote::convert;
  Graph graph = bare_graph(kSourceVocab, kSourceWidth, kSourceContext);
  graph.caches = {{1, 8, 0}};
  const Graph other = source_graph(SourceRows::ids, false);
  graph.weights = other.weights;
  ProgramMaker maker(graph, graph);
  const View x = maker.value(kSourceWidth), selected = maker.value(kSourceWidth, Unit::selected);
  maker.add(EmbedNode{maker.weight("table", kSourceVocab, kSourceWidth), x});
  maker.store("cross", 0, x);
  maker.attend("cross", 0, x);
  maker.add(SelectNode{x, selected});
  graph.output = maker.linear("table", selected, kSourceVocab, Unit::selected);
  return graph;
}

}  // namespace test
