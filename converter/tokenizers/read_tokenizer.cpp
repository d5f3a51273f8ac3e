// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/readers/piper_voice.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/piece_files.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/side_files.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/error.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;

constexpr const char *kJsonFile = "tokenizer.json", *kBertFile = "vocab.txt", *kNumbersFile = "vocab.json";
/// The first that a directory has says how it is read.
constexpr const char* kTokenizerFiles[] = {
    kJsonFile,    kBertFile,     "tokenizer.model",         "spiece.model",   "spm.model",
    "source.spm", "tekken.json", "sentencepiece.bpe.model", "tiktoken.model", kNumbersFile,
};

/// The most bytes of a GGUF file's text; most bytes of such a file are weights.
constexpr uint64_t kMostGgufText = uint64_t{1} << 26;

/// Returns the bytes of the files in a directory that tokenizers are read from.
uint64_t bytes_of(const fs::path& directory) {
  uint64_t bytes = 0;
  std::error_code none;
  for (const char* side : {"tokenizer_config.json", "added_tokens.json", "special_tokens_map.json"}) {
    const uint64_t size = fs::file_size(directory / side, none);
    if (!none) bytes += size;
  }
  for (const char* name : kTokenizerFiles) {
    const uint64_t size = fs::file_size(directory / name, none);
    if (!none) bytes += size;
  }
  for (const fs::path& more : {directory / "merges.txt", find_ranked_lines(directory)}) {
    const uint64_t size = more.empty() ? 0 : fs::file_size(more, none);
    if (!none) bytes += size;
  }
  return bytes;
}

/// A vocab.txt is BERT's, unless a class says otherwise: others have lines of words too, but cut text their
/// own way.
void check_class(const SideFiles& side, const fs::path& pieces) {
  const std::string& name = side.tokenizer_class();
  if (name.empty() || name == "BertTokenizer") return;
  fail(
      "{} is of tokenizer_class {}, read without a tokenizer.json is BertTokenizer only: save it with a fast "
      "tokenizer, or leave the text out (mote convert --no-tokenizer)",
      pieces.string(), name);
}

std::optional<TokenizerSpec> read_directory(const Source& source, bool encoder) {
  const auto is_there = [&](const std::string& name) {
    std::error_code ignored;
    return fs::exists(source.text_files() / name, ignored);
  };
  const auto* found = std::find_if(std::begin(kTokenizerFiles), std::end(kTokenizerFiles), is_there);
  const fs::path ranked = find_ranked_lines(source.text_files());
  if (found == std::end(kTokenizerFiles) && ranked.empty()) return std::nullopt;
  const std::string first = found == std::end(kTokenizerFiles) ? ranked.filename().string() : *found;
  const fs::path path = source.text_files() / first;
  const WorkBudget budget(path.string(), bytes_of(source.text_files()));
  const SideFiles side(source);
  const auto cut = [&](TokenizerSpec spec) {
    spec.cut_left = side.cuts_left(nlohmann::json::object());
    return spec;
  };
  const DecoderNeed need = encoder ? DecoderNeed::optional : DecoderNeed::required;
  if (first == kJsonFile) {
    nlohmann::json root = read_json_object(path, kTokenizerJsonDepth);
    side.apply(root, path.string());
    TokenizerSpec spec = read_tokenizer_json(root, path.string(), need);
    spec.cut_left = side.cuts_left(root);
    return spec;
  }
  if (first == kBertFile) {
    check_class(side, path);
    const MappedFile vocabulary(path);
    nlohmann::json root =
        bert_json(lines_of(vocabulary.bytes()), side.config(), path.string(), side.config_path());
    side.apply(root, path.string());
    return cut(read_tokenizer_json(root, path.string(), need));
  }
  if (is_there(kNumbersFile) && side.tokenizer_class() == "VitsTokenizer")
    return read_vits_vocabulary(side, source.text_files() / kNumbersFile);
  if (auto numbered = read_numbered_pieces(source, side, need)) return cut(std::move(*numbered));
  if (auto converted = read_converted_pieces(source, side, need)) return cut(std::move(*converted));
  if (auto pieces = read_encoder_pieces(source, side, need)) return cut(std::move(*pieces));
  if (auto siglip = read_siglip_pieces(source, side, need)) return cut(std::move(*siglip));
  if (auto bytes = read_ranked_bytes(source, side, need)) return cut(std::move(*bytes));
  if (auto merged = read_merged_pieces(source, side, need)) return cut(std::move(*merged));
  if (auto listed = read_listed_merges(source, side, need)) return cut(std::move(*listed));
  const std::string& name = side.tokenizer_class();
  fail(
      "{} has {} but no tokenizer.json, and is {}: save it with a fast tokenizer (AutoTokenizer's "
      "save_pretrained), or leave the text out (mote convert --no-tokenizer)",
      source.text_files().string(), first,
      name.empty() ? "of no tokenizer_class" : "not read for tokenizer_class " + name);
}

}  // namespace

std::optional<TokenizerSpec> read_tokenizer(const Source& source, bool encoder) {
  if (source.format == "gguf") {
    const MappedFile& file = *source.files.front();
    const WorkBudget budget(file.path().string(), std::min<uint64_t>(file.bytes().size(), kMostGgufText));
    return read_gguf_tokenizer(file.bytes(), file.path().string());
  }
  if (source.format == "piper") return read_piper_phonemes(source);
  if (source.format != "hf" && source.format != "ctranslate2") return std::nullopt;
  return read_directory(source, encoder);
}

}  // namespace mote::convert
