// SPDX-License-Identifier: Apache-2.0
//
// A directory with the files of a tokenizer, most of them without a tokenizer.json: read, compiled to tables,
// the tables opened as the runtime does, and used. The first byte chooses the kind, the second is odd for an
// encoder; then tokenizer_config.json, added_tokens.json, the second file of the kind and its first one.
#include <nlohmann/json.hpp>

#include "converter/readers/readers.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_files.h"
#include "tests/fuzz/piece_kinds.h"
#include "tests/support/text_tokenizer.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::InputFiles input(data, size);
  const fuzz::PieceKind& kind = fuzz::kPieceKinds[input.byte() % std::size(fuzz::kPieceKinds)];
  const bool encoder = input.byte() % 2 != 0;
  for (const fuzz::PieceKind& other : fuzz::kPieceKinds) {
    fuzz::put_file(other.file, "");
    if (other.second != nullptr) fuzz::put_file(other.second, "");
  }
  fuzz::put_file("tokenizer_config.json", input.text());
  fuzz::put_file("added_tokens.json", input.text());
  if (kind.second != nullptr) fuzz::put_file(kind.second, input.text());
  fuzz::put_file(kind.file, input.rest());
  Source source;
  source.format = "hf";
  source.directory = fuzz::directory().path();
  source.config = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"model_type", kind.model_type}, {"vocab_size", 1000}});
  try {
    const auto spec = read_tokenizer(source, encoder);
    if (!spec) return 0;
    // What was compiled here must open: anything else ends the process.
    const test::TextTokenizer tokenizer(*spec, 256);
    std::vector<int32_t> ids;
    std::vector<mote_span> spans;
    mote_error error{};
    tokenizer.try_encode("hello  the\t12 stop.\n\xE2\x82 <s>\xC3\xA9", MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL,
                         &ids, &spans, &error);
    tokenizer.decode(ids, 0);
    unread_tokenizer_keys(source, true);
  } catch (const Error&) {
  }
  return 0;
}
