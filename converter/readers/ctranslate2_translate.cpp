// SPDX-License-Identifier: Apache-2.0
//
// Translates the parts that all of CTranslate2's specifications share: attributes, tokens, embeddings and
// positions.
#include <array>
#include <cmath>

#include "converter/readers/ctranslate2_translation.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr uint32_t kMostCt2Layers = 1u << 12;
constexpr uint64_t kComputedPositions = 1024;  // where the file has none
constexpr float kNeverChosen = -1e30f;         // the bias of a token that no output may be

constexpr std::array<const char*, 7> kCt2Activations = {"relu",       "gelu_new", "silu",   "gelu",
                                                        "quick_gelu", "tanh",     "sigmoid"};

/// OpenNMT's, which older files leave out: the first row is of position 1, sines before cosines. A row is
/// made when it is read.
struct SineRows : RowReader {
  explicit SineRows(uint64_t width)
      : half(width / 2), step(std::log(10000.0f) / (static_cast<float>(half) - 1)) {}

  uint64_t half;
  float step;

  void read(uint64_t row, std::span<float> out) const override {
    for (uint64_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(row + 1) * std::exp(-step * static_cast<float>(i));
      out[i] = std::sin(angle);
      out[half + i] = std::cos(angle);
    }
  }
};

SourceTensor computed_positions(uint64_t width) {
  const uint64_t bytes = kComputedPositions * width * sizeof(float);
  charge_bytes(bytes);
  return {SourceType::f32,
          {kComputedPositions, width},
          nullptr,
          bytes,
          0,
          1.0f,
          std::make_shared<SineRows>(width)};
}

}  // namespace

Source Ct2Translation::run() {
  source_.format = "ctranslate2";
  check_settings();
  if (file_.spec == "WhisperSpec") {
    translate_whisper();
  } else if (file_.spec != "TransformerSpec") {
    variables_.refuse(
        fmt::format("CTranslate2's {} is not read: TransformerSpec and WhisperSpec are", shown(file_.spec)));
  } else if (variables_.has("encoder/layer_0/self_attention/relative_attention_bias")) {
    translate_t5();
  } else {
    translate_bart();
  }
  skip_attributes();
  variables_.finish();
  source_.packed = std::any_of(source_.tensors.begin(), source_.tensors.end(),
                               [](const auto& entry) { return entry.second.type == SourceType::int8_rows; });
  source_.config = std::make_shared<const json>(config_);
  return std::move(source_);
}

uint32_t Ct2Translation::heads(const std::string& side) {
  const bool absent = file_.spec == "TransformerSpec" && file_.revision < 3;
  const double value = attribute(side, "num_heads", absent ? std::optional(8.0) : std::nullopt);
  if (!(value >= 1 && value <= 4096)) variables_.refuse(fmt::format("{} heads", value));
  return static_cast<uint32_t>(value);
}

std::string Ct2Translation::activation(const std::string& side) {
  const double value = attribute(side, "activation", 0.0);
  if (!(value >= 0 && value < static_cast<double>(kCt2Activations.size())))
    variables_.refuse(fmt::format("activation {}", value));
  return kCt2Activations[static_cast<size_t>(value)];
}

uint32_t Ct2Translation::layers(const std::string& side) const {
  uint32_t count = 0;
  while (count < kMostCt2Layers &&
         variables_.has(fmt::format("{}/layer_{}/self_attention/linear_0/weight", side, count)))
    ++count;
  return count;
}

uint64_t Ct2Translation::dimension(const std::string& name, size_t index) {
  const Ct2Variable& variable = variables_.weight(name);
  if (variable.shape.size() <= index || variable.shape[index] == 0)
    variables_.refuse(fmt::format("{} is no matrix", shown(name)));
  return variable.shape[index];
}

std::optional<std::string> Ct2Translation::token(const char* key, const char* fallback) {
  if (file_.version < 6) return variables_.text(key, fallback);
  const auto found = settings_.find(key);
  if (found == settings_.end()) return fallback;
  if (found->is_null()) return std::nullopt;
  return settings_file_.text(settings_, key);
}

void Ct2Translation::require_revision(uint32_t first, uint32_t last) const {
  if (file_.revision < first || file_.revision > last) {
    variables_.refuse(
        fmt::format("revision {} of {} is not read, {} to {} are", file_.revision, file_.spec, first, last));
  }
}

