// SPDX-License-Identifier: Apache-2.0
#include "converter/error.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

std::optional<TokenizerSpec> read_tokenizer(const Source& source) {
  if (source.format == "gguf") {
    const MappedFile& file = *source.files.front();
    return read_gguf_tokenizer(file.bytes(), file.path().string());
  }
  if (source.format != "hf") return std::nullopt;
  std::error_code ignored;
  const std::filesystem::path path = source.directory / "tokenizer.json";
  if (std::filesystem::exists(path, ignored)) {
    const MappedFile file(path);
    return read_tokenizer_json(file.bytes(), path.string());
  }
  const std::filesystem::path pieces = source.directory / "vocab.txt";
  if (std::filesystem::exists(pieces, ignored)) {
    const std::filesystem::path settings = source.directory / "tokenizer_config.json";
    const MappedFile vocabulary(pieces);
    if (!std::filesystem::exists(settings, ignored)) {
      return read_bert_vocabulary(vocabulary.bytes(), {}, pieces.string(), settings.string());
    }
    return read_bert_vocabulary(vocabulary.bytes(), MappedFile(settings).bytes(), pieces.string(),
                                settings.string());
  }
  for (const char* other : {"tokenizer.model", "spiece.model", "vocab.json"}) {
    if (!std::filesystem::exists(source.directory / other, ignored)) continue;
    fail(
        "{} has {} but no tokenizer.json: save it with a fast tokenizer (AutoTokenizer's save_pretrained), "
        "or leave "
        "the text out (mote convert --no-tokenizer)",
        source.directory.string(), other);
  }
  return std::nullopt;
}

}  // namespace mote::convert
