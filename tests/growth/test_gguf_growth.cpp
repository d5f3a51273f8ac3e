// SPDX-License-Identifier: Apache-2.0
//
// What reading a GGUF file costs grows at most as the file does.
#include <fmt/format.h>

#include "converter/readers/gguf_file.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/error.h"
#include "tests/support/count_blocks.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"

namespace {

using namespace mote::convert;
using namespace mote::testing;
using test::check_growth;

std::span<const std::byte> gguf_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Names of one length, whose beginnings are alike.
std::string gguf_name(uint64_t number) { return fmt::format("model.layers.{:07}.weight", number); }

}  // namespace

TEST("the work for a GGUF file grows as its keys, their arrays and its tensors do") {
  const auto read = [](const std::string& file) { parse_gguf(gguf_bytes(file), "file"); };
  check_growth(
      500,
      [](uint64_t n) {
        GgufBuilder file;
        for (uint64_t i = 0; i < n; ++i) file.key(gguf_name(i), "text").key("n" + gguf_name(i), uint32_t{1});
        return file.bytes();
      },
      read);
  check_growth(
      500,
      [](uint64_t n) {
        GgufBuilder file;
        for (uint64_t i = 0; i < n; ++i) file.tensor_at(gguf_name(i), {8}, 0, 32 * i);
        return file.bytes() + std::string(32 * n, '\0');
      },
      read);
  check_growth(
      500,
      [](uint64_t n) {
        std::string texts = raw(uint32_t{8}) + raw(n), arrays = raw(uint32_t{9}) + raw(n);
        for (uint64_t i = 0; i < n; ++i) {
          texts += GgufBuilder::string(gguf_name(i));
          arrays += raw(uint32_t{4}) + raw(uint64_t{2}) + raw(uint64_t{0});
        }
        return GgufBuilder().key("texts", 9, texts).key("arrays", 9, arrays).bytes();
      },
      read);
}

TEST("the work for a GGUF's translation grows as its layers, experts and keys do") {
  const auto read = [](const std::string& file) { read_gguf(gguf_bytes(file), "file"); };
  const auto bare = [](const char* family, uint64_t layers) {
    GgufBuilder file;
    const std::string prefix = std::string(family) + ".";
    file.key("general.architecture", family).key(prefix + "block_count", static_cast<uint32_t>(layers));
    for (const char* size : {"embedding_length", "feed_forward_length", "context_length",
                             "attention.head_count", "attention.key_length", "attention.sliding_window"})
      file.key(prefix + size, 8u);
    return file.key(prefix + "attention.layer_norm_rms_epsilon", 1e-6f);
  };
  for (const char* family : {"gemma3", "llama"}) {
    check_growth(
        200,
        [&](uint64_t n) {
          GgufBuilder file = bare(family, n);
          for (uint64_t i = 0; i < n; ++i)
            file.tensor_at(fmt::format("blk.{}.attn_norm.weight", i), {8}, 0, 32 * i)
                .key(std::string(family) + ".unread." + gguf_name(i), 1u);
          return file.bytes() + std::string(32 * n, '\0');
        },
        read);
  }
  check_growth(
      100,
      [&](uint64_t n) {
        GgufBuilder file = bare("llama", 1);
        file.key("llama.expert_count", static_cast<uint32_t>(n)).key("llama.expert_used_count", 1u);
        return file.stack("blk.0.ffn_gate_up_exps.weight", n, 2, 8, std::vector<float>(16 * n)).bytes();
      },
      read);
}

TEST("the work for a GGUF's tokenizer grows as its lists do") {
  for (const char* model : {"gpt2", "llama", "gemma4", "bert", "t5"}) {
    CAPTURE(model);
    check_growth(
        500,
        [&](uint64_t n) {
          std::string tokens, merges, types, scores;
          uint64_t count = 0, pairs = 0;
          const auto add = [&](const std::string& text) {
            tokens += GgufBuilder::string(text);
            types += raw(int32_t{1});
            scores += raw(-static_cast<float>(count));
            ++count;
          };
          add("[UNK]");
          for (const char c : std::string("abcdefghijklmnopqrstuvwxyz0123456789.")) add(std::string(1, c));
          for (uint64_t i = 0; i < n; ++i) {
            add("t" + gguf_name(i));
            add("tt" + gguf_name(i));
            merges += GgufBuilder::string("t t" + gguf_name(i));
            ++pairs;
          }
          GgufBuilder file;
          file.key("tokenizer.ggml.model", model).key("tokenizer.ggml.pre", "gpt-2");
          for (const char* id : {"unknown", "cls", "seperator"})
            file.key(std::string("tokenizer.ggml.") + id + "_token_id", 0u);
          file.key("tokenizer.ggml.scores", 9, raw(uint32_t{6}) + raw(count) + scores);
          file.key("tokenizer.ggml.tokens", 9, raw(uint32_t{8}) + raw(count) + tokens);
          file.key("tokenizer.ggml.token_type", 9, raw(uint32_t{5}) + raw(count) + types);
          file.key("tokenizer.ggml.merges", 9, raw(uint32_t{8}) + raw(pairs) + merges);
          return file.bytes();
        },
        [](const std::string& file) {
          try {
            read_gguf_tokenizer(gguf_bytes(file), "file");
          } catch (const Error& error) {
            FAIL(error.what());
          }
        });
  }
}