void Ct2Translation::check_settings() {
  static const std::array<const char*, 14> kKnown = {"unk_token",
                                                     "bos_token",
                                                     "eos_token",
                                                     "decoder_start_token",
                                                     "add_source_bos",
                                                     "add_source_eos",
                                                     "lang_ids",
                                                     "alignment_heads",
                                                     "suppress_ids",
                                                     "suppress_ids_begin",
                                                     "layer_norm_epsilon",
                                                     "num_mel_bins",
                                                     "multi_query_attention",
                                                     "quantization"};
  for (const auto& [key, value] : settings_.items()) {
    const bool known =
        std::any_of(kKnown.begin(), kKnown.end(), [&, &name = key](const char* one) { return name == one; });
    if (!known && !value.is_null())
      variables_.refuse(fmt::format("config.json's key {} is not known", shown(key)));
  }
  if (settings_file_.flag(settings_, "multi_query_attention", false))
    variables_.refuse("multi_query_attention is not read");
}

int64_t Ct2Translation::start_id() {
  if (variables_.number("decoder/start_from_zero_embedding", 0.0) != 0)
    return static_cast<int64_t>(config_["vocab_size"].get<uint64_t>()) - 1;
  std::optional<std::string> start;
  if (file_.version >= 6) {
    start = token("decoder_start_token", "<s>");
  } else if (variables_.number("user_decoder_start_tokens", 0.0) == 0) {
    start = token(variables_.number("with_target_bos", 1.0) != 0 ? "bos_token" : "eos_token", "<s>");
  }
  if (!start) return -1;
  const int64_t id = id_of(*start);
  if (id < 0) variables_.refuse(fmt::format("the decoder starts with {}, which is no token", shown(*start)));
  return id;
}

/// Special tokens by their ids, and what CTranslate2 adds to sources.
void Ct2Translation::set_tokens() {
  const auto bos = token("bos_token", "<s>"), eos = token("eos_token", "</s>");
  token("unk_token", "<unk>");
  config_["decoder_start_token_id"] = start_id();
  const int64_t eos_id = eos ? id_of(*eos) : -1;
  if (eos_id >= 0) {
    config_["eos_token_id"] = eos_id;
    source_.stop_ids = {static_cast<int32_t>(eos_id)};
  }
  if (source_adds("add_source_bos", "with_source_bos"))
    source_.notes.push_back(fmt::format("sources begin with {}", bos.value_or("")));
  if (source_adds("add_source_eos", "with_source_eos"))
    source_.notes.push_back(fmt::format("sources end with {}", eos.value_or("")));
}

/// Embeddings are multiplied by the root of the width, or not.
void Ct2Translation::set_scale(bool optional_flag) {
  const double root = std::sqrt(config_["d_model"].get<double>());
  std::optional<bool> scaled;
  for (const std::string side : {"encoder", "decoder"}) {
    const std::string name = side + "/scale_embeddings", older = side + "/embeddings/multiply_by_sqrt_depth";
    const std::string& found = variables_.has(name) ? name : older;
    if (optional_flag && !variables_.has(found)) continue;
    const bool is_flag = !variables_.has(found) || variables_.weight(found).type == Ct2Type::i8;
    const double value = variables_.number(found, 1.0);
    const bool by_root = is_flag ? value != 0 : std::abs(value - root) <= 1e-3 * root;
    if (!is_flag && !by_root && value != 1)
      variables_.refuse(fmt::format("{} is {}, read are 1 and the root of the width", found, value));
    if (scaled.value_or(by_root) != by_root)
      variables_.refuse("the sides scale their embeddings differently");
    scaled = by_root;
  }
  config_["scale_embedding"] = scaled.value_or(false);
}

