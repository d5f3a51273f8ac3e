// SPDX-License-Identifier: Apache-2.0
//
// GGUF's tensor names translated to Hugging Face's, by the tables of gguf_families.h. A tensor that no table
// has might change the results, and is refused by name.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "converter/readers/ggml_blocks.h"
#include "converter/readers/gguf_families.h"
#include "converter/readers/gguf_rows.h"
#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// A name taken apart: "blk.3.attn_q.weight" is {"blk.{}.attn_q", "3", ".weight"}, "blk.3.ssm_a" {"blk.{}",
/// "3", ".ssm_a"}.
struct TensorName {
  std::string stem, layer, kind;
};

TensorName take_apart(const std::string& name, uint64_t layers) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, "", ""};
  TensorName result{name.substr(0, dot), "", name.substr(dot)};
  const bool of_side = name.starts_with("enc.") || name.starts_with("dec.");
  const size_t begin = of_side ? 8 : 4;
  if (name.compare(begin - 4, 4, "blk.") != 0) return result;
  const size_t end = name.find('.', begin);
  if (end > dot) return result;
  uint32_t layer = 0;
  const auto parsed = std::from_chars(name.data() + begin, name.data() + end, layer);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + end || layer >= layers) return result;
  result.layer = std::to_string(layer);
  if (result.layer.size() == end - begin) result.stem.replace(begin, end - begin, "{}");  // not "blk.03."
  return result;
}

/// The rule for a tensor, null where the family has no such tensor.
const TensorRule* find_rule(const Family& family, bool has_experts, const TensorName& name) {
  const bool usual = name.kind == ".weight" || name.kind == ".bias";
  for (const std::span<const TensorRule> rules :
       {has_experts ? family.experts.tensors : std::span<const TensorRule>(), family.tensors,
        family.common_tensors(), family.of_other_layers}) {
    for (const TensorRule& rule : rules) {
      if (rule.whole ? name.stem + name.kind == rule.gguf : usual && name.stem == rule.gguf) return &rule;
    }
  }
  return nullptr;
}

bool is_vector(const SourceTensor& tensor) { return tensor.shape.size() < 2; }

/// Returns the number of a matrix's rows, or of a vector's elements.
uint64_t outputs_of(const SourceTensor& tensor) { return is_vector(tensor) ? tensor.cols() : tensor.rows(); }

/// Says whether outputs of the tensor can be taken apart: rows, or elements of a vector that are no blocks of
/// several.
bool is_divisible(const SourceTensor& tensor) {
  return !is_vector(tensor) || block_layout(tensor.type).elements == 1;
}

/// Rows [first, first + count) of a matrix, or those elements of a vector.
SourceTensor rows_of(const SourceTensor& whole, uint64_t first, uint64_t count) {
  SourceTensor part = whole;
  const bool vector = is_vector(whole);
  const uint64_t rows = outputs_of(whole);
  part.bytes = whole.bytes / rows * count;
  part.data += whole.bytes / rows * first;
  (vector ? part.shape.back() : part.shape[0]) = count;
  return part;
}

/// V's heads of a gated delta rule, `width` rows each, behind `before` others.
struct DeltaHeads {
  uint64_t before, heads, key_heads, width;
  uint64_t rows() const { return before + heads * width; }
};

/// Returns how they stand in a file, by Hugging Face's places: GGUF has the first ones of all groups that
/// share a key, then the second ones.
std::vector<uint32_t> tiled_heads(const DeltaHeads& of) {
  std::vector<uint32_t> places(of.rows());
  std::iota(places.begin(), places.end(), 0u);
  const uint64_t group = of.heads / of.key_heads;
  for (uint64_t head = 0; head < of.heads; ++head) {
    const uint64_t place = head % group * of.key_heads + head / group;
    for (uint64_t i = 0; i < of.width; ++i)
      places[of.before + head * of.width + i] = static_cast<uint32_t>(of.before + place * of.width + i);
  }
  return places;
}

class GgufTensors {
 public:
  GgufTensors(Source& source, const Family& family, const GgufFile& file, const std::string& where)
      : source_(source), config_(*source.config), family_(family), file_(file), where_(where) {
    heads_ = config_.value("num_attention_heads", 1u);
    kv_heads_ = config_.value("num_key_value_heads", heads_);
    for (const char* key : {"num_hidden_layers", "n_layer", "num_layers", "num_decoder_layers"})
      layers_ = std::max(layers_, config_.value(key, uint64_t{0}));
    gated_ = config_.value("feed_forward_proj", "gated") != "relu";
  }

  void add_all() {
    for (const auto& [name, tensor] : file_.tensors) {
      if (!predicts_further(name)) add(name, tensor);
    }
    if (family_.name == "qwen35") order_heads();
  }

