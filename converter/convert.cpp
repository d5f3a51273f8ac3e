// SPDX-License-Identifier: Apache-2.0
#include "converter/convert.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/pictures.h"
#include "converter/calibration/calibrate.h"
#include "converter/calibration/smooth_columns.h"
#include "converter/chat_formats/choose.h"
#include "converter/chat_formats/pair_texts.h"
#include "converter/encode_weight.h"
#include "converter/language.h"
#include "converter/layers/build_transformer.h"
#include "converter/longrope.h"
#include "converter/lora.h"
#include "converter/metadata.h"
#include "converter/planner/memory_plan.h"
#include "converter/published_code.h"
#include "converter/quantizers/policy.h"
#include "converter/quantizers/quantizer.h"
#include "converter/read_model.h"
#include "converter/self_test.h"
#include "converter/speech_tokens.h"
#include "converter/task.h"
#include "converter/tied_head.h"
#include "converter/towers.h"
#include "host/base/error.h"
#include "host/base/output_file.h"
#include "runtime/file/xxh64.h"

namespace mote::convert {
namespace {

// Shares of the progress bar, by what takes how long.
constexpr double kHashed = 0.05;
constexpr double kSmoothed = 0.30;    // of encoders
constexpr double kCalibrated = 0.20;  // with a text
constexpr double kEncoded = 0.90;

using Progress = std::function<void(const std::string& stage, double share)>;

std::vector<SourceRecord> hash_sources(const Source& source, const Progress& progress) {
  std::vector<SourceRecord> records;
  for (const auto& file : source.files) {
    progress("reading",
             kHashed * static_cast<double>(records.size()) / static_cast<double>(source.files.size()));
    const std::span<const std::byte> bytes = file->bytes();
    records.push_back({file->path().filename().string(), bytes.size(), xxh64(bytes.data(), bytes.size())});
  }
  return records;
}

/// The largest metadata this model can get: the self test's lengths are known, its results are not.
uint64_t reserve_metadata(Metadata metadata, const SelfTestPlan& plan) {
  metadata.has_self_test = true;
  metadata.self_test = {std::vector<int32_t>(plan.prompt), std::vector<int32_t>(plan.continuation),
                        std::vector<float>(metadata.graph->output.width), 0.0f,
                        std::vector<float>(plan.values())};
  return build_metadata(metadata).size();
}

void write_weights(OutputFile& output, uint64_t segment, Metadata& metadata, Calibration* calibration,
                   ConvertReport& report, double done, const Progress& progress) {
  const uint64_t total = metadata.weight_bytes();
  for (size_t i = 0; i < metadata.tensors.size(); ++i) {
    const Weight& weight = metadata.graph->weights[i];
    TensorRecord& record = metadata.tensors[i];
    uint64_t offset = record.offset;
    const std::unique_ptr<const ErrorFeedback> feedback =
        calibration == nullptr ? nullptr : calibration->take(i);
    const auto put = [&](std::span<const std::byte> bytes) {
      output.write_at(segment + offset, bytes);
      offset += bytes.size();
      progress("converting",
               done + (kEncoded - done) * static_cast<double>(offset) / static_cast<double>(total));
    };
    const EncodeResult result = encode_weight(weight, put, feedback.get());
    record.hash = result.hash;
    const double elements = static_cast<double>(weight.rows) * static_cast<double>(weight.cols);
    report.tensors.push_back({weight.name, quantizer(weight.dtype).name, weight.rows, weight.cols,
                              record.bytes, static_cast<double>(record.bytes) * 8 / elements,
                              result.relative_error});
  }
}

/// Reads the steps that make pixel values of pictures, for the model or its source.
void prepare_pictures(Source& source, TransformerSpec& spec) {
  const bool sees = spec.picture.format.height != 0;
  const bool source_sees = spec.source && spec.source->picture.format.height != 0;
  if (!sees && !source_sees) {
    for (const auto& [option, sides] :
         {std::pair{"--picture-size", source.picture_size}, {"--any-picture-size", source.any_picture_size}})
      if (sides.height != 0) fail("{} is for models of pictures, and this is none", option);
  }
  if (source.any_picture_size.height != 0) take_any_size(source, spec);
  if (sees) read_preprocessor(source, spec, source.notes);
  if (!source_sees) return;
  TransformerSpec seeing = *spec.source;
  read_preprocessor(source, seeing, source.notes);
  spec.source = std::make_shared<const TransformerSpec>(std::move(seeing));
}

/// The source's, and the end of the format's own turn.
std::vector<int32_t> all_stop_ids(const Source& source, const std::optional<ChatFormat>& format,
                                  const TokenizerSpec* tokenizer) {
  std::vector<int32_t> ids = source.stop_ids;
  if (!format || tokenizer == nullptr) return ids;
  const std::optional<uint32_t> end = end_of_turn(*format, tokenizer->added);
  if (end && std::find(ids.begin(), ids.end(), static_cast<int32_t>(*end)) == ids.end()) {
    ids.push_back(static_cast<int32_t>(*end));
  }
  return ids;
}

/// The type that loses most, for the self test's tolerance.
DType coarsest_type(const Graph& graph) {
  DType coarsest = DType::f32;
  for (const Weight& weight : graph.weights) coarsest = std::max(coarsest, weight.dtype);
  return coarsest;
}

/// Tokens are of type 0: further types are those of global tokens, which are no matter of the tokenizer.
void leave_out_types(TokenizerSpec& spec) {
  spec.single.types.clear();
  spec.pair.types.assign(spec.pair.before.size() + spec.pair.between.size() + spec.pair.after.size() + 2, 0);
  spec.plain_pair_types = {0, 0};
}

std::optional<TokenizerTables> compile_tokenizer(const std::optional<TokenizerSpec>& spec, const Graph& graph,
                                                 bool small) {
  if (!spec) return std::nullopt;
  std::optional<TokenizerTables> tables(std::in_place, *spec, small);
  if (tables->tokens() > graph.vocab && !tables->adds_all_from(graph.vocab)) {
    fail(
        "the tokenizer has {} tokens, the model {}: are both from the same model? (mote convert "
        "--no-tokenizer leaves "
        "the text out)",
        tables->tokens(), graph.vocab);
  }
  return tables;
}

bool is_mote_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  constexpr std::string_view kIdentifier = "MOTE";
  constexpr size_t kAt = 8;  // behind the size and the root's offset
  return bytes.size() >= kAt + kIdentifier.size() &&
         std::memcmp(bytes.data() + kAt, kIdentifier.data(), kIdentifier.size()) == 0;
}

/// Refuses to replace the source, or anything in its directory that is no .mote file.
void check_target(const std::filesystem::path& path, const std::filesystem::path& target) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::equivalent(path, target, none)) fail("{} would overwrite its own source", target.string());
  if (!fs::is_directory(path, none) || !fs::is_regular_file(target, none) || is_mote_file(target)) return;
  const fs::path root = fs::canonical(path, none);
  const fs::path folder = fs::canonical(target.has_parent_path() ? target.parent_path() : ".", none);
  const fs::path file = fs::canonical(target, none);
  for (const fs::path& place : {folder / target.filename(), file}) {
    if (std::mismatch(root.begin(), root.end(), place.begin(), place.end()).first != root.end()) continue;
    fail("{} would overwrite a file of its own source; name another file", target.string());
  }
}

