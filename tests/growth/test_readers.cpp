// SPDX-License-Identifier: Apache-2.0
//
// What reading a file costs grows at most as the file does.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "converter/readers/ctranslate2.h"
#include "converter/readers/generation_config.h"
#include "converter/readers/gguf_file.h"
#include "converter/readers/packed_checkpoint.h"
#include "converter/readers/pickle.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "converter/tokenizers/side_files.h"
#include "converter/tokenizers/tables.h"
#include "host/base/json_text.h"
#include "host/chat/conversation.h"
#include "tests/support/checkpoint.h"
#include "tests/support/count_blocks.h"
#include "tests/support/ct2_builder.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/sentence_piece_file.h"
#include "tests/support/tokenizer_directory.h"

namespace {

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;
using test::check_growth;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Names of one length, whose beginnings are alike.
std::string name_of(uint64_t number) { return fmt::format("model.layers.{:07}.weight", number); }

}  // namespace

// ---- Checkpoints ----

TEST("the work for a safetensors file grows as its header does") {
  const auto read = [](const std::string& file) { parse_safetensors(bytes_of(file), "file"); };
  const auto file_of = [](const json& header) {
    const std::string text = header.dump();
    return test::little(text.size(), 8) + text + std::string(8, '\0');
  };
  check_growth(
      500,
      [&](uint64_t n) {
        json header = json::object();
        for (uint64_t i = 0; i < n; ++i)
          header[name_of(i)] = {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {8 * i, 8 * i + 8}}};
        return file_of(header) + std::string(8 * n, '\0');
      },
      read);
  check_growth(
      500,
      [&](uint64_t n) {  // one tensor of many dimensions, and texts about it
        json header = {
            {"a", {{"dtype", "F32"}, {"shape", std::vector<int>(n, 1)}, {"data_offsets", {0, 4}}}}};
        for (uint64_t i = 0; i < n; ++i) header["__metadata__"][name_of(i)] = "text";
        return file_of(header);
      },
      read);
  check_growth(
      500,
      [&](uint64_t n) {
        return file_of(
            {{std::string(n * 100, 'a'), {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {0, 8}}}}});
      },
      read);
}

TEST("tensors that share their bytes, of which more would be made than the file has, are refused") {
  json header = json::object();
  GgufBuilder gguf;
  for (const char* name : {"a", "b", "c"}) {
    header[name] = {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {0, 8}}};
    gguf.tensor_at(name, {8}, 0, 0);
  }
  const std::string text = header.dump();
  const std::string safe = test::little(text.size(), 8) + text + std::string(8, '\0');
  REQUIRE(contains(message_of<Error>([&] { parse_safetensors(bytes_of(safe), "file"); }), "some overlap"));
  const std::string file = gguf.bytes() + std::string(32, '\0');
  REQUIRE(contains(message_of<Error>([&] { parse_gguf(bytes_of(file), "file"); }), "some overlap"));
}

TEST("the work for a checkpoint of PyTorch grows as its entries do") {
  check_growth(
      200,
      [](uint64_t n) {
        std::vector<std::pair<std::string, std::string>> tensors;
        std::vector<test::ZipEntry> entries;
        for (uint64_t i = 0; i < n; ++i) {
          const std::string key = fmt::format("{:05}", i);
          tensors.emplace_back(name_of(i), test::pickled_tensor("FloatStorage", key, 0, {1}, {1}));
          entries.push_back({"m/data/" + key, std::string(24, '\0')});
        }
        entries.push_back({"m/data.pkl", test::pickled_dict(tensors)});
        return test::zip(entries);
      },
      [](const std::string& file) { parse_pytorch(bytes_of(file), "file"); });
}

TEST("the work for a checkpoint of before PyTorch 1.6 grows as its storages do") {
  check_growth(
      200,
      [](uint64_t n) {
        std::vector<std::pair<std::string, std::string>> tensors;
        std::string names, numbers;
        for (uint64_t i = 0; i < n; ++i) {
          const std::string key = fmt::format("{:05}", i);
          tensors.emplace_back(name_of(i), test::pickled_tensor("FloatStorage", key, 0, {1}, {1}));
          names += test::pickled(key);
          numbers += test::little(6, 8) + std::string(24, '\0');
        }
        const std::string whole = test::checkpoint_stream(test::pickled_dict({}));
        const std::string start = whole.substr(0, whole.find("\x80\x02}(u."));
        return start + test::pickled_dict(tensors) + "\x80\x02](" + names + "e." + numbers;
      },
      [](const std::string& file) { parse_pytorch(bytes_of(file), "file"); });
}