 private:
  /// Says whether the name is of a layer behind the others, which predicts further tokens.
  bool predicts_further(const std::string& name) const {
    const auto more = file_.metadata.find(std::string(family_.name) + ".nextn_predict_layers");
    const auto* count = more == file_.metadata.end() ? nullptr : std::get_if<int64_t>(&more->second);
    if (count == nullptr || *count <= 0) return false;
    const uint64_t all = layers_ + static_cast<uint64_t>(*count);
    return take_apart(name, layers_).layer.empty() && !take_apart(name, all).layer.empty();
  }

  const TensorRule* rule_for(const TensorName& name) const {
    return find_rule(family_, config_.contains("num_experts_per_tok"), name);
  }

  /// Hugging Face's name, "" where the family has no such tensor.
  std::string translation_of(const TensorName& name) const {
    const TensorRule* rule = rule_for(name);
    if (rule == nullptr || rule->name == nullptr) return "";
    std::string stem = fmt::format(fmt::runtime(rule->name), name.layer);
    if (!gated_ && stem.ends_with(".wi_1")) stem.resize(stem.size() - 2);
    return stem + (rule->whole ? "" : name.kind);
  }

  void add(const std::string& gguf_name, const SourceTensor& tensor) {
    const TensorName name = take_apart(gguf_name, layers_);
    if (name.stem == "blk.{}.attn_rot_embd") return;  // a table that nothing reads
    // LongRoPE's factors, which are in the config.
    if (gguf_name == "rope_factors_long.weight" || gguf_name == "rope_factors_short.weight") return;
    if (const TensorRule* rule = rule_for(name); rule != nullptr && rule->name == nullptr) return;
    const std::string translation = translation_of(name);
    if (!translation.empty()) {
      add_known(gguf_name, name, translation, tensor);
    } else if (name.stem == "blk.{}.attn_qkv") {
      add_parts(gguf_name, name, tensor, {"attn_q", "attn_k", "attn_v"}, {heads_, kv_heads_, kv_heads_});
    } else if (name.stem == "blk.{}.ffn_gate_up_exps") {
      add_halves(gguf_name, name, tensor);
    } else {
      refuse(gguf_name);
    }
  }

  [[noreturn]] void refuse(const std::string& gguf_name) const {
    fail("{}: tensor {} has no place in a {} of {} layers", where_, shown(gguf_name), family_.name, layers_);
  }

