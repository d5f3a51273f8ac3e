// SPDX-License-Identifier: Apache-2.0
//
// The encoder-decoder of "Attention is all you need" (Vaswani et al. 2017), with PyTorch's names: sines and
// cosines side by side, norms behind the sums or, where norm_first is set, before the branches, one embedding
// for both sides or one for each and, unless the file has another matrix for it, the head. PyTorch's class
// leaves the embedding, the head and the positions to who uses it: their names are found.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kPositions = 1024;  // that are in the file; the original knows no limit

/// [rows, width]: sines in even columns, cosines in odd ones.
std::vector<float> interleaved_sines(uint32_t rows, uint32_t width) {
  charge_table({rows, width});
  std::vector<float> table(size_t{rows} * width);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < width; ++column) {
      const double angle = row * std::pow(10000.0, -static_cast<double>(column / 2 * 2) / width);
      table[size_t{row} * width + column] =
          static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

/// Holds what a file calls the parts.
struct ClassicNames {
  std::string base;  // before "encoder." and "decoder."
  std::string embedding = "embedding", head = "head";
  std::string source_embedding = {};  // empty: both sides have one
  std::string positions = {};         // whole: of a table that the file has of them
};

/// Returns whether the tensor's rows are the sines, but for the roundings of who computed them in f32.
bool is_sines(const SourceTensor& tensor, uint32_t width) {
  constexpr uint64_t kMostRows = 1u << 16;
  constexpr float kRounded = 1e-2f;
  if (tensor.cols() != width || tensor.rows() == 0 || tensor.rows() > kMostRows) return false;
  const auto rows = static_cast<uint32_t>(tensor.rows());
  const std::vector<float> sines = interleaved_sines(rows, width);
  std::vector<float> row(width);
  for (uint32_t i = 0; i < rows; ++i) {
    read_row(tensor, i, row);
    for (uint32_t column = 0; column < width; ++column) {
      if (!(std::abs(row[column] - sines[size_t{i} * width + column]) < kRounded)) return false;
    }
  }
  return true;
}

// Words by which names of the source's embedding and the target's differ, as "src_emb" and "tgt_emb".
constexpr std::pair<std::string_view, std::string_view> kSides[] = {
    {"src_", "tgt_"}, {"src_", "trg_"}, {"source_", "target_"}, {"encoder_", "decoder_"}, {"enc_", "dec_"}};

/// Returns where a part of the name begins with the word.
std::optional<size_t> find_part(const std::string& name, std::string_view word) {
  for (size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
    if (at == 0 || name[at - 1] == '.' || name[at - 1] == '_') return at;
  }
  return std::nullopt;
}

/// Takes the embeddings of the two sides out of `matrices` where their names differ by such words alone.
void take_sides(std::vector<std::string>& matrices, ClassicNames& names) {
  for (const auto& [source, target] : kSides) {
    for (const std::string& name : matrices) {
      const auto at = find_part(name, source);
      if (!at) continue;
      const std::string other = std::string(name).replace(*at, source.size(), target);
      if (std::find(matrices.begin(), matrices.end(), other) == matrices.end()) continue;
      names.source_embedding = name;
      names.embedding = other;
      std::erase_if(matrices,
                    [&](const std::string& any) { return any == names.source_embedding || any == other; });
      return;
    }
  }
}

/// An embedding never has a bias; a head of PyTorch's mostly does. Both are found where that tells them
/// apart, and embeddings of the two sides where their names do.
void find_ends(const Source& source, Config& config, const std::vector<std::string>& with_bias,
               std::vector<std::string> without, ClassicNames& names) {
  const bool has_embedding = source.tensors.count(names.embedding + ".weight") != 0;
  if (config.has("embedding") || has_embedding || without.empty()) return;
  if (names.source_embedding.empty()) take_sides(without, names);
  const bool sides =
      !names.source_embedding.empty() && source.tensors.count(names.embedding + ".weight") != 0;
  if (sides && !config.has("head") && with_bias.empty() && without.size() == 1) names.head = without[0];
  if (!sides && without.size() > 1)
    config.refuse(
        "{} and {} may both be the embedding: say which is by \"embedding\", where the source has another by "
        "\"source_embedding\", and by \"head\" which is the head",
        without[0], without[1]);
  if (!sides) names.embedding = without[0];
  if (!config.has("head") && with_bias.size() == 1) names.head = with_bias[0];
}

/// Fails where the source's embedding has another vocabulary.
void check_sizes(const Source& source, Config& config, const ClassicNames& names, uint32_t vocab,
                 uint32_t width) {
  for (const auto& [name, tensor] : source.tensors) {
    const bool is_embedding = name.ends_with(".weight") && tensor.shape.size() == 2 &&
                              tensor.shape[1] == width && !name.starts_with(names.base + "encoder.") &&
                              !name.starts_with(names.base + "decoder.");
    const bool of_source =
        std::any_of(std::begin(kSides), std::end(kSides),
                    [&name = name](const auto& side) { return find_part(name, side.first).has_value(); });
    if (is_embedding && of_source && tensor.shape[0] != vocab)
      config.refuse(
          "{} has {} rows for a vocabulary of {}: sources and targets of different vocabularies are not "
          "supported; "
          "train or save both embeddings with the larger size",
          name, tensor.shape[0], vocab);
  }
}

ClassicNames find_names(const Source& source, Config& config) {
  ClassicNames names;
  const auto vocab = config.size("vocab_size", 1, kMaxSize), width = config.size("d_model", 2, kMaxSize);
  const std::string first = "encoder.layers.0.linear1.weight";
  for (const auto& [name, tensor] : source.tensors) {
    if (name.ends_with(first)) names.base = name.substr(0, name.size() - first.size());
  }
  names.embedding = config.text("embedding", names.embedding);
  names.head = config.text("head", names.head);
  names.source_embedding = config.text("source_embedding", "");
  std::vector<std::string> with_bias, without;
  for (const auto& [name, tensor] : source.tensors) {
    if (name.starts_with(names.base + "encoder.") || name.starts_with(names.base + "decoder.")) continue;
    if (name.ends_with(".bias")) continue;
    if (!name.ends_with(".weight")) {
      if (is_sines(tensor, width)) names.positions = name;
      continue;
    }
    if (tensor.shape != std::vector<uint64_t>{vocab, width}) continue;
    const std::string own = name.substr(0, name.size() - std::string(".weight").size());
    (source.tensors.count(own + ".bias") != 0 ? with_bias : without).push_back(own);
  }
  find_ends(source, config, with_bias, without, names);
  check_sizes(source, config, names, vocab, width);
  return names;
}

/// Layer norms, or such that divide by the deviation + eps, of a sample or of all.
void read_classic_norm(Config& config, TransformerSpec& spec) {
  set_layer_norms(config, 1e-5, spec);
  const nlohmann::json* const json = config.value("norm");
  if (json == nullptr) return;
  Config norm = config.inner(*json, "norm.");
  const std::string kind = norm.text("kind", "layer_norm"), sigma = norm.text("sigma", "population");
  spec.norm_eps = static_cast<float>(norm.number("eps", spec.norm_eps));
  norm.finish();
  if (kind == "layer_norm") return;
  if (kind != "sigma_plus_eps") config.refuse("norm.kind {} is not supported", kind);
  spec.norm_eps_outside_root = true;
  if (sigma == "population") return;
  if (sigma != "sample" || spec.width < 2) config.refuse("norm.sigma {} is not supported", sigma);
  // w x / (f s + eps) with the population's s is (w / f) x / (s + eps / f).
  const float factor = std::sqrt(static_cast<float>(spec.width) / static_cast<float>(spec.width - 1));
  spec.norm_eps /= factor;
  spec.norm_multiplier = 1.0f / factor;
}

LayerSpec classic_layer(Config& config, const TransformerSpec& spec, const std::string& base, bool decoder) {
  const bool first = config.flag("norm_first", false);
  const std::string prefix = base + (decoder ? "decoder.layers.{}." : "encoder.layers.{}.");
  const auto set_norm = [&](BranchNorms& norms, const char* name) {
    (first ? norms.before : norms.sum) = prefix + name;
  };
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("nhead", 1, kMaxSize), "d_model", "nhead");
  layer.ffn = {Ffn::plain, read_activation(config, "activation", "relu"),
               config.size("dim_feedforward", 1, kMaxSize, 2048), true};
  LayerNames& names = layer.names;
  names.qkv = prefix + "self_attn.in_proj";
  names.o = prefix + "self_attn.out_proj";
  set_norm(names.attention_norms, "norm1");
  if (decoder) {
    LayerSpec cross = layer;
    cross.names.qkv = prefix + "multihead_attn.in_proj";
    cross.names.o = prefix + "multihead_attn.out_proj";
    set_norm(cross.names.attention_norms, "norm2");
    set_cross(std::move(cross), layer);
  }
  names.up = prefix + "linear1";
  names.down = prefix + "linear2";
  set_norm(names.ffn_norms, decoder ? "norm3" : "norm2");
  return layer;
}

