// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/onnx/proof.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMaxSourceRows = 1u << 14;
constexpr uint64_t kDistances = 8;  // times as many rows where scores have biases by distance

/// Returns the part of a layer that the proof knows nothing of, or "".
std::string unproved_layer(const LayerSpec& layer) {
  const AttentionSpec& attention = layer.attention;
  const LayerNames& names = layer.names;
  if (layer.build != nullptr) return "layers of a form of their own";
  const std::string of_cross = layer.cross == nullptr ? "" : unproved_layer(*layer.cross);
  if (!of_cross.empty()) return of_cross;
  if (layer.branches != Branches::serial || layer.residual_multiplier != 1.0f)
    return "other residual branches";
  if (layer.ffn.squared || layer.ffn.gate_multiplier != 1.0f || layer.ffn.cutoff)
    return "a feed-forward of another form";
  if (attention.relative != nullptr || attention.block != 0 || attention.global_keys)
    return "attention of another form";
  if (attention.rope != kNone || attention.query_rope != kNone) return "RoPE";
  if (!attention.slopes.empty()) return "biases of the scores";
  if (attention.window != 0 || attention.sides != 0) return "windows";
  if (attention.shared != kNone || attention.softcap != 0.0f || attention.clip != 0.0f ||
      attention.q_has_gate || attention.qkv_by_group)
    return "attention of another form";
  if (!names.gate_up.empty()) return "a gate and what it scales in one matrix";
  if (names.qkv.empty() && names.v.empty()) return "values that are the keys";
  for (const std::string* name :
       {&names.q_norm, &names.k_norm, &names.v_norm, &names.o_norm, &names.o_gate, &names.sinks,
        &names.down_norm, &names.xielu, &names.input_gate, &names.scalar, &names.attention_norms.after,
        &names.attention_norms.scale, &names.ffn_norms.after, &names.ffn_norms.scale}) {
    if (!name->empty()) return "norms or factors inside of branches";
  }
  return "";
}

/// `apart`: the model's encoder and decoder are graphs of their own.
std::string unproved(const TransformerSpec& spec, bool apart) {
  const bool stem = spec.stem != nullptr || spec.sound;
  if ((spec.source != nullptr && !apart) || (stem && spec.conv_stem == nullptr) || spec.expand)
    return "encoder-decoders in one graph, sound of another form than Whisper's and rows of several streams";
  if (!spec.names.source_positions.empty() || !spec.names.source_projection.empty())
    return "sources that are changed before they are attended to";
  const bool known_norm =
      spec.norm == NormKind::rms ? !spec.norm_bias : spec.norm == NormKind::layer && spec.norm_bias;
  if (!known_norm || spec.norm_eps_outside_root || spec.norm_plus_one || spec.norm_multiplier != 1.0f)
    return "norms that are neither layer norms with biases nor means of squares";
  if ((spec.embedding_width != 0 && spec.embedding_width != spec.width) || spec.output_width != 0 ||
      spec.per_layer.width != 0)
    return "embeddings of another width";
  const bool scales_logits = spec.logit_multiplier != 1.0f && spec.source == nullptr;
  if (spec.embedding_multiplier != 1.0f || scales_logits || spec.logit_softcap != 0.0f ||
      spec.dropped_id >= 0)
    return "multipliers";
  if (spec.trigrams || spec.vision_input || spec.globals || spec.before_head ||
      spec.norm_weight != ".weight" || (spec.speech && !spec.speech->durations.empty()))
    return "rows or names of another form";
  if (!spec.sines.empty() || !spec.position_table.empty() || spec.biases_by_position ||
      spec.rounds_activations)
    return "positions that are not learned";
  const PictureSpec& picture = spec.picture;
  const bool labels = spec.head.kind == OutputKind::sequence_labels;
  if (picture.format.height != 0 &&
      (!picture.after.empty() || picture.resizes_positions || !picture.position_order.empty() ||
       picture.finish || picture.positions_of_patches || !picture.pooled_norm.empty() ||
       picture.pool_skip != 0 || !picture.attention_pool.empty() || !picture.boxes.empty() ||
       !picture.second.name.empty()))
    return "another head of pictures than labels or a pooler of the first row";
  if (labels && (spec.head.pool != PoolKind::first || !spec.head.more_pools.empty() || spec.head.first_two ||
                 spec.head.dense_of_tokens || !spec.head.pooled_norm.empty()))
    return "labels that are not of the first row";
  for (const LayerSpec& layer : spec.layers) {
    const std::string what = unproved_layer(layer);
    if (!what.empty()) return what;
  }
  return "";
}