  /// Matrices that stand one below the other, with rows in the ratio of `shares`.
  void add_parts(const std::string& gguf_name, const TensorName& name, const SourceTensor& whole,
                 const std::vector<std::string>& parts, const std::vector<uint64_t>& shares) {
    const uint64_t all = std::accumulate(shares.begin(), shares.end(), uint64_t{0});
    const uint64_t rows = outputs_of(whole);
    if (all == 0 || rows % all != 0 || whole.shape.size() > 2 || !is_divisible(whole))
      fail("{}: tensor {} of {} rows does not divide into {} heads", where_, shown(gguf_name), rows, all);
    uint64_t first = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const uint64_t count = rows / all * shares[i];
      const TensorName part{"blk.{}." + parts[i], name.layer, name.kind};
      const std::string translation = translation_of(part);
      if (translation.empty()) refuse(gguf_name);
      add_known(gguf_name, part, translation, rows_of(whole, first, count));
      first += count;
    }
  }

  /// Adds gate and up of each expert, which lie one below the other.
  void add_halves(const std::string& gguf_name, const TensorName& name, const SourceTensor& stacked) {
    const bool bias = name.kind == ".bias";
    for (const SourceTensor& one : split(gguf_name, stacked, bias)) {
      const std::string expert = std::to_string(experts_seen_++);
      const uint64_t rows = outputs_of(one);
      if (rows % 2 != 0 || !is_divisible(one)) refuse(gguf_name);
      for (const bool up : {false, true}) {
        const char* stem = up ? "blk.{}.ffn_up_exps" : "blk.{}.ffn_gate_exps";
        std::string translation = translation_of({stem, name.layer, name.kind});
        if (translation.find("[]") == std::string::npos) refuse(gguf_name);
        translation.replace(translation.find("[]"), 2, expert);
        source_.tensors[translation] = rows_of(one, up ? rows / 2 : 0, rows / 2);
      }
    }
    experts_seen_ = 0;
  }

  /// The matrices of a stacked tensor, or the vectors of stacked biases.
  std::vector<SourceTensor> split(const std::string& gguf_name, const SourceTensor& stacked,
                                  bool bias) const {
    if (stacked.shape.size() != (bias ? 2 : 3) || stacked.shape[0] == 0 || stacked.shape[0] > kMaxExperts)
      fail("{}: tensor {} is no matrix for each of at most {} experts", where_, shown(gguf_name),
           kMaxExperts);
    SourceTensor one = stacked;
    one.shape.erase(one.shape.begin());
    one.bytes = stacked.bytes / stacked.shape[0];
    std::vector<SourceTensor> all(stacked.shape[0], one);
    for (size_t i = 0; i < all.size(); ++i) all[i].data += i * one.bytes;
    return all;
  }

  void add_experts(const std::string& pattern, const std::string& gguf_name, const SourceTensor& stacked,
                   bool bias) {
    const std::vector<SourceTensor> all = split(gguf_name, stacked, bias);
    for (size_t expert = 0; expert < all.size(); ++expert) {
      std::string name = pattern;
      source_.tensors[name.replace(name.find("[]"), 2, std::to_string(expert))] = all[expert];
    }
  }

  void add_known(const std::string& gguf_name, const TensorName& name, const std::string& translation,
                 const SourceTensor& tensor) {
    if (translation.find("[]") != std::string::npos)
      return add_experts(translation, gguf_name, tensor, name.kind == ".bias");
    SourceTensor& added = source_.tensors[translation] = tensor;
    // Vectors of a scan, which the file has as matrices.
    const bool one_state = family_.name != "mamba";
    for (const char* end :
         {"mamba.A", "mamba.D", "mamba.norm.weight", "mixer.A", "mixer.D", "mixer.norm.weight"}) {
      if (one_state && translation.ends_with(end)) added.shape = {added.rows() * added.cols()};
    }
    // The matrices of all heads lie one below the other.
    if (name.stem == "blk.{}.attn_k_b" || name.stem == "blk.{}.attn_v_b")
      added.shape = {added.rows(), added.cols()};
    // A matrix of one row, which the file has as a vector.
    if (name.stem == "blk.{}.ffn_gate_inp_shexp" && added.shape.size() == 1)
      added.shape.insert(added.shape.begin(), 1);
    if (family_.interleaved) interleave(gguf_name, name, added);
  }

  void interleave(const std::string& gguf_name, const TensorName& name, SourceTensor& added) const {
    const bool is_query = name.stem == "blk.{}.attn_q", is_key = name.stem == "blk.{}.attn_k";
    if (!is_query && !is_key) return;
    added.interleaved_heads = static_cast<uint32_t>(is_query ? heads_ : kv_heads_);
    const uint64_t outputs = outputs_of(added);
    if (added.interleaved_heads == 0 || outputs % (uint64_t{2} * added.interleaved_heads) != 0) {
      fail("{}: tensor {} of {} rows does not divide into {} heads", where_, shown(gguf_name), outputs,
           added.interleaved_heads);
    }
  }

  /// Gives the heads of V in gated delta rules Hugging Face's order.
  void order_heads() {
    const uint32_t heads = config_.at("linear_num_value_heads"),
                   key_heads = config_.at("linear_num_key_heads"),
                   width = config_.at("linear_value_head_dim"), key_width = config_.at("linear_key_head_dim");
    if (heads == key_heads) return;
    const DeltaHeads values{0, heads, key_heads, width}, numbers{0, heads, key_heads, 1};
    DeltaHeads behind_keys = values;
    behind_keys.before = 2 * uint64_t{key_heads} * key_width;
    for (auto& [name, tensor] : source_.tensors) {
      if (name.find(".linear_attn.") == std::string::npos) continue;
      const auto is = [&name = name](const char* end) { return name.ends_with(end); };
      if (is("in_proj_qkv.weight") || is("conv1d.weight")) {
        order(name, tensor, behind_keys, false);
      } else if (is("in_proj_z.weight")) {
        order(name, tensor, values, false);
      } else if (is("out_proj.weight")) {
        order(name, tensor, values, true);
      } else if (is(".A") || is("dt_bias")) {
        order(name, tensor, numbers, true);
      } else if (is("in_proj_a.weight") || is("in_proj_b.weight")) {
        order(name, tensor, numbers, false);
      }
    }
  }

  void order(const std::string& name, SourceTensor& tensor, const DeltaHeads& heads, bool columns) const {
    const uint64_t count = columns ? tensor.cols() : tensor.rows();
    if (count != heads.rows() || count > UINT32_MAX)
      fail("{}: tensor {} has {} {}, the metadata implies {}", where_, name, count,
           columns ? "columns" : "rows", heads.rows());
    std::vector<uint32_t> places = tiled_heads(heads), none;
    SourceTensor stored = tensor;
    tensor.reader =
        std::make_shared<OrderedRows>(std::move(stored), columns ? none : places, columns ? places : none);
  }

  Source& source_;
  const nlohmann::json& config_;
  const Family& family_;
  const GgufFile& file_;
  const std::string& where_;
  uint64_t heads_ = 1, kv_heads_ = 1, layers_ = 0;
  bool gated_ = true;  // T5's feed-forwards
  size_t experts_seen_ = 0;
};

}  // namespace

void add_gguf_tensors(Source& source, const Family& family, const GgufFile& file, const std::string& where) {
  GgufTensors(source, family, file, where).add_all();
}

}  // namespace mote::convert
