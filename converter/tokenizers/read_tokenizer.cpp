// SPDX-License-Identifier: Apache-2.0
#include "converter/error.h"
#include "converter/readers/json_text.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/side_files.h"
#include "converter/tokenizers/tokenizer_json.h"

namespace mote::convert {
namespace {

/// A vocab.txt is BERT's, unless a class says otherwise: others have lines of words too, but cut text their
/// own way.
void check_class(const SideFiles& side, const std::filesystem::path& pieces) {
  const std::string& name = side.tokenizer_class();
  if (name.empty() || name == "BertTokenizer") return;
  fail(
      "{} is of tokenizer_class {}, read without a tokenizer.json is BertTokenizer only: save it with a fast "
      "tokenizer, or leave the text out (mote convert --no-tokenizer)",
      pieces.string(), name);
}

}  // namespace

std::optional<TokenizerSpec> read_tokenizer(const Source& source, bool encoder) {
  if (source.format == "gguf") {
    const MappedFile& file = *source.files.front();
    return read_gguf_tokenizer(file.bytes(), file.path().string());
  }
  if (source.format != "hf" && source.format != "ctranslate2") return std::nullopt;
  std::error_code ignored;
  const std::filesystem::path path = source.directory / "tokenizer.json";
  const DecoderNeed need = encoder ? DecoderNeed::optional : DecoderNeed::required;
  if (std::filesystem::exists(path, ignored)) {
    nlohmann::json root = read_json_object(path, kTokenizerJsonDepth);
    SideFiles(source).apply(root, path.string());
    return read_tokenizer_json(root, path.string(), need);
  }
  const std::filesystem::path pieces = source.directory / "vocab.txt";
  if (std::filesystem::exists(pieces, ignored)) {
    const SideFiles side(source);
    check_class(side, pieces);
    const MappedFile vocabulary(pieces);
    nlohmann::json root =
        bert_json(lines_of(vocabulary.bytes()), side.config(), pieces.string(), side.config_path());
    side.apply(root, pieces.string());
    return read_tokenizer_json(root, pieces.string(), need);
  }
  const std::filesystem::path letters = source.directory / "vocab.json";
  if (std::filesystem::exists(letters, ignored)) {
    const SideFiles side(source);
    if (side.tokenizer_class() == "VitsTokenizer") return read_vits_vocabulary(side, letters);
  }
  for (const char* other :
       {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "source.spm", "vocab.json"}) {
    if (!std::filesystem::exists(source.directory / other, ignored)) continue;
    const SideFiles side(source);
    if (auto numbered = read_numbered_pieces(source, side, need)) return numbered;
    if (auto converted = read_converted_pieces(source, side, need)) return converted;
    fail(
        "{} has {} but no tokenizer.json: save it with a fast tokenizer (AutoTokenizer's save_pretrained), "
        "or leave "
        "the text out (mote convert --no-tokenizer)",
        source.directory.string(), other);
  }
  return std::nullopt;
}

}  // namespace mote::convert
