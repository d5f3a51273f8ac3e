// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer compiled and opened without a model around it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "converter/tokenizers/tables.h"
#include "runtime/text/decode.h"
#include "runtime/text/encode.h"
#include "runtime/text/utf8.h"
#include "tests/support/aligned_bytes.h"

namespace test {

struct TokenizedPair {
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;
  std::vector<mote_token_kind> kinds;
};

class TextTokenizer {
 public:
  explicit TextTokenizer(const mote::convert::TokenizerSpec& spec, uint32_t text_bytes = 1 << 16,
                         bool class_ranges = false) {
    const mote::convert::TokenizerTables tables(spec, class_ranges);
    segment_ = AlignedBytes(tables.bytes().size());
    std::memcpy(segment_.data(), tables.bytes().data(), tables.bytes().size());
    builder_.Finish(tables.write(builder_, 0));
    mote_error error{};
    if (open(&error, true) != MOTE_OK) throw std::runtime_error(error.text);
    set_text_bytes(text_bytes);
  }

  mote_status open(mote_error* error, bool hashes) {
    const auto* root = flatbuffers::GetRoot<mote::file::Tokenizer>(builder_.GetBufferPointer());
    return mote::open_tokenizer(*root, {segment_.data(), segment_.size()}, root->tokens(), false, hashes,
                                &tokenizer_, error);
  }

  /// Of a model with fewer tokens than the tokenizer.
  void set_vocab(uint32_t vocab) { tokenizer_.vocab = vocab; }

  void set_text_bytes(uint32_t text_bytes) {
    mote::Arena counting;
    mote::take_text_scratch(&counting, text_bytes);
    arena_ = AlignedBytes(counting.used());
    mote::Arena arena(arena_.data(), counting.used());
    scratch_ = mote::take_text_scratch(&arena, text_bytes);
  }

  static mote::Given given(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())};
  }

  mote_status try_encode(const std::string& text, uint32_t flags, std::vector<int32_t>* ids,
                         std::vector<mote_span>* spans, mote_error* error) const {
    // A text of n bytes has at most so many tokens: normalization writes at most a prefix for each added
    // token.
    const size_t most = 16 * text.size() + 64;
    ids->resize(most);
    spans->resize(most);
    mote::TokenSink sink(ids->data(), spans->data(), nullptr, static_cast<uint32_t>(most));
    const mote_status status =
        mote::encode_text(tokenizer_, scratch_, given(text), nullptr, flags, &sink, error);
    ids->resize(sink.count);
    spans->resize(sink.count);
    return status;
  }

  std::vector<int32_t> encode(const std::string& text, uint32_t flags,
                              std::vector<mote_span>* spans = nullptr) const {
    std::vector<int32_t> ids;
    std::vector<mote_span> own;
    mote_error error{};
    const mote_status status = try_encode(text, flags, &ids, spans == nullptr ? &own : spans, &error);
    if (status != MOTE_OK) throw std::runtime_error(error.text);
    return ids;
  }

  /// With room for ids->size() tokens.
  mote_status encode_into(const std::string& text, uint32_t flags, std::vector<int32_t>* ids) const {
    mote::TokenSink sink(ids->data(), nullptr, nullptr, static_cast<uint32_t>(ids->size()));
    mote_error error{};
    return mote::encode_text(tokenizer_, scratch_, given(text), nullptr, flags, &sink, &error);
  }

  TokenizedPair encode_pair(const std::string& first, const std::string& second, uint32_t flags) const {
    const size_t most = 16 * (first.size() + second.size()) + 64;
    TokenizedPair pair{std::vector<int32_t>(most), std::vector<mote_span>(most),
                       std::vector<mote_token_kind>(most)};
    mote::TokenSink sink(pair.ids.data(), pair.spans.data(), pair.kinds.data(), static_cast<uint32_t>(most));
    const mote::Given second_text = given(second);
    mote_error error{};
    const mote_status status =
        mote::encode_text(tokenizer_, scratch_, given(first), &second_text, flags, &sink, &error);
    if (status != MOTE_OK) throw std::runtime_error(error.text);
    pair.ids.resize(sink.count);
    pair.spans.resize(sink.count);
    pair.kinds.resize(sink.count);
    return pair;
  }

  /// What each call of the detokenizer gave, the last that of finish.
  std::vector<std::string> decode_pieces(const std::vector<int32_t>& ids, uint32_t flags) const {
    std::vector<std::string> pieces;
    std::vector<uint8_t> out(mote::decode_room(tokenizer_));
    mote_detokenizer state{};
    state.flags = flags;
    state.strip = static_cast<uint8_t>(tokenizer_.strip_spaces);
    const auto add = [&](uint32_t bytes) { pieces.emplace_back(out.begin(), out.begin() + bytes); };
    for (const int32_t id : ids)
      add(mote::decode_next(tokenizer_, &state, static_cast<uint32_t>(id), out.data()));
    add(mote::decode_finish(tokenizer_, &state, out.data()));
    return pieces;
  }

  std::string decode(const std::vector<int32_t>& ids, uint32_t flags) const {
    std::string text;
    for (const std::string& piece : decode_pieces(ids, flags)) text += piece;
    return text;
  }

  const mote::Tokenizer& view() const { return tokenizer_; }
  AlignedBytes& segment() { return segment_; }

 private:
  flatbuffers::FlatBufferBuilder builder_;
  AlignedBytes segment_, arena_;
  mote::Tokenizer tokenizer_;
  mote::TextScratch scratch_;
};

inline mote::convert::TokenizerSpec read_json_tokenizer(const std::filesystem::path& path) {
  const mote::convert::MappedFile file(path);
  return mote::convert::read_tokenizer_json(file.bytes(), path.string());
}

inline mote::convert::TokenizerSpec read_gguf_tokenizer(const std::filesystem::path& path) {
  const mote::convert::MappedFile file(path);
  auto spec = mote::convert::read_gguf_tokenizer(file.bytes(), path.string());
  return spec.value();
}

}  // namespace test