TEST("the work for a CTranslate2 file and its names grows as its variables do") {
  check_growth(
      200,
      [](uint64_t n) {
        Ct2Builder builder;
        for (uint64_t i = 0; i < n; ++i) builder.floats(name_of(i), {4}).alias("a" + name_of(i), name_of(i));
        return builder.bytes();
      },
      [](const std::string& file) { parse_ctranslate2(bytes_of(file), "file"); });
}

TEST("the work for the weights and the configuration of a directory grows as its files do") {
  const auto read = [](const std::unique_ptr<TempDirectory>& directory) {
    read_hf_directory(directory->path());
  };
  check_growth(
      200,
      [](uint64_t n) {  // tensors in shards, which an index lists
        auto directory = std::make_unique<TempDirectory>();
        json index = json::object(),
             config = {{"model_type", "llama"}, {"eos_token_id", std::vector<int>(n, 1)}};
        for (uint64_t i = 0; i < n; ++i) config["id2label"][std::to_string(i)] = name_of(i);
        for (uint64_t shard = 0; shard < n / 100; ++shard) {
          const std::string file = fmt::format("model-{:05}.safetensors", shard);
          NamedTensors tensors;
          static const float kNumbers[2] = {1, 2};
          for (uint64_t i = shard * 100; i < shard * 100 + 100; ++i) {
            tensors[name_of(i)] = f32_tensor({2}, kNumbers);
            index["weight_map"][name_of(i)] = file;
          }
          write_safetensors(*directory / file, tensors);
        }
        write_text(*directory / "model.safetensors.index.json", index.dump());
        write_text(*directory / "config.json", config.dump());
        return directory;
      },
      read);
}

TEST("the work for JSON grows as its keys, its depth and its numbers do") {
  const auto read = [](const std::string& text) { parse_json_object(bytes_of(text), "file", 32); };
  const auto filled = [](const std::string& part) {
    return [part](uint64_t n) {
      std::string text = "{\"a\": [0";
      for (uint64_t i = 0; i < n; ++i) text += ", " + part;
      return text + "]}";
    };
  };
  for (const char* part : {"1", "NaN", "\"text\"", "{\"a\": 1, \"b\": [2]}", "[[[[[]]]]]"})
    check_growth(1000, filled(part), read);
  check_growth(
      1000,
      [](uint64_t n) {
        std::string text = "{\"0\": 0";
        for (uint64_t i = 0; i < n; ++i) text += ", \"" + name_of(i) + "\": -Infinity";
        return text + "}";
      },
      read);
}

TEST("the work for a conversation grows as its messages and its keys do, which keep their order") {
  check_growth(
      300,
      [](uint64_t n) {
        std::string text = R"({"messages": [{"role": "user", "content": "a"})";
        for (uint64_t i = 0; i < n; ++i)
          text += R"(, {"role": "user", "content": [{"type": "text"}, [1, 2]]})";
        return text + "]}";
      },
      [](const std::string& text) { parse_ordered_json(text, "file"); });
  check_growth(
      300,
      [](uint64_t n) {
        std::string text = "{\"0\": 0";
        for (uint64_t i = 0; i < n; ++i) text += ", \"" + std::to_string(i + 1) + "\": 0";
        return text + "}";
      },
      [](const std::string& text) { parse_ordered_json(text, "file"); });
  const auto kept = parse_ordered_json(R"({"b": 1, "a": {"c": 2}, "b": [3], "d": {}})", "file");
  REQUIRE(kept.dump() == R"({"b":[3],"a":{"c":2},"d":{}})");
}

// ---- Tokenizers ----

namespace {

/// Reads a tokenizer.json and makes tables of it.
void read_and_compile(const std::string& text) {
  TokenizerTables(read_tokenizer_json(bytes_of(text), "tokenizer.json"));
}

json bpe_root() {
  const json vocabulary = {{"<unk>", 0}, {"a", 1}, {"b", 2}, {"ab", 3}};
  return {{"decoder", {{"type", "ByteFallback"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"a b"}}}}};
}

void read_directory(const std::unique_ptr<TokenizerDirectory>& directory) {
  TokenizerTables(directory->read(true));
}

}  // namespace