/// Ids, masks, types and positions that tell all rows apart.
std::map<std::string, Traced> text_inputs(const TransformerSpec& spec, const OnnxSample& sample) {
  std::vector<float> ids, mask, types, positions;
  const uint32_t padding = spec.first_position == 0 ? 0 : spec.first_position - 1;
  for (uint64_t b = 0; b < sample.batch; ++b) {
    for (uint64_t s = 0; s < sample.length; ++s) {
      const bool kept = sample.is_kept(b, s);
      const uint64_t id = padding + 3 + b * sample.length + s;
      ids.push_back(static_cast<float>(kept ? id % std::max(spec.vocab, 1u) : padding));
      mask.push_back(kept ? 1.0f : 0.0f);
      types.push_back(spec.token_types > 1 ? static_cast<float>((b + s) % 2) : 0.0f);
      positions.push_back(static_cast<float>(spec.first_position + s));
    }
  }
  const std::vector<uint64_t> dims = {sample.batch, sample.length};
  return {{"input_ids", known_numbers(dims, ids)},
          {"attention_mask", known_numbers(dims, mask)},
          {"token_type_ids", known_numbers(dims, types)},
          {"position_ids", known_numbers(dims, positions)}};
}

Traced rows_of_floats(const std::vector<uint64_t>& dims) {
  auto rows = std::make_shared<TracedTensor>();
  rows->dims = dims;
  rows->whole = 0;
  return rows;
}

std::map<std::string, Traced> inputs_of(const OnnxModel& model, const TransformerSpec& spec,
                                        const OnnxSample& sample) {
  if (const PictureFormat& format = spec.picture.format; format.height != 0) {
    return {{"pixel_values", rows_of_floats({sample.batch, format.channels, format.height, format.width})}};
  }
  if (const ConvStem* stem = spec.conv_stem.get(); stem != nullptr)
    return {{"input_features", rows_of_floats({sample.batch, stem->bins, spec.context})}};
  std::map<std::string, Traced> inputs = text_inputs(spec, sample);
  if (spec.source != nullptr) {
    inputs[kOnnxSource] = rows_of_floats({sample.batch, sample.source, spec.source->width});
    if (spec.source->conv_stem == nullptr) {
      std::vector<float> mask;
      for (uint64_t i = 0; i < sample.batch * sample.source; ++i)
        mask.push_back(sample.is_source_kept(i / sample.source, i % sample.source) ? 1.0f : 0.0f);
      inputs[kOnnxSourceMask] = known_numbers({sample.batch, sample.source}, mask);
    }
    inputs["use_cache_branch"] = known_numbers({1}, {0.0f});
  }
  for (const OnnxInput& input : model.graph.inputs) {
    if (!input.name.starts_with("past_key_values.")) continue;  // of tokens before, of which there are none
    const AttentionSpec& attention = spec.layers[0].attention;
    inputs[input.name] = known_numbers({sample.batch, attention.kv_heads, 0, attention.head_dim}, {});
    std::const_pointer_cast<TracedTensor>(inputs[input.name])->kind = TracedKind::real;
  }
  return inputs;
}

