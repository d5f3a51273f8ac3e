// SPDX-License-Identifier: Apache-2.0
//
// llama2.c's checkpoints in f32: the first format, which has no magic (seven int32, then the weights), and
// version 1 (a header of 256 bytes that starts with "ak42" as a number). The rows of wq and wk are in the
// order of interleaved RoPE.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMagic = 0x616b3432;  // "ak42"
constexpr uint64_t kFirstHeaderBytes = 28, kVersionedHeaderBytes = 256;

/// In the order of the file. A negative vocabulary in the first format says that the head is not tied.
struct Shape {
  int32_t dim, hidden, layers, heads, kv_heads, vocab, context;
};

bool plausible(const Shape& s) {
  constexpr int32_t kMaxDim = 1 << 20, kMaxLayers = 1024, kMaxVocab = 1 << 24;
  const auto in = [](int32_t value, int32_t most) { return value >= 1 && value <= most; };
  return in(s.dim, kMaxDim) && in(s.hidden, kMaxDim) && in(s.layers, kMaxLayers) && in(s.heads, s.dim) &&
         in(s.kv_heads, s.heads) && in(s.vocab, kMaxVocab) && in(s.context, 1 << 24) &&
         s.dim % s.heads == 0 && s.dim / s.heads % 2 == 0 && s.heads % s.kv_heads == 0;
}

bool has_magic(std::span<const std::byte> file) {
  return file.size() >= 4 && load<uint32_t>(file.data()) == kMagic;
}

/// Hands out consecutive tensors. Counts on past the end of the file, so that the size needed can be said.
class Walker {
 public:
  Walker(Source& source, std::span<const std::byte> file, uint64_t offset)
      : source_(source), file_(file), offset_(offset) {}

  void tensor(const std::string& name, std::vector<uint64_t> shape, uint32_t interleaved_heads = 0) {
    const uint64_t bytes = std::accumulate(shape.begin(), shape.end(), uint64_t{4}, std::multiplies<>());
    if (offset_ + bytes <= file_.size()) {
      source_.tensors[name] = {SourceType::f32, std::move(shape), file_.data() + offset_, bytes,
                               interleaved_heads};
    }
    offset_ += bytes;
  }
  void skip(uint64_t floats) { offset_ += 4 * floats; }
  uint64_t offset() const { return offset_; }

 private:
  Source& source_;
  std::span<const std::byte> file_;
  uint64_t offset_;
};

struct LayerTensor {
  const char* name;
  uint64_t rows, cols;  // rows 0: a vector
  uint32_t interleaved_heads;
};

void each_layer(Walker& walker, const Shape& shape, const LayerTensor& tensor) {
  for (int32_t layer = 0; layer < shape.layers; ++layer) {
    const auto name = fmt::format("model.layers.{}.{}.weight", layer, tensor.name);
    if (tensor.rows == 0) {
      walker.tensor(name, {tensor.cols});
    } else {
      walker.tensor(name, {tensor.rows, tensor.cols}, tensor.interleaved_heads);
    }
  }
}

