// SPDX-License-Identifier: Apache-2.0
//
// The blocks that graphs of transformers are put together from. Fusion happens here: weights that read the
// same input become one linear, a norm is quantized once for all its readers, residuals are added by the
// linear that ends a branch unless a norm or a multiplier follows it. build_transformer.cpp has weights,
// operations and the embedding, build_layers.cpp the layers, build_head.cpp what follows them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/quantizers/policy.h"
#include "converter/tensor_set.h"

namespace mote::convert {

/// A linear's weight and bias by their name in the source.
struct Projection {
  std::string label;  // in the file's names
  std::vector<WeightPart> parts;
  DType dtype;
  std::optional<std::vector<float>> bias;

  uint32_t rows() const;
};

inline View columns(View view, uint32_t column, uint32_t width) {
  return {view.value, view.column + column, width};
}

/// The rounding of the input that the file has for a matrix of these parts. Throws Error where there are
/// several.
std::optional<InputRounding> rounding_of(std::span<const WeightPart> parts);

/// `pattern` with the number of the layer's weights in place of "{}".
std::string of_layer(const std::string& pattern, const LayerSpec& layer);
/// Returns the start of the names of the layer's weights in the file.
std::string prefix_of(const LayerSpec& layer);

/// A value for weights of several types: quantized at most once in each way.
struct BlockInput {
  View f32;
  std::array<std::optional<View>, kDTypeCount> quantized = {};
  std::optional<InputRounding> rounding = std::nullopt;  // that it has had
  std::vector<BlockInput> rounded = {};                  // the same value with roundings
};

/// All members throw Error, naming what the source lacks.
class TransformerBuilder {
 public:
  /// All of them must outlive the builder.
  TransformerBuilder(const TransformerSpec& spec, const TypePolicy& policy, TensorSet& tensors)
      : spec_(spec), policy_(policy), tensors_(tensors) {}

  /// The whole graph, once.
  Graph build();
  /// The spec as the source of `decoder`, once: what build() of the decoder's builder goes on from.
  struct Source {
    Graph graph;                   // weights and states; the program is the first of more_programs
    std::vector<uint32_t> states;  // [decoder's layers], those without a cross attention: kNone
  };
  Source build_source(const TransformerSpec& decoder);
  void use_source(Source source);

  // ---- For LayerSpec::build ----

  /// The residual stream, [rows, width]. Every layer ends with its output there.
  View x() const { return x_; }
  /// For layers that change its width.
  void set_x(View x) { x_ = x; }

  /// The whole layer by its data.
  void layer(const LayerSpec& layer);
  /// x = sum(x + multiplier * after(attention(before(x)))).
  void attention(const LayerSpec& layer);
  /// x = sum(x + multiplier * after(ffn(before(x)))).
  void ffn(const LayerSpec& layer);

  /// x = sum(x + multiplier * after(attention to the source(before(x)))) of a layer's `cross`.
  void cross_attention(const LayerSpec& cross);

  /// The heads' outputs side by side, before the projection o.
  View attended(const LayerSpec& layer, BlockInput& in);
  /// Builds the heads' outputs of queries, keys and values that are there: RoPE, the cache, attention.
  /// `row_bias`: of a query's own (AttentionNode).
  View attend_heads(const LayerSpec& layer, View q, View k, View v,
                    std::optional<View> row_bias = std::nullopt);
  /// Attention of queries that have their RoPE to what a state holds.
  View attend(const LayerSpec& layer, uint32_t cache, View q, std::optional<View> row_bias = std::nullopt);
  /// Where keys and values of such heads go; of an encoder, others' are no longer there then.
  /// `places`: of rows that are places of pictures of any size.
  uint32_t cache_of(const AttentionSpec& attention, GridPlaces places = {});
  /// activation(gate) * up or activation(up), before the projection down.
  View ffn_inner(const LayerSpec& layer, BlockInput& in);
  /// The norm of x that `names.before` names, or x.
  BlockInput branch_input(const LayerSpec& layer, const BranchNorms& names, const std::string& label);
  Projection o(const LayerSpec& layer);
  Projection down(const LayerSpec& layer);
  /// Ends a branch: x = sum(x + multiplier * after(last(in))). `label` is as in branch_input.
  void add_branch(const LayerSpec& layer, const BranchNorms& names, const std::string& label, View in,
                  Projection last);
  /// norm(projection(activation(gate(from)) * the layer's part of PerLayerSpec)), as LayerNames has them.
  View per_layer_branch(const LayerSpec& layer, View from);
  /// Ends a branch whose last operation has been built: x = sum(x + multiplier * after(branch)).
  void add_output(const LayerSpec& layer, const BranchNorms& names, const std::string& label, View branch);

