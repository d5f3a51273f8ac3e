// SPDX-License-Identifier: Apache-2.0
#include "converter/metadata.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "converter/encode_weight.h"
#include "host/base/error.h"
#include "mote/mote.h"
#include "runtime/file/xxh64.h"
#include "schema/mote_generated.h"

namespace mote::convert {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr uint32_t kFormatVersion = 1;

/// Writes a node's table: its fields become the arguments of the function that FlatBuffers makes of the
/// schema.
class NodeWriter {
 public:
  NodeWriter(FlatBufferBuilder& builder, const MemoryPlan& plan) : builder_(builder), plan_(plan) {}

  file::Slice slice(const View& view) const { return {plan_.buffer_of[view.value], view.column, view.width}; }

 private:
  /// Returns the number of fields of a table by the function that makes it.
  template <class Table, class... Fields>
  static constexpr size_t fields_of(Table (*)(FlatBufferBuilder&, Fields...)) {
    return sizeof...(Fields);
  }

  /// Lives as long as the call.
  struct SliceArgument {
    std::optional<file::Slice> slice;
    operator const file::Slice*() const { return slice ? &*slice : nullptr; }
  };
  /// An enumerator of ours, whose numbers are the schema's.
  template <class Enum>
  struct EnumArgument {
    Enum value;
    template <class Other, class = std::enable_if_t<std::is_enum_v<Other>>>
    operator Other() const {
      return static_cast<Other>(value);
    }
  };

  SliceArgument argument(const View& view) const { return {slice(view)}; }
  SliceArgument argument(const std::optional<View>& view) const {
    return view ? argument(*view) : SliceArgument{};
  }
  template <class Field>
  auto argument(const Field& field) const {
    if constexpr (std::is_enum_v<Field>) {
      return EnumArgument<Field>{field};
    } else {
      return field;
    }
  }

  FlatBufferBuilder& builder_;
  const MemoryPlan& plan_;

 public:
#define OP(op, operation, types)                                               \
  Offset<file::Op> operator()(const op##Node& node) const {                    \
    const auto table = node.fields([&](const auto&... fields) {                \
      static_assert(sizeof...(fields) == fields_of(file::Create##op),          \
                    "fields() of the node has as many as the schema's table"); \
      return file::Create##op(builder_, argument(fields)...);                  \
    });                                                                        \
    return file::CreateOp(builder_, file::OpArgs::op, table.Union());          \
  }
#include "kernels/op_list.inc"
};

/// The streams of a program, of those that hold something: all but tokens may have none.
class Streams {
 public:
  Streams(FlatBufferBuilder& builder, const ProgramGraph& graph, const MemoryPlan& plan)
      : numbers_(graph.units()) {
    for (size_t i = 0; i < graph.units(); ++i) {
      if (i != 0 && i < static_cast<size_t>(Unit::group) && plan.row_bytes[i] == 0) continue;
      numbers_[i] = static_cast<uint32_t>(all.size());
      if (i < static_cast<size_t>(Unit::group)) {
        all.push_back(file::CreateStream(builder, static_cast<file::StreamKind>(i), plan.row_bytes[i]));
        continue;
      }
      const Groups& groups = graph.groups[i - static_cast<size_t>(Unit::group)];
      all.push_back(file::CreateStream(builder, file::StreamKind::group, plan.row_bytes[i], of(groups.of),
                                       groups.ratio, groups.needs, groups.fixed, groups.parts,
                                       groups.places.times, groups.places.every, groups.least));
    }
  }
  uint32_t of(Unit unit) const { return numbers_[static_cast<size_t>(unit)]; }

  std::vector<Offset<file::Stream>> all;

