// SPDX-License-Identifier: Apache-2.0
//
// What reading the later files of a directory costs grows at most as they do: pieces without a
// tokenizer.json, settings of generation and of processors.
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "converter/readers/generation_config.h"
#include "converter/readers/processor_config.h"
#include "converter/tokenizers/tables.h"
#include "host/base/base64.h"
#include "tests/support/count_blocks.h"
#include "tests/support/sentence_piece_file.h"
#include "tests/support/tokenizer_directory.h"

namespace {

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;
using test::check_growth;

using Directory = std::unique_ptr<TokenizerDirectory>;

Directory directory_of(const char* model_type) {
  return std::make_unique<TokenizerDirectory>(json{{"model_type", model_type}, {"vocab_size", 100'000}});
}

void read_pieces(const Directory& directory) { TokenizerTables(directory->read(true)); }

/// Texts of one length, whose beginnings are alike.
std::string piece_text(uint64_t number) { return fmt::format("piece{:07}", number); }

std::string base64_of(const std::string& text) { return to_base64(std::as_bytes(std::span(text))); }

/// Makes a source of settings beside a model, whose files are in `folder`.
Source source_in(const TempDirectory& folder) {
  Source source;
  source.format = "hf";
  source.directory = folder.path();
  source.config_path = folder / "config.json";
  source.config = std::make_shared<const json>(json::object());
  return source;
}

}  // namespace

TEST("the work for pieces that are merged grows as their number does") {
  const std::pair<const char*, const char*> classes[] = {{"llama", "LlamaTokenizer"},
                                                         {"gemma", "GemmaTokenizer"}};
  for (const auto& [type, name] : classes) {
    CAPTURE(type);
    check_growth(
        100,
        [&](uint64_t n) {
          test::SentencePieceFile file;
          file.segmentation(2);
          for (const char* sign : {"<pad>", "<bos>", "<eos>", "<mask>"}) file.piece(sign, 0, 3);
          for (int byte = 0; byte < 256; ++byte) file.piece(fmt::format("<0x{:02X}>", byte), 0, 6);
          file.piece("p", -1.0f);
          for (uint64_t i = 0; i < n; ++i)
            file.piece(piece_text(i), -2.0f).piece(piece_text(i).substr(1), -3.0f);
          Directory directory = directory_of(type);
          directory->text("tokenizer.model", file.bytes())
              .file("tokenizer_config.json", {{"tokenizer_class", name}});
          return directory;
        },
        read_pieces);
  }
}

TEST("the work for an encoder's pieces grows as their number does") {
  const std::pair<const char*, const char*> classes[] = {{"albert", "spiece.model"},
                                                         {"xlnet", "spiece.model"},
                                                         {"deberta-v2", "spm.model"},
                                                         {"camembert", "sentencepiece.bpe.model"},
                                                         {"xlm-roberta", "sentencepiece.bpe.model"},
                                                         {"mbart", "sentencepiece.bpe.model"},
                                                         {"siglip", "spiece.model"}};
  for (const auto& [type, file_name] : classes) {
    CAPTURE(type);
    check_growth(
        100,
        [&](uint64_t n) {
          test::SentencePieceFile file;
          for (uint64_t i = 0; i < n; ++i)
            file.piece(piece_text(i), -2.0f - static_cast<float>(i)).piece("<" + piece_text(i) + ">", 0, 3);
          Directory directory = directory_of(type);
          directory->text(file_name, file.bytes());
          return directory;
        },
        read_pieces);
  }
}

TEST("the work for a vocab.json and a merges.txt grows as they do") {
  for (const char* type : {"gpt2", "qwen2", "roberta", "clip", "whisper"}) {
    CAPTURE(type);
    check_growth(
        200,
        [&](uint64_t n) {
          json vocabulary = {{"<s>", 0},
                             {"</s>", 1},
                             {"<pad>", 2},
                             {"<unk>", 3},
                             {"<mask>", 4},
                             {"<|endoftext|>", 5},
                             {"<|startoftext|>", 6},
                             {"<|startoftranscript|>", 7},
                             {"<|notimestamps|>", 8},
                             {"t", 9}};
          std::string merges = "#version: 0.2\n";
          for (uint64_t i = 0; i < n; ++i) {
            vocabulary[piece_text(i)] = 10 + 2 * i;
            vocabulary["t" + piece_text(i)] = 11 + 2 * i;
            merges += "t " + piece_text(i) + "\n";
          }
          Directory directory = directory_of(type);
          directory->file("vocab.json", vocabulary).text("merges.txt", merges);
          return directory;
        },
        read_pieces);
  }
}

TEST("the work for bytes by rank grows as their number and that of the signs behind them do") {
  check_growth(
      200,
      [](uint64_t n) {
        json signs = json::array(), vocabulary = json::array();
        for (uint64_t i = 0; i < n; ++i) {
          signs.push_back({{"rank", i}, {"token_str", "<" + piece_text(i) + ">"}});
          vocabulary.push_back({{"rank", i}, {"token_bytes", base64_of(piece_text(i))}});
        }
        Directory directory = directory_of("mistral");
        directory->file(
            "tekken.json",
            {{"config", {{"pattern", "[a-z]+"}}}, {"special_tokens", signs}, {"vocab", vocabulary}});
        return directory;
      },
      read_pieces);
  check_growth(
      200,
      [](uint64_t n) {
        std::string lines;
        json more = json::array(), declared = json::object();
        for (uint64_t i = 0; i < n; ++i) {
          lines += fmt::format("{} {}\n", base64_of(piece_text(i)), i);
          declared[std::to_string(n + i)] = {{"content", "<" + piece_text(i) + ">"}};
          more.push_back("<|" + piece_text(i) + "|>");
        }
        Directory directory = directory_of("llama");
        directory->text("tiktoken.model", lines)
            .file("tokenizer_config.json",
                  {{"added_tokens_decoder", declared}, {"extra_special_tokens", more}});
        return directory;
      },
      read_pieces);
}

TEST("the work for VITS' vocabulary grows as it does") {
  check_growth(
      100,
      [](uint64_t n) {
        json vocabulary = {{"_", 0}};
        for (uint64_t i = 0; i < n; ++i) {
          std::string letter = fmt::format("{}", static_cast<char>(0xC4 + i / 64 % 16));
          vocabulary[letter + static_cast<char>(0x80 + i % 64)] = 1 + i;
        }
        Directory directory = directory_of("vits");
        directory->file("vocab.json", vocabulary)
            .file("tokenizer_config.json", {{"tokenizer_class", "VitsTokenizer"}, {"phonemize", false}});
        return directory;
      },
      [](const Directory& directory) { directory->read(true); });
}

TEST("the work for settings of generation grows as their lists do, whatever ends a text") {
  struct Case {
    TempDirectory folder;
    Source source;
  };
  const auto with_words = [](uint64_t length) {
    return [length](uint64_t n) {
      auto one = std::make_unique<Case>();
      json words = json::array(), ids = json::array();
      for (uint64_t i = 0; i < n; ++i) words.push_back(json(std::vector<uint64_t>(length, i)));
      for (uint64_t i = 0; i < n; ++i) ids.push_back(i);
      write_text(one->folder / "generation_config.json",
                 json{{"bad_words_ids", words}, {"suppress_tokens", ids}}.dump());
      one->source = source_in(one->folder);
      for (uint64_t i = 0; i < n; ++i) one->source.stop_ids.push_back(static_cast<int32_t>(50'000 + i));
      return one;
    };
  };
  const auto of_decoder = [](const std::unique_ptr<Case>& one) {
    read_generation_defaults(one->source, 100'000, {});
    unread_generation_keys(one->source);
  };
  check_growth(300, with_words(1), of_decoder);
  check_growth(300, with_words(3), of_decoder);
  check_growth(300, with_words(1),
               [](const std::unique_ptr<Case>& one) { read_beam_defaults(one->source, 100'000, {}); });
}

TEST("the work for settings of a processor grows as both of their files do") {
  check_growth(
      300,
      [](uint64_t n) {
        auto folder = std::make_unique<TempDirectory>();
        json keys = json::object();
        for (uint64_t i = 0; i < n; ++i) keys[piece_text(i)] = {1, 2, {{"a", 3}}};
        write_text(*folder / "processor_config.json",
                   json{{"image_processor", keys}, {"feature_extractor", keys}}.dump());
        write_text(*folder / "preprocessor_config.json", keys.dump());
        return folder;
      },
      [](const std::unique_ptr<TempDirectory>& folder) {
        const Source source = source_in(*folder);
        read_picture_settings(source);
        read_sound_settings(source);
      });
}