  /// Return the kind and the table of a rope of TransformerSpec::ropes.
  RopeKind rope_kind(uint32_t rope) const { return spec_.ropes[rope].kind; }
  View rope_table(uint32_t rope) const { return rope_tables_[rope]; }
  TensorSet& tensors() { return tensors_; }
  const TypePolicy& policy() const { return policy_; }
  float norm_eps() const { return spec_.norm_eps; }
  /// A state that only the layer's own operation carries.
  uint32_t add_state(const Cache& state);

  // ---- For TransformerSpec::stem ----

  /// The caller's floats, a row of `width` for each token.
  View input(uint32_t width);
  /// Groups of the rows that new values have; from now on these have a row for each group.
  void enter_groups(uint32_t ratio, uint32_t needs);
  /// So many rows for each sequence, whatever its tokens are.
  void enter_fixed(uint32_t rows);
  /// A row for each token again.
  void enter_tokens();
  /// Rows are places of pictures of any size, of at least `least` patches on each side.
  void enter_places(GridPlaces places, uint32_t least) { rows_ = add_places(places, least); }
  /// Sequences have at least so many tokens.
  void require_tokens(uint32_t tokens) { graph_.add_groups(Unit::token, tokens, tokens); }
  Unit rows() const { return rows_; }
  /// Units of groups, and of parts, of another's rows.
  Unit add_groups(Unit of, uint32_t ratio, uint32_t needs) { return graph_.add_groups(of, ratio, needs); }
  Unit add_parts(Unit of, uint32_t parts) { return graph_.add_parts(of, parts); }
  Unit add_places(GridPlaces places, uint32_t least) { return graph_.add_places(places, least); }
  /// Returns the format of a model of pictures.
  const PictureFormat& picture() const { return spec_.picture.format; }
  /// Rows of positions [before + patches + after, width], those of patches resized from the stored grid where
  /// pictures have another (PictureSpec::table). `stored` lacks rows before and after where these have none.
  std::vector<float> positions_of_picture(std::vector<float> stored, uint32_t width) const;
  /// Rows that the source stores of them.
  uint32_t stored_positions() const;
  /// Adds rows [before + stored patches + after, width], those of patches resized to each picture.
  void add_grid_positions(const std::string& name, std::vector<float> rows);
  /// Says whether positions are resized to each picture in the run.
  bool resizes_in_run() const { return picture().any_size && spec_.picture.resizes_in_run; }
  /// Parts of each row become rows of their own, which new values have from now on.
  View split_rows(View wide, uint32_t parts);
  /// Groups of the rows that new values have, who keep theirs.
  Unit groups_of_rows(uint32_t ratio) { return graph_.add_groups(rows_, ratio); }
  /// For PictureSpec::finish: what the rows of outputs are taken of.
  void put_out(View out) { x_ = out; }
  /// Builds the rows that the layers begin with where there is no stem: embeddings of ids, with positions and
  /// types.
  void embed_ids();

  // ---- Weights. Two of one name are the same one: layers may share theirs. ----

  int32_t add_weight(Weight weight);
  int32_t add_vector(const std::string& name, std::vector<float> values);
  int32_t add_matrix(const std::string& name, DType dtype, bool row_major, uint32_t cols,
                     std::vector<WeightPart> parts);
  /// `source` and `label` name the weight; its bias is `source` + ".bias".
  Projection projection(const std::string& label, const std::string& source, uint32_t rows, uint32_t cols,
                        Role role, bool bias_required);

  // ---- Operations ----

  /// Adds a value; Unit::token stands for the unit that the layers' rows have (TransformerSpec::stem).
  View new_value(uint32_t width, DType dtype, Unit unit);
  View new_value(uint32_t width, Unit unit) { return new_value(width, DType::f32, unit); }
  void add(Node node) { graph_.nodes.push_back(std::move(node)); }
  void probe(const std::string& name, View view);

  /// norm(in) by the spec's kind; `source` and `label` name its weight.
  void norm(NormKind kind, const std::string& label, const std::string& source, uint32_t groups, View in,
            View out);
  void norm(const std::string& label, const std::string& source, View in, View out) {
    norm(spec_.norm, label, source, 1, in, out);
  }

  /// `input` as the file has it rounded for a matrix of these parts, who share one rounding.
  BlockInput& rounded_for(BlockInput& input, std::span<const WeightPart> parts);

  /// `input` as weights of that type read it.
  View input_for(BlockInput& input, DType weight);

  /// Neighbours of one type become one linear; each writes its columns of `out`.
  void linears(const std::string& prefix, BlockInput& in, std::vector<Projection> projections, View out,
               Activation activation, std::optional<View> residual);
  /// One linear by itself.
  void linear(const std::string& label, const std::string& source, Role role, View in, View out,
              Activation activation, bool bias_required);