/// The bytes that the file must have; its tensors are added to `source`.
uint64_t walk(Source& source, std::span<const std::byte> file, const Shape& s, bool tied, bool versioned) {
  const auto dim = static_cast<uint64_t>(s.dim), hidden = static_cast<uint64_t>(s.hidden);
  const auto vocab = static_cast<uint64_t>(s.vocab), context = static_cast<uint64_t>(s.context);
  const auto heads = static_cast<uint32_t>(s.heads), kv_heads = static_cast<uint32_t>(s.kv_heads);
  const uint64_t head_dim = dim / heads, kv_dim = head_dim * kv_heads;
  const LayerTensor attention_norm{"input_layernorm", 0, dim, 0},
      ffn_norm{"post_attention_layernorm", 0, dim, 0};
  const LayerTensor attention[] = {{"self_attn.q_proj", dim, dim, heads},
                                   {"self_attn.k_proj", kv_dim, dim, kv_heads},
                                   {"self_attn.v_proj", kv_dim, dim, 0},
                                   {"self_attn.o_proj", dim, dim, 0}};
  const LayerTensor ffn[] = {
      {"mlp.gate_proj", hidden, dim, 0}, {"mlp.down_proj", dim, hidden, 0}, {"mlp.up_proj", hidden, dim, 0}};

  Walker walker(source, file, versioned ? kVersionedHeaderBytes : kFirstHeaderBytes);
  if (versioned) {
    each_layer(walker, s, attention_norm);
    each_layer(walker, s, ffn_norm);
    walker.tensor("model.norm.weight", {dim});
    walker.tensor("model.embed_tokens.weight", {vocab, dim});
    for (const auto& tensor : attention) each_layer(walker, s, tensor);
    for (const auto& tensor : ffn) each_layer(walker, s, tensor);
  } else {
    walker.tensor("model.embed_tokens.weight", {vocab, dim});
    each_layer(walker, s, attention_norm);
    for (const auto& tensor : attention) each_layer(walker, s, tensor);
    each_layer(walker, s, ffn_norm);
    for (const auto& tensor : ffn) each_layer(walker, s, tensor);
    walker.tensor("model.norm.weight", {dim});
    walker.skip(context * head_dim);  // cosines and sines of RoPE
  }
  if (!tied) walker.tensor("lm_head.weight", {vocab, dim});
  return walker.offset();
}

nlohmann::json make_config(const Shape& s, bool tied) {
  return {{"model_type", "llama"},
          {"architectures", {"LlamaForCausalLM"}},
          {"hidden_size", s.dim},
          {"intermediate_size", s.hidden},
          {"num_hidden_layers", s.layers},
          {"num_attention_heads", s.heads},
          {"num_key_value_heads", s.kv_heads},
          {"head_dim", s.dim / s.heads},
          {"vocab_size", s.vocab},
          {"max_position_embeddings", s.context},
          {"hidden_act", "silu"},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000.0},
          {"bos_token_id", 1},
          {"eos_token_id", 2},
          {"tie_word_embeddings", tied}};
}

}  // namespace

bool is_llama2c(std::span<const std::byte> file) {
  if (has_magic(file)) return true;
  if (file.size() < kFirstHeaderBytes) return false;
  auto shape = load<Shape>(file.data());
  if (shape.vocab < 0 && shape.vocab != INT32_MIN) shape.vocab = -shape.vocab;
  return plausible(shape);
}

Source read_llama2c(std::span<const std::byte> file, const std::filesystem::path& path) {
  const std::string where = path.string();
  const bool versioned = has_magic(file);
  if (file.size() < (versioned ? kVersionedHeaderBytes : kFirstHeaderBytes))
    fail("{}: the header is cut", where);
  auto shape = load<Shape>(file.data() + (versioned ? 8 : 0));
  bool tied;
  if (versioned) {
    const auto version = load<int32_t>(file.data() + 4);
    if (version != 1) {
      fail("{}: llama2.c format version {}{} is not read: export version 0 or 1 (f32)", where, version,
           version == 2 ? " (q80)" : "");
    }
    tied = file[8 + sizeof(Shape)] != std::byte{0};
  } else {
    tied = shape.vocab > 0;
    if (!tied && shape.vocab != INT32_MIN) shape.vocab = -shape.vocab;
  }
  if (!plausible(shape)) fail("{}: the llama2.c header has impossible sizes: is the file damaged?", where);

  Source source;
  source.format = "llama2c";
  source.name = path.stem().string();
  source.config = std::make_shared<const nlohmann::json>(make_config(shape, tied));
  source.stop_ids = {1, 2};  // llama2.c ends a story at the BOS of the next
  const uint64_t needed = walk(source, file, shape, tied, versioned);
  if (needed != file.size()) {
    fail("{}: a llama2.c model of these sizes has {} bytes, the file has {}: it is cut or something else",
         where, needed, file.size());
  }
  return source;
}

}  // namespace mote::convert
