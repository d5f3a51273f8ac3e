// SPDX-License-Identifier: Apache-2.0
//
// Writes small CTranslate2 files, right or wrong, of any version, into memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/gguf_builder.h"

namespace mote::testing {

class Ct2Builder {
 public:
  uint32_t version = 6, revision = 7;
  std::string spec = "TransformerSpec";

  static std::string text(const std::string& text) {
    return raw(static_cast<uint16_t>(text.size() + 1)) + text + '\0';
  }

  /// `type` as the file's codes have it: 0 f32, 1 int8, 2 int16, 3 int32, 4 f16.
  Ct2Builder& variable(const std::string& name, const std::vector<uint32_t>& shape, uint8_t type,
                       const std::string& data) {
    constexpr uint8_t kWidths[] = {4, 1, 2, 4, 2};
    variables_ += text(name) + raw(static_cast<uint8_t>(shape.size()));
    for (const uint32_t dim : shape) variables_ += raw(dim);
    const uint8_t width = kWidths[type];
    const auto bytes = static_cast<uint32_t>(data.size());
    variables_ += version >= 4 ? raw(type) + raw(bytes) : raw(width) + raw(bytes / width);
    variables_ += data;
    ++count_;
    return *this;
  }
  Ct2Builder& floats(const std::string& name, const std::vector<uint32_t>& shape, float first = 1) {
    uint32_t count = 1;
    for (const uint32_t dim : shape) count *= dim;
    std::string data;
    for (uint32_t i = 0; i < count; ++i) data += raw(first + static_cast<float>(i));
    return variable(name, shape, 0, data);
  }
  Ct2Builder& number(const std::string& name, int8_t value) { return variable(name, {}, 1, raw(value)); }
  Ct2Builder& alias(const std::string& name, const std::string& other) {
    aliases_ += text(name) + text(other);
    ++alias_count_;
    return *this;
  }
  std::string bytes() const {
    std::string file = raw(version) + text(spec) + raw(revision) + raw(count_) + variables_;
    if (version >= 3) file += raw(alias_count_) + aliases_;
    return file;
  }

 private:
  std::string variables_, aliases_;
  uint32_t count_ = 0, alias_count_ = 0;
};

constexpr uint32_t kCt2Width = 4, kCt2Heads = 2, kCt2Ffn = 6, kCt2Vocab = 5;

/// A layer of each side, of a width of 4; `builder` says the version.
inline void add_ct2_layer(Ct2Builder& builder, const std::string& side) {
  const uint32_t d = kCt2Width;
  const std::string layer = side + "/layer_0/";
  const auto linear = [&](const std::string& name, uint32_t rows, uint32_t cols) {
    builder.floats(layer + name + "/weight", {rows, cols}).floats(layer + name + "/bias", {rows});
  };
  const auto norm = [&](const std::string& name) {
    builder.floats(layer + name + "/gamma", {d}).floats(layer + name + "/beta", {d});
  };
  linear("self_attention/linear_0", 3 * d, d);
  linear("self_attention/linear_1", d, d);
  norm("self_attention/layer_norm");
  if (side == "decoder") {
    linear("attention/linear_0", d, d);
    linear("attention/linear_1", 2 * d, d);
    linear("attention/linear_2", d, d);
    norm("attention/layer_norm");
  }
  linear("ffn/linear_0", kCt2Ffn, d);
  linear("ffn/linear_1", d, kCt2Ffn);
  norm("ffn/layer_norm");
}

/// Marian's layers: norms behind the branches, none after the embedding or at the end, a start from zeros.
inline Ct2Builder small_ct2_marian(uint32_t version) {
  Ct2Builder builder;
  builder.version = version;
  for (const std::string side : {"encoder", "decoder"}) {
    add_ct2_layer(builder, side);
    builder.number(side + "/num_heads", kCt2Heads)
        .number(side + "/pre_norm", 0)
        .number(side + "/activation", 2);
    builder.number(side + "/scale_embeddings", 1)
        .floats(side + "/position_encodings/encodings", {8, kCt2Width});
  }
  builder.floats("decoder/embeddings/weight", {kCt2Vocab, kCt2Width})
      .number("decoder/start_from_zero_embedding", 1);
  if (version >= 3) {
    builder.alias("encoder/embeddings_0/weight", "decoder/embeddings/weight");
    builder.alias("decoder/projection/weight", "decoder/embeddings/weight");
  } else {
    builder.floats("encoder/embeddings_0/weight", {kCt2Vocab, kCt2Width});
    builder.floats("decoder/projection/weight", {kCt2Vocab, kCt2Width});
  }
  return builder;
}

}  // namespace mote::testing