/// Sizes that the graph says to be fixed are taken.
OnnxSample sample_of(const OnnxModel& model, const TransformerSpec& spec, OnnxSample sample) {
  if (spec.picture.format.height != 0) return {1, spec.context, false};
  if (spec.conv_stem != nullptr) return {1, spec.conv_stem->rows, false};
  sample.length = std::min<uint64_t>(sample.length, spec.context);
  for (const OnnxInput& input : model.graph.inputs) {
    if (input.name == kOnnxSource && input.dims.size() == 3 && input.dims[1] > 0)
      sample.source = static_cast<uint64_t>(input.dims[1]);
    if (input.name != "input_ids" || input.dims.size() != 2) continue;
    if (input.dims[0] > 0) sample.batch = static_cast<uint64_t>(input.dims[0]);
    if (input.dims[1] > 0) sample.length = static_cast<uint64_t>(input.dims[1]);
  }
  if (sample.length > spec.context || sample.batch > 64 || sample.source > kMaxSourceRows)
    fail("{}: a batch of {} sequences of {} tokens, of sources of {} rows, is not supported", model.where,
         sample.batch, sample.length, sample.source);
  const bool has_mask = std::any_of(model.graph.inputs.begin(), model.graph.inputs.end(),
                                    [](const OnnxInput& input) { return input.name == "attention_mask"; });
  const bool has_source_mask =
      std::any_of(model.graph.inputs.begin(), model.graph.inputs.end(),
                  [](const OnnxInput& input) { return input.name == kOnnxSourceMask; });
  sample.source_padded = sample.padded && has_source_mask && spec.source != nullptr && sample.source > 3;
  sample.padded = sample.padded && has_mask && sample.length > 3;
  return sample;
}

/// Throws Error for the parts of a spec that are not proved.
void require_provable(const std::string& where, const TransformerSpec& spec, bool apart) {
  const std::string what = unproved(spec, apart);
  if (!what.empty())
    fail(
        "{}: of ONNX files, models of the shapes of BERT, ViT, GPT-2, T5 and Whisper are read; {} are not. "
        "Give "
        "the model's safetensors",
        where, what);
}

/// The facts that the proof of a graph found besides.
struct OnnxFound {
  bool rounds = false;  // activations
  std::optional<SentencePooling> pooling = std::nullopt;
};

OnnxFound prove_graph(Source& source, const std::shared_ptr<OnnxModel>& shared, const TransformerSpec& spec) {
  const OnnxModel& model = *shared;
  const WorkBudget budget(model.where, model.bytes);
  // Two sets of sizes: what follows from one by chance does not from both.
  OnnxFound found;
  const bool by_distance = !spec.attention_biases.empty();
  for (OnnxSample wanted : {OnnxSample{2, 5, false, 7}, OnnxSample{3, 4, true, 6}}) {
    if (by_distance) wanted.length *= kDistances;
    const OnnxSample sample = sample_of(model, spec, wanted);
    OnnxProof proof(source, shared, spec, sample,
                    trace_onnx(model.graph, model.where, inputs_of(model, spec, sample)));
    proof.run();
    found = {proof.rounds(), proof.pooling()};
    if (spec.picture.format.height != 0 || spec.conv_stem != nullptr) break;
  }
  return found;
}

/// Takes the graph's pooling where the directory says none.
void take_pooling(Source& source, const std::optional<SentencePooling>& pooling) {
  if (!pooling || source.pooling) return;
  source.pooling = pooling;
  source.notes.push_back(fmt::format("vectors of texts are made as the graph makes them: of the {}{}",
                                     pooling->kind == PoolKind::mean ? "mean of the rows" : "first row",
                                     pooling->normalize ? ", with length 1" : ""));
}

void note_rounding(Source& source, bool rounds) {
  if (rounds)
    source.notes.emplace_back(
        "the ONNX file rounds activations to 8 bits, a scale for a whole tensor; its weights are kept as "
        "they are, "
        "activations are rounded as mote's types do");
}

}  // namespace

void prove_onnx(Source& source, const std::shared_ptr<OnnxModel>& model, const TransformerSpec& spec) {
  require_provable(model->where, spec, false);
  check_spec(spec);
  const OnnxFound found = prove_graph(source, model, spec);
  note_rounding(source, found.rounds);
  take_pooling(source, found.pooling);
}

void prove_onnx(Source& source, const std::shared_ptr<OnnxModel>& encoder,
                const std::shared_ptr<OnnxModel>& decoder, const TransformerSpec& spec) {
  if (spec.source == nullptr)
    fail("{}: the config's model has no encoder beside its decoder", encoder->where);
  require_provable(encoder->where, *spec.source, true);
  require_provable(decoder->where, spec, true);
  check_spec(spec);
  const bool rounds = prove_graph(source, encoder, *spec.source).rounds;
  note_rounding(source, prove_graph(source, decoder, spec).rounds || rounds);
}

}  // namespace mote::convert
