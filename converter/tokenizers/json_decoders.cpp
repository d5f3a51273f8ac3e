// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/token_texts.h"
#include "converter/tokenizers/tokenizer_json.h"

namespace mote::convert {
namespace {

using nlohmann::json;

/// Changes a token with the space before it as BERT's decoder does.
std::string clean_up(std::string text) {
  static constexpr std::array<std::pair<const char*, const char*>, 11> kChanges = {{{" .", "."},
                                                                                    {" ?", "?"},
                                                                                    {" !", "!"},
                                                                                    {" ,", ","},
                                                                                    {" ' ", "'"},
                                                                                    {" n't", "n't"},
                                                                                    {" 'm", "'m"},
                                                                                    {" do not", " don't"},
                                                                                    {" 's", "'s"},
                                                                                    {" 've", "'ve"},
                                                                                    {" 're", "'re"}}};
  for (const auto& [from, to] : kChanges) text = replace_all(text, from, to);
  return text;
}

class JsonDecoders : JsonPartReader {
 public:
  using JsonPartReader::JsonPartReader;

  void read(const json& part) {
    const std::string type = values_.text(part, "type");
    known_ = true;
    if (type == "ByteLevel") {
      bytes_ = true;
    } else if (type == "Replace") {
      const json& pattern = values_.object(part, "pattern");
      if (!pattern.contains("String")) {
        values_.refuse("decoder 'Replace' by a regular expression is not supported");
      }
      replacements_.emplace_back(values_.text(pattern, "String"), values_.text(part, "content"));
    } else if (type == "ByteFallback") {
      fallback_ = true;
    } else if (type == "Strip") {
      read_strip(part);
    } else if (type == "Metaspace") {
      const std::string legacy = values_.flag(part, "add_prefix_space", true) ? "always" : "never";
      replacements_.emplace_back(values_.text(part, "replacement"), " ");
      spec_.strip_first_token =
          (part.contains("prepend_scheme") ? values_.text(part, "prepend_scheme") : legacy) != "never";
    } else if (type == "WordPiece") {
      words_ = true;
      clean_ = values_.flag(part, "cleanup", true);
      prefix_ = part.contains("prefix") ? values_.text(part, "prefix") : "##";
    } else if (type != "Fuse") {
      values_.refuse("decoder '{}' is not supported", shown(type));
    }
  }

  void decode() {
    if (!known_) values_.refuse("it has no decoder");
    if (bytes_ != draft_.byte_level) values_.refuse("pre-tokenizer and decoder do not fit each other");
    if (words_ && (fallback_ || !replacements_.empty())) {
      values_.refuse("decoder 'WordPiece' beside others is not supported");
    }
    if (words_) {
      spec_.continuing_prefix = spec_.model == ModelSpec::wordpiece ? spec_.continuing_prefix : prefix_;
      if (spec_.continuing_prefix != prefix_) {
        values_.refuse("decoder 'WordPiece' has another prefix than the model");
      }
      spec_.strip_spaces = 1;  // before the first token
    }
    write_tokens();
  }

  /// Tokens as the vocabulary writes them.
  void decode_plainly() {
    bytes_ = draft_.byte_level;
    write_tokens();
  }

 private:
  void write_tokens() {
    spec_.tokens.resize(draft_.vocabulary.size());
    for (size_t id = 0; id < draft_.vocabulary.size(); ++id) {
      spec_.tokens[id] = words_ ? decode_word(draft_.vocabulary[id]) : decode_token(draft_.vocabulary[id]);
    }
    for (const AddedTokenSpec& added : spec_.added) {
      if ((added.flags & kAddedSpecial) != 0) spec_.tokens[added.id].flags |= kTokenSpecial;
    }
  }

  void read_strip(const json& part) {
    const uint32_t start = values_.number(part, "start", 0);
    if (values_.text(part, "content") != " " || values_.number(part, "stop", 0) != 0 || start > UINT8_MAX) {
      values_.refuse("decoder 'Strip' of anything but spaces at the start is not supported");
    }
    spec_.strip_spaces = start;
  }

  TokenSpec decode_token(const std::string& written) const {
    TokenSpec token{bytes_ ? from_byte_signs(written) : written, 0};
    for (const auto& [from, to] : replacements_) token.text = replace_all(token.text, from, to);
    if (const auto byte = byte_of_token(token.text); byte && fallback_) {
      token = {std::string(1, static_cast<char>(*byte)), kTokenByte};
    }
    return token;
  }

  /// As it is inside a text; a text that starts with it loses the space or shows the prefix.
  TokenSpec decode_word(const std::string& written) const {
    const bool inner = !prefix_.empty() && written.compare(0, prefix_.size(), prefix_) == 0;
    TokenSpec token{inner ? written.substr(prefix_.size()) : " " + written,
                    inner ? uint8_t{kTokenInner} : uint8_t{0}};
    if (clean_) token.text = clean_up(std::move(token.text));
    return token;
  }

  std::vector<std::pair<std::string, std::string>> replacements_;
  std::string prefix_;
  bool known_ = false, bytes_ = false, fallback_ = false, words_ = false, clean_ = false;
};

}  // namespace

void read_decoders(const JsonValues& values, const json& root, TokenizerDraft& draft, DecoderNeed need) {
  const TokenizerSpec without = need == DecoderNeed::optional ? draft.spec : TokenizerSpec{};
  try {
    JsonDecoders decoders(values, draft);
    for (const json& part : values.parts(root, "decoder", "decoders")) decoders.read(part);
    decoders.decode();
  } catch (const Error&) {
    if (need == DecoderNeed::required) throw;
    draft.spec = without;
    JsonDecoders(values, draft).decode_plainly();
  }
}

}  // namespace mote::convert