/// The one matrix of both sides and, where it is the same, of the head. A decoder that starts from zeros gets
/// a token more, whose row they are.
void Ct2Translation::set_embedding(const std::string& name) {
  const std::string decoder = "decoder/embeddings/weight", head = "decoder/projection/weight";
  const std::string older = "encoder/embeddings/weight";
  const std::string encoder = variables_.has(older) ? older : "encoder/embeddings_0/weight";
  SourceTensor table = variables_.tensor(decoder);
  if (table.shape.size() != 2) variables_.refuse("the embeddings are no matrix");
  if (file_.spec == "TransformerSpec") {
    variables_.ignore(encoder);
    if (!variables_.same(encoder, decoder))
      variables_.refuse("the source and the target have embeddings of their own, which is not supported");
  }
  const uint64_t vocab = table.shape[0];
  if (tokens_.size() != vocab)
    variables_.refuse(fmt::format("the vocabulary has {} tokens for {} rows", tokens_.size(), vocab));
  const bool more = variables_.number("decoder/start_from_zero_embedding", 0.0) != 0;
  config_["d_model"] = table.shape[1];
  config_["vocab_size"] = vocab + (more ? 1 : 0);
  const bool tied = variables_.same(head, decoder);
  config_["tie_word_embeddings"] = tied;
  variables_.ignore(head);
  const std::string bias = "decoder/projection/bias";
  std::vector<float> biases(vocab);
  if (variables_.has(bias)) biases = ct2_read(variables_.tensor(bias));
  if (biases.size() != vocab) variables_.refuse(fmt::format("{} has {} values", bias, biases.size()));
  if (more) biases.push_back(kNeverChosen);
  if (variables_.has(bias) || more) {
    const uint64_t values = biases.size();
    source_.tensors["final_logits_bias"] = ct2_values({1, values}, std::move(biases));
  }
  const auto longer = [more](const SourceTensor& tensor) { return more ? ct2_padded(tensor, 0, 1) : tensor; };
  source_.tensors[name] = longer(table);
  if (tied) return;
  const SourceTensor own = variables_.tensor(head);
  if (own.shape != table.shape)
    variables_.refuse(fmt::format("{} has another shape than the embeddings", head));
  const char* const head_name = file_.spec == "WhisperSpec" ? "proj_out.weight" : "lm_head.weight";
  source_.tensors[head_name] = longer(own);
}

/// A learned table of BART's kind has two rows in front, which CTranslate2 leaves out.
void Ct2Translation::set_positions(const std::string& side, bool learned) {
  const std::string name = side + "/position_encodings/encodings";
  const auto width = config_["d_model"].get<uint64_t>();
  if (!variables_.has(name) && (width < 4 || width % 2 != 0))
    variables_.refuse(fmt::format("{} is missing, and a width of {} has no sines", name, width));
  const SourceTensor table = variables_.has(name) ? variables_.tensor(name) : computed_positions(width);
  if (table.shape.size() != 2 || table.shape[1] != width)
    variables_.refuse(fmt::format("{} is not as wide as the embeddings", name));
  const json rows = table.shape[0];
  const char* const key = file_.spec != "WhisperSpec" ? "max_position_embeddings"
                          : side == "encoder"         ? "max_source_positions"
                                                      : "max_target_positions";
  if (config_.value(key, rows) != rows)
    variables_.refuse("the encoder and the decoder have tables of positions of different lengths");
  config_[key] = rows;
  source_.tensors["model." + side + ".embed_positions.weight"] = learned ? ct2_padded(table, 2, 0) : table;
}

/// `queries_scale` stands for the root of the heads' width where it is absent.
void Ct2Translation::check_scales(const std::string& side, double expected) {
  for (uint32_t layer = 0; layer < layers(side); ++layer) {
    for (const char* kind : {"self_attention", "attention"}) {
      const std::string scope = fmt::format("{}/layer_{}/{}/", side, layer, kind);
      if (!variables_.has(scope + "linear_0/weight")) continue;
      const double absent = file_.spec == "TransformerSpec" && expected == 1 ? 0.0 : expected;
      const double scale = variables_.number(scope + "queries_scale", absent);
      if (std::abs(scale - expected) > 1e-4 * expected)
        variables_.refuse(fmt::format("{}queries_scale is {}, expected {}", scope, scale, expected));
    }
  }
}

/// Attributes that change no result, and those that must be 0.
void Ct2Translation::skip_attributes() {
  config_["is_encoder_decoder"] = true;
  for (const char* side : {"", "encoder/", "decoder/"}) {
    for (const char* name : {"embeddings_merge", "alignment_layer", "alignment_heads",
                             "with_relative_position", "num_heads", "pre_norm", "activation"})
      variables_.ignore(std::string(side) + name);
    for (const char* name : {"alibi", "alibi_use_positive_positions", "scale_alibi", "multi_query_attention",
                             "final_logit_softcapping", "sliding_window"}) {
      const std::string full = std::string(side) + name;
      if (variables_.number(full, 0.0) != 0) variables_.refuse(fmt::format("{} is not read", full));
    }
  }
  for (const auto& [name, variable] : variables_.all()) {
    if (name.ends_with("/num_heads_kv")) variables_.refuse(fmt::format("{} is not read", shown(name)));
  }
}

Source translate_ctranslate2(const Ct2File& file, const json& settings,
                             const std::vector<std::string>& tokens, const std::string& where) {
  const WorkBudget budget(where, file.bytes);
  return Ct2Translation(file, settings, tokens, where).run();
}

}  // namespace mote::convert