/// Sets the pooling that the options say in place of the source.
void choose_pooling(const ConvertOptions& options, Source& source) {
  if (options.pooling.empty()) return;
  const std::map<std::string, PoolKind> kinds = {
      {"mean", PoolKind::mean}, {"cls", PoolKind::first}, {"max", PoolKind::max}, {"last", PoolKind::last}};
  const auto kind = kinds.find(options.pooling);
  if (kind == kinds.end() && options.pooling != "none") {
    fail("pooling '{}' is unknown; there are mean, cls, max, last, none", options.pooling);
  }
  if (source.pooling) {
    for (const SentencePooling::Dense& dense : source.pooling->dense) {
      source.tensors.erase(dense.name + ".weight");
      source.tensors.erase(dense.name + ".bias");
    }
  }
  source.pooling.reset();
  if (kind != kinds.end()) source.pooling = SentencePooling{kind->second, options.normalize};
}

/// Keys that the user says to be harmless and that no reader of another file has met.
std::vector<std::string> unmet_keys(const Source& source) {
  std::vector<std::string> keys = source.ignored_keys;
  std::erase_if(keys, [&](const std::string& key) { return source.met_keys.count(key) != 0; });
  return keys;
}

/// The calibration that the options ask for, its model written.
std::unique_ptr<Calibration> begin_calibration(const ConvertOptions& options, Graph& graph,
                                               const TokenizerTables* tokenizer,
                                               const std::filesystem::path& target, double& done,
                                               const Progress& progress) {
  if (options.calibration_text.empty()) return nullptr;
  const MappedFile file(options.calibration_text);
  const std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const double from = done;
  return std::make_unique<Calibration>(graph, tokenizer, text, target, [&, from](double share) {
    done = from + (kCalibrated - from) * share;
    progress("calibrating", done);
  });
}