/// The sines, or the file's own rows of them, which another rounded.
void set_sines(const Source& source, const ClassicNames& names, TransformerSpec& spec) {
  const auto stored = source.tensors.find(names.positions);
  if (stored == source.tensors.end()) {
    spec.context = kPositions;
    spec.position_table = interleaved_sines(kPositions, spec.width);
    return;
  }
  spec.context = static_cast<uint32_t>(stored->second.rows());
  charge_table({spec.context, spec.width});
  spec.position_table.resize(size_t{spec.context} * spec.width);
  for (uint32_t row = 0; row < spec.context; ++row)
    read_row(stored->second, row,
             std::span(spec.position_table).subspan(size_t{row} * spec.width, spec.width));
  spec.names.ignored.push_back(names.positions);
}

TransformerSpec classic_side(const Source& source, Config& config, const ClassicNames& names, bool decoder) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("d_model", 2, kMaxSize);
  set_sines(source, names, spec);
  read_classic_norm(config, spec);
  const char* const layers = decoder ? "num_decoder_layers" : "num_encoder_layers";
  spec.repeat(classic_layer(config, spec, names.base, decoder), config.size(layers, 1, kMaxLayers, 6));
  if (config.flag("scale_embedding", true))
    spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  spec.names.embedding = decoder || names.source_embedding.empty() ? names.embedding : names.source_embedding;
  // PyTorch's class has final norms wherever the norms of its layers are; a stack of layers may have none.
  const std::string final_norm = names.base + (decoder ? "decoder.norm" : "encoder.norm");
  if (config.flag("norm_first", false) || source.tensors.count(final_norm + ".weight") != 0)
    spec.names.final_norm = final_norm;
  return spec;
}

}  // namespace

TransformerSpec read_transformer(const Source& source, Config& config) {
  if (config.text("positions", "sinusoidal_interleaved") != "sinusoidal_interleaved")
    config.refuse("positions other than sinusoidal_interleaved are not supported");
  require_flag(config, "bias", true);
  know(config, {"dropout", "batch_first"});
  const ClassicNames names = find_names(source, config);
  require_flag(config, "share_embeddings", names.source_embedding.empty());
  TransformerSpec spec = classic_side(source, config, names, true);
  spec.names.head = names.head;
  const bool has_head = source.tensors.count(names.head + ".weight") != 0;
  spec.tied_embedding = config.flag("tie_word_embeddings", !has_head);
  if (source.tensors.count(names.head + ".bias") != 0) spec.head.output_bias = names.head + ".bias";
  set_encoder(config, classic_side(source, config, names, false), spec);
  spec.bos_id = config.token_id("start_token_id", spec.vocab);
  return spec;
}

}  // namespace mote::convert