 private:
  std::vector<uint32_t> numbers_;  // [units]
};

Offset<file::Program> write_program(FlatBufferBuilder& builder, const ProgramGraph& graph,
                                    const MemoryPlan& plan) {
  const NodeWriter writer(builder, plan);
  std::vector<Offset<file::Op>> ops;
  for (const Node& node : graph.nodes) ops.push_back(std::visit(writer, node));
  const Streams streams(builder, graph, plan);
  std::vector<Offset<file::Buffer>> buffers;
  for (const PlannedBuffer& buffer : plan.buffers) {
    buffers.push_back(file::CreateBuffer(builder, buffer.width, static_cast<file::DType>(buffer.dtype),
                                         streams.of(buffer.unit), buffer.offset));
  }
  std::vector<Offset<file::Probe>> probes;
  for (const GraphProbe& probe : graph.probes) {
    const auto view = writer.slice(probe.view);
    probes.push_back(file::CreateProbeDirect(builder, probe.name.c_str(), probe.node, &view));
  }
  const auto output = writer.slice(graph.output);
  const bool whole = is_encoder(graph.output_kind);
  const std::string name = !graph.name.empty() ? graph.name : whole ? "encode" : "decode";
  return file::CreateProgramDirect(
      builder, name.c_str(), whole ? file::ProgramKind::whole : file::ProgramKind::append, &ops, &buffers,
      &streams.all, &output, &probes, static_cast<file::OutputKind>(graph.output_kind),
      static_cast<file::Probabilities>(graph.probabilities), graph.context);
}

std::vector<Offset<file::Tensor>> write_tensors(FlatBufferBuilder& builder, const Metadata& metadata) {
  std::vector<Offset<file::Tensor>> tensors;
  for (size_t i = 0; i < metadata.tensors.size(); ++i) {
    const Weight& weight = metadata.graph->weights[i];
    const TensorRecord& record = metadata.tensors[i];
    tensors.push_back(
        file::CreateTensorDirect(builder, weight.name.c_str(), static_cast<file::DType>(weight.dtype),
                                 weight.row_major ? file::Packing::rows : file::Packing::p16k4, weight.rows,
                                 weight.cols, record.offset, record.bytes, record.hash));
  }
  return tensors;
}

Offset<file::ChatFormat> write_chat_format(FlatBufferBuilder& builder,
                                           const std::optional<ChatFormat>& format) {
  if (!format) return 0;
  return file::CreateChatFormatDirect(
      builder, format->name.c_str(), format->opening.c_str(), format->system_before.c_str(),
      format->system_after.c_str(), format->user_before.c_str(), format->user_after.c_str(),
      format->assistant_before.c_str(), format->assistant_after.c_str(), format->answer.c_str(),
      format->default_system ? format->default_system->c_str() : nullptr, format->system_in_user,
      format->trim, format->single_turn);
}

Offset<file::Picture> write_picture(FlatBufferBuilder& builder, const PictureFormat& picture) {
  if (picture.height == 0) return 0;
  std::vector<Offset<file::PictureStep>> steps;
  for (const PictureStep& step : picture.steps) {
    steps.push_back(file::CreatePictureStepDirect(
        builder, static_cast<file::PictureStepKind>(step.kind), static_cast<uint8_t>(step.filter),
        step.height, step.width, step.multiple, step.least, step.most, step.factor,
        step.mean.empty() ? nullptr : &step.mean, step.std.empty() ? nullptr : &step.std));
  }
  return file::CreatePictureDirect(
      builder, picture.height, picture.width, picture.channels, picture.patch, picture.before, picture.after,
      steps.empty() ? nullptr : &steps, picture.similarity_scale, picture.similarity_bias, picture.any_size,
      picture.rope_width, picture.rope_base, picture.positions_side, picture.channels_last, picture.merge,
      picture.angles_by_place, picture.positions_by_corners, picture.frames, picture.positions_cubic);
}

Offset<file::VisionInput> write_vision_input(FlatBufferBuilder& builder,
                                             const std::optional<VisionInputSpec>& vision_input) {
  if (!vision_input) return 0;
  const auto text = [](const std::string& value) { return value.empty() ? nullptr : value.c_str(); };
  return file::CreateVisionInputDirect(
      builder, vision_input->image_id, vision_input->features, vision_input->mrope, vision_input->rows,
      vision_input->before.c_str(), vision_input->after.c_str(), text(vision_input->tile_before),
      text(vision_input->line_after), text(vision_input->whole_before), text(vision_input->user_before));
}

Offset<file::Speech> write_speech(FlatBufferBuilder& builder, const std::optional<SpeechSpec>& speech) {
  if (!speech) return 0;
  return file::CreateSpeechDirect(
      builder, speech->transcribe, speech->translate, speech->no_timestamps, speech->first_timestamp,
      speech->previous, speech->no_speech, &speech->suppressed, &speech->suppressed_first, &speech->durations,
      speech->language, speech->translates, speech->names_task, speech->timestamp_frames,
      speech->latest_first, speech->tokens_of_second, speech->tokens_of_frame,
      speech->alignment_heads.empty() ? nullptr : &speech->alignment_heads);
}

Offset<file::Purpose> write_purpose(FlatBufferBuilder& builder, const Graph& graph,
                                    const std::string& chat_template) {
  std::vector<Offset<file::Language>> languages;
  for (const LanguageSpec& language : graph.languages)
    languages.push_back(file::CreateLanguageDirect(builder, language.code.c_str(), language.id));
  return file::CreatePurposeDirect(builder, static_cast<file::Task>(graph.task), graph.mask_id,
                                   languages.empty() ? nullptr : &languages, graph.language_in_source,
                                   chat_template.empty() ? nullptr : chat_template.c_str());
}

Offset<file::BeamSearch> write_beams(FlatBufferBuilder& builder, const std::optional<BeamDefaults>& beams) {
  if (!beams) return 0;
  return file::CreateBeamSearchDirect(builder, beams->beams, beams->length_penalty, beams->stop,
                                      beams->max_tokens, beams->min_tokens, beams->forced_first_id,
                                      beams->forced_last_id,
                                      beams->suppressed_ids.empty() ? nullptr : &beams->suppressed_ids,
                                      beams->no_repeat_ngram, beams->repetition_penalty);
}

file::Similarity similarity_of(const std::string& name) {
  if (name == "dot") return file::Similarity::dot;
  if (name == "euclidean") return file::Similarity::euclidean;
  return name == "manhattan" ? file::Similarity::manhattan : file::Similarity::cosine;
}

Offset<file::Generation> write_generation(FlatBufferBuilder& builder,
                                          const std::optional<GenerationDefaults>& own) {
  if (!own) return 0;
  const auto list = [](const std::vector<int32_t>& ids) { return ids.empty() ? nullptr : &ids; };
  return file::CreateGenerationDirect(builder, own->samples, own->temperature, own->top_k, own->top_p,
                                      own->min_p, own->repetition_penalty, own->no_repeat_ngram,
                                      own->shortest, own->min_tokens, list(own->forbidden),
                                      list(own->suppressed_ids), list(own->first_suppressed_ids));
}

Offset<file::Voice> write_voice(FlatBufferBuilder& builder, const std::optional<VoiceSpec>& voice) {
  if (!voice) return 0;
  std::vector<Offset<flatbuffers::String>> speakers;
  for (const std::string& name : voice->speakers) speakers.push_back(builder.CreateString(name));
  return file::CreateVoiceDirect(builder, voice->rate, voice->reach, voice->speed, voice->noise,
                                 voice->duration_noise,
                                 voice->phonemes.empty() ? nullptr : voice->phonemes.c_str(),
                                 speakers.empty() ? nullptr : &speakers, voice->speaker);
}

file::Feature required_features(const Graph& graph) {
  file::Feature features{};
  if (graph.vision_input) features |= file::Feature::ids_and_floats;
  const auto add_program = [&](const ProgramGraph& program) {
    for (const Groups& groups : program.groups)
      features |=
          (groups.needs != 1 ? file::Feature::group_needs : file::Feature{}) |
          (groups.fixed != 0 ? file::Feature::fixed_rows : file::Feature{}) |
          (groups.parts != 1 ? file::Feature::row_parts : file::Feature{}) |
          (groups.places.times != 0 ? file::Feature::grid_sizes | file::Feature::grid_rows : file::Feature{});
    for (const Node& node : program.nodes) {
      const auto* table = std::get_if<RopeTableNode>(&node);
      if (table != nullptr && table->growth != 0.0f) features |= file::Feature::rope_growth;
      const auto* positions = std::get_if<PositionsNode>(&node);
      if (positions != nullptr && positions->replaces) features |= file::Feature::replaces;
      if (table != nullptr && table->shifts) features |= file::Feature::rope_shifts;
      const auto* frames = std::get_if<FramesNode>(&node);
      const auto* depthwise = std::get_if<DepthwiseConvNode>(&node);
      if ((frames != nullptr && frames->dilation != 1) || (depthwise != nullptr && depthwise->dilation != 1))
        features |= file::Feature::dilation;
      const auto* pool = std::get_if<PoolNode>(&node);
      const auto* grid = std::get_if<GridFramesNode>(&node);
      if (std::holds_alternative<GridPositionsNode>(node) || (grid != nullptr && grid->places.times != 0))
        features |= file::Feature::grid_sizes;
      if (pool != nullptr && pool->skip != 0) features |= file::Feature::pool_skip;
      if (pool != nullptr && pool->padding != -1) features |= file::Feature::pool_padding;
      const auto* attention = std::get_if<AttentionNode>(&node);
      if (attention == nullptr) continue;
      if (attention->bias != -1) {
        const Weight& bias = graph.weights[static_cast<size_t>(attention->bias)];
        features |= file::Feature::attention_bias;
        if (attention->group == 0 && bias.rows == attention->heads * bias.cols)
          features |= file::Feature::bias_by_position;
      }
      if (attention->row_bias.has_value()) features |= file::Feature::row_bias;
      if (attention->softcap != 0.0f) features |= file::Feature::softcap;
      if (attention->slopes != -1) features |= file::Feature::slopes;
      if (attention->sinks != -1) features |= file::Feature::sinks;
      if (attention->sides != 0) features |= file::Feature::sides;
      if (attention->relative_keys != -1 || attention->relative_queries != -1)
        features |= file::Feature::relative_keys;
      if (attention->causal) features |= file::Feature::causal;
      if (attention->block != 0) features |= file::Feature::blocks;
      if (attention->globals != GlobalRole::none) features |= file::Feature::globals;
      if (attention->group != 0) features |= file::Feature::attention_group;
      if (attention->windows) features |= file::Feature::grid_rows;
    }
  };
  add_program(graph);
  for (const ProgramGraph& program : graph.more_programs) add_program(program);
  if (!graph.more_programs.empty()) features |= file::Feature::programs;
  for (const Cache& cache : graph.caches) {
    if (cache.kind == StateKind::conv_tail) features |= file::Feature::conv_tail;
    if (cache.kind == StateKind::recurrent) features |= file::Feature::recurrent;
    if (cache.value_dim != 0 && cache.value_dim != cache.key_dim) features |= file::Feature::value_dim;
    if (cache.source != -1) features |= file::Feature::sources;
    if (cache.memory != 0) features |= file::Feature::memory;
  }
  return features;
}

void write_model(FlatBufferBuilder& builder, const Metadata& metadata) {
  const Graph& graph = *metadata.graph;
  std::vector<Offset<file::Program>> programs = {write_program(builder, graph, *metadata.plan)};
  for (const ProgramGraph& program : graph.more_programs) {
    programs.push_back(write_program(builder, program, plan_memory(program)));
  }
  const std::vector<Offset<file::Tensor>> tensors = write_tensors(builder, metadata);
  std::vector<Offset<file::State>> states;
  for (const Cache& cache : graph.caches) {
    const uint32_t value_dim = cache.value_dim == 0 ? cache.key_dim : cache.value_dim;
    states.push_back(file::CreateState(builder, static_cast<file::StateKind>(cache.kind), cache.kv_heads,
                                       cache.key_dim, value_dim, cache.window, cache.bidirectional,
                                       cache.ratio, cache.source, cache.heads, cache.rows, cache.cols,
                                       cache.memory, cache.places.times, cache.places.every));
  }
  std::vector<Offset<file::SourceFile>> sources;
  for (const SourceRecord& source : metadata.sources) {
    sources.push_back(file::CreateSourceFileDirect(builder, source.name.c_str(), source.bytes, source.hash));
  }
  Offset<file::SelfTest> self_test = 0;
  if (metadata.has_self_test) {
    const SelfTestRecord& test = metadata.self_test;
    self_test = file::CreateSelfTestDirect(builder, &test.ids, &test.expected_ids, &test.expected_logits,
                                           test.tolerance, test.values.empty() ? nullptr : &test.values);
  }
  Offset<file::Tokenizer> tokenizer = 0;
  if (metadata.tokenizer != nullptr) tokenizer = metadata.tokenizer->write(builder, metadata.weight_bytes());
  const auto chat_format = write_chat_format(builder, metadata.chat_format);
  std::vector<Offset<flatbuffers::String>> labels;
  for (const std::string& label : graph.labels) labels.push_back(builder.CreateString(label));
  std::vector<Offset<file::Prompt>> prompts;
  for (const Prompt& prompt : metadata.prompts)
    prompts.push_back(file::CreatePromptDirect(builder, prompt.name.c_str(), prompt.text.c_str()));
  Offset<file::Sound> sound = 0;
  if (graph.sound) {
    const auto kind = graph.sound->waveform ? file::SoundKind::waveform : file::SoundKind::spectrum;
    const SoundSpec& spec = *graph.sound;
    sound = file::CreateSound(builder, kind, spec.rate, spec.window, spec.normalize, spec.blank, spec.patch,
                              spec.frame_step, spec.bin_step, spec.frames, spec.bins, spec.before,
                              static_cast<file::SoundFeatures>(spec.features), spec.fft, spec.hop, spec.scale,
                              spec.mean, spec.cleans_up, spec.longest, spec.margin,
                              static_cast<file::SoundFilling>(spec.filling), spec.lowest, spec.highest,
                              spec.similarity_scale);
  }
  const auto picture = write_picture(builder, graph.picture);
  Offset<file::Globals> globals = 0;
  if (graph.globals) {
    globals = file::CreateGlobals(builder, graph.globals->type,
                                  static_cast<file::GlobalDefault>(graph.globals->by_default),
                                  graph.globals->separator);
  }
  const auto speech = write_speech(builder, graph.speech);
  const auto beams = write_beams(builder, metadata.beams);
  const auto purpose = write_purpose(builder, graph, metadata.chat_template);
  file::Feature features = required_features(graph);
  if (metadata.tokenizer != nullptr && metadata.tokenizer->has_class_ranges())
    features |= file::Feature::class_ranges;
  if (metadata.tokenizer != nullptr && metadata.tokenizer->is_sentence_piece())
    features |= file::Feature::sentence_piece;
  if (metadata.tokenizer != nullptr && metadata.tokenizer->tokens() > graph.vocab)
    features |= file::Feature::more_tokens;
  const auto root = file::CreateModelDirect(
      builder, kFormatVersion, metadata.name.c_str(), metadata.architecture.c_str(), "mote " MOTE_VERSION,
      nullptr, &sources, graph.vocab, graph.width, graph.context, &metadata.stop_ids, graph.bos_id, &programs,
      &tensors, &states, self_test, metadata.segment_bytes(), 0, chat_format, tokenizer,
      labels.empty() ? nullptr : &labels, graph.token_types, features, prompts.empty() ? nullptr : &prompts,
      metadata.default_prompt, sound, picture, globals, speech, beams,
      write_vision_input(builder, graph.vision_input), write_voice(builder, graph.voice), graph.memory,
      write_generation(builder, metadata.generation), similarity_of(metadata.similarity), purpose);
  file::FinishSizePrefixedModelBuffer(builder, root);
}

}  // namespace

std::vector<TensorRecord> lay_out(const Graph& graph) {
  std::vector<TensorRecord> records;
  uint64_t offset = 0;
  for (const Weight& weight : graph.weights) {
    records.push_back({offset, encoded_bytes(weight)});
    offset += records.back().bytes;
  }
  return records;
}

std::vector<std::byte> build_metadata(const Metadata& metadata, uint64_t bytes) {
  FlatBufferBuilder builder(1 << 16);
  builder.ForceDefaults(true);
  write_model(builder, metadata);
  std::vector<std::byte> buffer(std::max<uint64_t>(bytes, builder.GetSize()));
  if (buffer.size() >= uint64_t{1} << 31)
    fail("the metadata takes {} bytes, more than a FlatBuffer holds", buffer.size());
  std::memcpy(buffer.data(), builder.GetBufferPointer(), builder.GetSize());
  const uint32_t prefix = static_cast<uint32_t>(buffer.size() - sizeof(uint32_t));
  std::memcpy(buffer.data(), &prefix, sizeof(prefix));
  file::Model* model = flatbuffers::GetMutableRoot<file::Model>(buffer.data() + sizeof(prefix));
  model->mutate_content_hash(xxh64(buffer.data(), buffer.size()));
  return buffer;
}

}  // namespace mote::convert