/// How a model with a source of ids, of a picture or of filter banks, searches by default. The file's start
/// token becomes the graph's.
void take_beam_defaults(const TransformerSpec& spec, const ConvertOptions& options, const Source& source,
                        Graph& graph, Metadata& metadata) {
  if (!spec.source) return;
  const std::optional<SoundSpec>& sound = spec.source->sound;
  const bool filter_banks = sound && sound->features == SoundFeatures::normalized_filter_bank;
  const bool sees = spec.source->picture.format.height != 0;
  if (spec.source->names.embedding.empty() && !filter_banks && !sees) return;
  metadata.beams = read_beam_defaults(source, graph.vocab, options.ignored_keys);
  if (metadata.beams->max_tokens == 0 && (sees || filter_banks))
    metadata.beams->max_tokens = std::min(20u, spec.context);  // as generate has it
  if (metadata.beams->start_id >= 0) graph.bos_id = metadata.beams->start_id;
  for (const Prompt& prompt : read_task_prefixes(source)) metadata.prompts.push_back(prompt);
}

/// How a model that goes on with ids generates by default, and what of that is not done.
void take_generation_defaults(const TransformerSpec& spec, const ConvertOptions& options, Source& source,
                              const Graph& graph, Metadata& metadata) {
  if (spec.is_encoder() || source.format != "hf") return;
  // Speech2Text searches by all keys that models of texts do, others that hear by none.
  const bool hears = spec.source && spec.source->sound &&
                     spec.source->sound->features != SoundFeatures::normalized_filter_bank;
  const std::vector<std::string> unread = hears ? unread_speech_keys(source) : unread_generation_keys(source);
  if (!unread.empty())
    source.notes.push_back(
        fmt::format("generation_config.json says what mote leaves to its user: {}", fmt::join(unread, ", ")));
  if (spec.source) return;
  GenerationDefaults defaults = read_generation_defaults(source, graph.vocab, options.ignored_keys);
  if (defaults.is_plain()) return;
  source.notes.push_back(fmt::format("generates as its authors do: {}", defaults.describe()));
  metadata.generation = std::move(defaults);
}

/// Begins the report with the facts that are known before the weights are converted.
ConvertReport begin_report(const Metadata& metadata, const UnderstoodTemplate& chat,
                           const TypePolicy& policy) {
  ConvertReport report{};
  report.name = metadata.name;
  report.architecture = metadata.architecture;
  report.type = policy.name();
  if (metadata.chat_format) report.chat_format = metadata.chat_format->name;
  report.keeps_chat_template = !metadata.chat_template.empty();
  report.template_remark = chat.remark;
  if (metadata.tokenizer != nullptr) {
    report.tokens = metadata.tokenizer->tokens();
    report.tokenizer_bytes = metadata.tokenizer->bytes().size();
  }
  return report;
}

}  // namespace

