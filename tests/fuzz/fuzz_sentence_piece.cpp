// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a SentencePiece model: read, compiled to tables, the tables opened as the runtime does, and
// used.
#include "converter/tokenizers/sentence_piece.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/text_tokenizer.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const SentencePieceModel model =
        read_sentence_piece({reinterpret_cast<const std::byte*>(data), size}, "input");
    TokenizerSpec spec;
    std::map<std::string, uint32_t> ids;
    for (size_t i = 0; i < model.pieces.size(); ++i) {  // each other piece is no token
      spec.tokens.push_back({model.pieces[i].text, 0});
      if (i % 2 == 0) ids[model.pieces[i].text] = static_cast<uint32_t>(i);
    }
    spec.unknown_id = 0;
    put_sentence_piece(model, ids, spec);
    if (spec.pieces.empty()) return 0;
    // What was compiled here must open: anything else ends the process.
    const test::TextTokenizer tokenizer(spec, 256);
    std::vector<int32_t> found;
    std::vector<mote_span> spans;
    mote_error error{};
    tokenizer.try_encode(" hello  the\t12 stop.\n\xE2\x82 <s>\xC3\xA9 ", MOTE_ADD_SPECIAL, &found, &spans,
                         &error);
    tokenizer.decode(found, 0);
  } catch (const Error&) {
  }
  return 0;
}