  /// A linear in groups with a bias: group g reads and writes the g-th of `groups` equal parts of the columns
  /// and has such a part of the rows of `source`.
  void grouped_linear(const std::string& label, const std::string& source, uint32_t groups, View in, View out,
                      Activation activation, std::optional<View> residual);

  /// rows *= factor; no operation where it is 1.
  void scale(View rows, float factor);

 private:
  void norm_sum(const LayerSpec& layer, const BranchNorms& names, const std::string& label);
  void fused_linear(const std::string& prefix, BlockInput& in, std::span<Projection> fused, View out,
                    Activation activation, std::optional<View> residual);

  // ---- Blocks ----

  void embed_and_layers();
  /// One of TransformerSpec::programs, behind those that there are.
  void add_program(const ProgramSpec& program);
  /// Builds the rows of a source that the decoder's layers attend to.
  View attended_source();
  /// Keys and values of `in` for a decoder's layer to attend to; the state that keeps them.
  uint32_t keep_source(const LayerSpec& cross, BlockInput& in);
  /// `rows` rows of the matrix `name`, or, where queries, keys and values are fused, those from `first` on.
  Projection cross_projection(const LayerSpec& cross, const char* label, const std::string& name,
                              uint32_t first, uint32_t rows, uint32_t cols);
  void embed();
  /// Positions of all rows, or of those of patches.
  std::vector<float> position_rows();
  /// Rows of the caller's floats, positions and learned rows (build_picture.cpp).
  void embed_picture();
  WeightPart patch_projection();
  WeightPart position_table(uint32_t width, uint32_t patches);
  void add_picture_rows(const std::vector<float>& bias);
  void add_positions_behind_norm();
  /// Puts rows of the caller's floats in place of embeddings (TransformerSpec::vision_input).
  void embed_vision_input();
  /// Adds a picture's further vectors behind layer `index`.
  void add_deep_rows(size_t index);
  /// Builds for each frequency the difference of a row's position in the frequency's direction.
  std::optional<View> rope_shifts(uint32_t frequencies);
  void add_to_embedding();
  void project_embedding();
  /// Adds rows [first, first + rows) of a table of `source_rows`, repeated `times` times, to x_, by index.
  void add_rows(const std::string& label, const std::string& source, uint32_t source_rows, uint32_t first,
                uint32_t rows, RowIndex index, uint32_t times = 1);
  void add_tables();
  void add_positions();
  Projection fused_qkv(const LayerSpec& layer, uint32_t in_width);
  View qkv(const LayerSpec& layer, BlockInput& in);
  void turn(uint32_t rope, uint32_t heads, View x);
  /// Builds the part of a layer behind its branches.
  void finish(const LayerSpec& layer);
  void embed_per_layer(View embedded);
  /// Its coefficients' names start with `source`.
  void add_xielu(const std::string& source, View x);
  void norm_heads(const LayerSpec& layer, View q, std::optional<View> k);
  void norm_head(const LayerSpec& layer, const char* label, const std::string& name, uint32_t heads, View x);

  // ---- Heads ----

  void head();
  View project_output(View in);
  /// The output of HeadSpec::score.
  void score(View in);
  void decoder_head();
  void encoder_head();
  void labels_of_two();
  /// Builds the outputs that are made of the rows of a picture (build_picture.cpp).
  void picture_head();
  /// SigLIP's pooling: attention of one learned query, a feed-forward.
  /// Three linears of selected rows with relu between them, the last activated.
  void predict(const std::string& label, const std::string& source, View in, View out, Activation last);
  View attention_pool(const std::string& source);
  /// By the matrix `name` or, where it is tied, the embedding; `bias` empty: none but the matrix's own.
  void vocabulary_logits(const std::string& name, const std::string& bias, View in,
                         Activation activation = Activation::none);
  View dense(const std::string& label, const DenseSpec& spec, View in);

  const TransformerSpec& spec_;
  const TypePolicy& policy_;
  TensorSet& tensors_;
  Graph graph_;
  View x_{};
  Unit rows_ = Unit::token;  // of the layers
  uint32_t row_tokens_ = 1;  // tokens of one of them
  uint32_t layer_index_ = 0;
  std::vector<uint32_t> layer_caches_;     // [layers]
  std::vector<uint32_t> source_states_;    // [layers], those that `cross` attends to
  View per_layer_{};                       // [layers, width of PerLayerSpec]
  View vision_input_{};                    // the rows of TransformerSpec::vision_input
  std::vector<View> rope_tables_;          // by TransformerSpec::ropes
  std::vector<int32_t> attention_biases_;  // by TransformerSpec::attention_biases, weights
  int32_t table_ = -1;                     // the embedding
};

inline bool takes_quantized(DType weight) { return activation_dtype(weight) != DType::f32; }

}  // namespace mote::convert