TEST("the work for a tokenizer.json grows as its vocabulary, its merges and its added tokens do") {
  check_growth(
      500,
      [](uint64_t n) {
        json root = bpe_root();
        for (uint64_t i = 0; i < n; ++i) root["model"]["vocab"][name_of(i)] = 4 + i;
        return root.dump();
      },
      read_and_compile);
  check_growth(
      300,
      [](uint64_t n) {  // each merge's right is a token of its own
        json root = bpe_root();
        json& model = root["model"];
        for (uint64_t i = 0; i < n; ++i) {
          const std::string right = name_of(i);
          model["vocab"][right] = 4 + 2 * i;
          model["vocab"]["a" + right] = 5 + 2 * i;
          model["merges"].push_back("a " + right);
        }
        return root.dump();
      },
      read_and_compile);
  check_growth(
      300,
      [](uint64_t n) {
        json root = bpe_root();
        for (uint64_t i = 0; i < n; ++i)
          root["added_tokens"].push_back(
              {{"id", 4 + i}, {"content", name_of(i)}, {"special", i % 2 == 0}, {"normalized", i % 3 == 0}});
        return root.dump();
      },
      read_and_compile);
  check_growth(
      300,
      [](uint64_t n) {
        json root = bpe_root();
        json single = json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}), ids = json::array();
        json tokens = json::array();
        for (uint64_t i = 0; i < n; ++i) single.push_back({{"SpecialToken", {{"id", "a"}, {"type_id", 0}}}});
        root["post_processor"] = {
            {"type", "TemplateProcessing"},
            {"single", single},
            {"pair", single},
            {"special_tokens", {{"a", {{"id", "a"}, {"ids", {1}}, {"tokens", {"a"}}}}}}};
        root["post_processor"]["pair"].push_back({{"Sequence", {{"id", "B"}, {"type_id", 0}}}});
        return root.dump();
      },
      read_and_compile);
}

TEST("the work for pieces of WordPiece and Unigram grows as their number does") {
  check_growth(
      100,
      [](uint64_t n) {
        json vocabulary = json::array({{"<unk>", 0.0}});
        for (uint64_t i = 0; i < n; ++i) vocabulary.push_back({name_of(i), -1.0 - double(i)});
        return json{{"decoder", {{"type", "ByteFallback"}}},
                    {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}}}}
            .dump();
      },
      read_and_compile);
  check_growth(
      100,
      [](uint64_t n) {
        std::string text = "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n";
        for (uint64_t i = 0; i < n; ++i) text += name_of(i) + "\n";
        return text;
      },
      [](const std::string& text) {
        read_bert_vocabulary(bytes_of(text), {}, "vocab.txt", "tokenizer_config.json");
      });
}

TEST("the work for the files beside a tokenizer.json grows as they do") {
  check_growth(
      300,
      [](uint64_t n) {
        auto directory =
            std::make_unique<TokenizerDirectory>(json{{"model_type", "llama"}, {"vocab_size", 100'000}});
        json config = json::object(), added = json::object();
        for (uint64_t i = 0; i < n; ++i) {
          config["added_tokens_decoder"][std::to_string(4 + i)] = {{"content", name_of(i)},
                                                                   {"special", true}};
          config["additional_special_tokens"].push_back(name_of(i));
          added[name_of(i)] = 4 + i;
        }
        directory->file("tokenizer.json", bpe_root());
        directory->file("tokenizer_config.json", config).file("added_tokens.json", added);
        return directory;
      },
      read_directory);
}

TEST("the work for a SentencePiece model grows as its pieces of each kind and its map do") {
  for (const uint64_t kind : {1, 3, 5}) {
    check_growth(
        100,
        [&](uint64_t n) {
          test::SentencePieceFile file({"<pad>", "</s>", "<unk>"});
          file.piece("\xE2\x96\x81", -2.0f).piece("a", -1.0f);
          for (uint64_t i = 0; i < n; ++i) file.piece(name_of(i), -2.0f - static_cast<float>(i), kind);
          auto directory =
              std::make_unique<TokenizerDirectory>(json{{"model_type", "t5"}, {"vocab_size", 100'000}});
          directory->text("spiece.model", file.bytes()).file("tokenizer_config.json", json::object());
          return directory;
        },
        read_directory);
  }
  check_growth(
      100,
      [](uint64_t n) {  // a vocabulary of its own numbers the pieces
        test::SentencePieceFile file;
        json vocabulary = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {"<pad>", 3}};
        for (uint64_t i = 0; i < n; ++i) {
          file.piece(name_of(2 * i), -2.0f - static_cast<float>(i));
          vocabulary[name_of(2 * i)] = 4 + 2 * i;
          vocabulary[name_of(2 * i + 1)] = 5 + 2 * i;  // no piece
        }
        auto directory =
            std::make_unique<TokenizerDirectory>(json{{"model_type", "marian"}, {"vocab_size", 100'000}});
        directory->text("source.spm", file.bytes())
            .text("target.spm", file.bytes())
            .file("vocab.json", vocabulary);
        directory->file("tokenizer_config.json", {{"tokenizer_class", "MarianTokenizer"}});
        return directory;
      },
      read_directory);
}