ConvertReport convert(const std::filesystem::path& path, const std::filesystem::path& target,
                      const ConvertOptions& options) {
  const Progress progress = options.progress ? options.progress : [](const std::string&, double) {};
  check_target(path, target);
  Source source = read_source(path, options.ignored_keys);
  source.tower = options.tower;
  source.picture_size = options.picture_size;
  source.any_picture_size = options.any_picture_size;
  take_published_code(source);
  enter_text_tower(source);
  for (const std::string& adapter : options.adapters) {
    const AdapterArgument argument = parse_adapter(adapter);
    merge_adapter(source, argument.directory, argument.strength);
  }
  take_language(source, options.language);
  choose_pooling(options, source);
  nlohmann::json keys = *source.config;
  const std::string long_note = choose_longrope(options.long_context, keys);
  source.config = std::make_shared<const nlohmann::json>(std::move(keys));
  auto [architecture, spec] = read_model(source, path, keys_of_config(unmet_keys(source)));
  const std::string tied_note = settle_tied_head(source, spec);
  if (source.pooling && !spec.is_encoder()) make_embedder(source, spec);
  prepare_pictures(source, spec);
  const TypePolicy policy(options.type, source, spec.is_encoder(), options.head_type);
  TensorSet tensors(source);
  Graph graph = build_transformer(spec, policy, tensors);
  const bool labels_are_texts = spec.sound && spec.sound->waveform;  // of CTC
  std::optional<TokenizerSpec> text = options.no_tokenizer || spec.without_tokenizer || labels_are_texts
                                          ? std::nullopt
                                          : read_tokenizer(source, spec.is_encoder() || spec.source);
  if (text) {
    const std::vector<std::string> unread =
        unread_tokenizer_keys(source, !spec.is_encoder() && text->model != ModelSpec::bpe);
    if (!unread.empty())
      source.notes.push_back(
          fmt::format("tokenizer_config.json has keys that mote does not read: {}", fmt::join(unread, ", ")));
  }
  if (text && spec.globals) leave_out_types(*text);
  if (text) add_pair_prompts(source, &*text);
  std::optional<TokenizerTables> tokenizer = compile_tokenizer(text, graph, options.small_tables);
  if (spec.source && spec.source->sound && spec.source->sound->features == SoundFeatures::log_mel)
    take_speech_tokens(source, text ? &*text : nullptr, graph);
  take_task(spec, text ? &*text : nullptr, graph);
  if (tokenizer && graph.task == Task::generate && !options.small_tables)
    tokenizer->add_vocabulary(graph.vocab);
  const UnderstoodTemplate chat = choose_chat_pieces(options, source, text ? &*text : nullptr, graph);

  OutputFile output(target);
  std::vector<SourceRecord> sources = hash_sources(source, progress);
  double done = kHashed;
  const RowScales row_scales = policy.chooses() ? RowScales::where_they_suffice : RowScales::everywhere;
  smooth_columns(graph, row_scales, tokenizer ? &*tokenizer : nullptr, target, [&](double share) {
    done = kHashed + (kSmoothed - kHashed) * share;
    progress("calibrating", done);
  });
  const std::unique_ptr<Calibration> calibration =
      begin_calibration(options, graph, tokenizer ? &*tokenizer : nullptr, target, done, progress);
  const MemoryPlan plan = plan_memory(graph);
  Metadata metadata{&graph,
                    &plan,
                    source.name,
                    architecture,
                    all_stop_ids(source, chat.format, text ? &*text : nullptr),
                    std::move(sources),
                    lay_out(graph),
                    {},
                    false,
                    chat.format,
                    tokenizer ? &*tokenizer : nullptr};
  metadata.prompts = source.prompts;
  metadata.similarity = source.similarity;
  metadata.default_prompt = source.prompts.empty() ? -1 : source.default_prompt;
  keep_chat_template(options, source, spec, text ? &*text : nullptr, metadata);
  take_beam_defaults(spec, options, source, graph, metadata);
  take_generation_defaults(spec, options, source, graph, metadata);
  ConvertReport report = begin_report(metadata, chat, policy);
  report.notes = source.notes;
  if (calibration) report.notes.push_back(calibration->describe());
  report.notes.insert(report.notes.end(), spec.notes.begin(), spec.notes.end());
  for (const std::string& text : {tied_note, long_note}) {
    if (!text.empty()) report.notes.push_back(text);
  }
  const SelfTestPlan self_test = plan_self_test(graph);
  const uint64_t metadata_bytes = reserve_metadata(metadata, self_test);
  const uint64_t segment = align_up(metadata_bytes, kAlignment);
  write_weights(output, segment, metadata, calibration.get(), report, done, progress);
  if (tokenizer) output.write_at(segment + metadata.weight_bytes(), tokenizer->bytes());
  output.write_at(0, build_metadata(metadata, metadata_bytes));

  progress("testing", kEncoded);
  const OpenedModel model(output.temporary());
  metadata.self_test = model.run(self_test, coarsest_type(graph));
  metadata.has_self_test = true;
  report.memory = model.memory();
  report.file_bytes = segment + metadata.segment_bytes();
  output.write_at(0, build_metadata(metadata, metadata_bytes));
  output.commit();
  progress("done", 1.0);
  return report;
}

}  // namespace mote::convert
