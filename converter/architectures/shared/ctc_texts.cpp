// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/ctc_texts.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "converter/tokenizers/side_files.h"
#include "host/base/bytes.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kCtcVocabDepth = 16;
constexpr uint64_t kBytesOfLabel = 64;  // besides its text

class CtcTokenizer {
 public:
  CtcTokenizer(const Source& source, uint32_t vocab)
      : side_(source),
        vocab_path_(source.text_files() / "vocab.json"),
        added_path_(source.text_files() / "added_tokens.json"),
        config_(side_.config_path()),
        language_(source.language),
        size_(vocab) {}

  CtcTexts read() {
    const WorkBudget budget(vocab_path_.string(), bytes());
    const json ids = read_vocab();
    const std::string unknown = side_.named_token("unk_token", "<unk>");
    charge_bytes(size_ * (kBytesOfLabel + unknown.size()));
    std::vector<std::string> tokens(size_, unknown);
    read_added(tokens);
    const JsonFile where(vocab_path_.string());
    for (const auto& [text, id] : ids.items()) tokens[where.size(id, text, size_ - 1)] = text;
    CtcTexts texts;
    texts.blank = find_blank(tokens);
    const std::optional<std::string> parting = delimiter();
    for (const std::string& token : tokens) {
      texts.labels.push_back(shown_text(token, parting));
      charge_bytes(texts.labels.back().size());
    }
    texts.labels[static_cast<size_t>(texts.blank)] = side_.named_token("pad_token", "<pad>");
    require_different(tokens, texts.labels);
    texts.cleans_up = config_.flag(side_.config(), "clean_up_tokenization_spaces", false);
    return texts;
  }
  bool is_there() const {
    std::error_code ignored;
    return std::filesystem::exists(vocab_path_, ignored);
  }

 private:
  /// Returns how many bytes the files have that are read.
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const std::filesystem::path& path :
         {vocab_path_, added_path_, std::filesystem::path(side_.config_path())}) {
      std::error_code none;
      const uint64_t size = std::filesystem::file_size(path, none);
      if (!none) sum += size;
    }
    return sum;
  }

  /// Returns the vocabulary; of several languages, that of the user's or the one which tokenizer_config.json
  /// names.
  json read_vocab() const {
    json vocab = read_json_object(vocab_path_, kCtcVocabDepth);
    const JsonFile file(vocab_path_.string());
    if (vocab.empty() || !vocab.begin()->is_object()) {
      if (!language_.empty())
        file.refuse("it is of no languages; --language {} asks for one", shown(language_));
      return vocab;
    }
    const std::string language =
        language_.empty() ? config_.text(side_.config(), "target_lang", "eng") : language_;
    if (!language_.empty() && !vocab.contains(language))
      file.refuse("it has no vocabulary of the language {}", shown(language));
    return file.object(vocab, language);
  }

  /// Tokens behind the vocabulary; what the model has no label for is left out.
  void read_added(std::vector<std::string>& tokens) const {
    const json added = read_optional_json_object(added_path_, kCtcVocabDepth);
    const JsonFile where(added_path_.string());
    for (const auto& [text, id] : added.items()) {
      const uint64_t at = where.size(id, text);
      if (at < size_) tokens[at] = text;
    }
    const json* listed = config_.find(side_.config(), "added_tokens_decoder");
    if (listed == nullptr) return;
    if (!listed->is_object()) config_.refuse_value("added_tokens_decoder", listed, "an object");
    for (const auto& [number, token] : listed->items()) {
      const bool is_number =
          !number.empty() && number.size() < 10 &&
          std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!is_number || !token.is_object())
        config_.refuse_value("added_tokens_decoder." + number, &token, "a token with its id");
      const uint64_t at = std::stoull(number);
      if (at < size_) tokens[at] = config_.text(token, "content");
    }
  }

  /// Finds the label that the original leaves out of texts: the padding's.
  int32_t find_blank(const std::vector<std::string>& tokens) const {
    const std::string pad = side_.named_token("pad_token", "<pad>");
    const auto found = std::find(tokens.begin(), tokens.end(), pad);
    if (found == tokens.end())
      config_.refuse(
          "pad_token '{}', which stands for nothing, is none of the model's {} labels: vocab.json has "
          "to have it",
          shown(pad), size_);
    if (std::find(found + 1, tokens.end(), pad) != tokens.end())
      config_.refuse("pad_token '{}' is the text of several labels, which is not supported", shown(pad));
    return static_cast<int32_t>(found - tokens.begin());
  }

  bool is_phonemes() const {
    const std::string name = config_.text(side_.config(), "tokenizer_class", "");
    return name == "Wav2Vec2PhonemeCTCTokenizer";
  }

  /// Returns what parts words: by default nothing of phonemes, and a bar of letters. Returns nothing where it
  /// is null, which transformers 5 writes as a text that it does not read.
  std::optional<std::string> delimiter() const {
    const json& config = side_.config();
    const json* given = config_.find(config, "word_delimiter_token");
    if (given == nullptr && (is_phonemes() || config.contains("word_delimiter_token"))) return std::nullopt;
    if (given == nullptr || *given == "None") return "|";
    return given->is_object() ? config_.text(*given, "content")
                              : config_.text(config, "word_delimiter_token");
  }

  /// The original puts spaces between phonemes, and in place of the sign between words.
  std::string shown_text(const std::string& token, const std::optional<std::string>& delimiter) const {
    if (is_phonemes()) return token == delimiter ? "" : token + " ";
    const json& config = side_.config();
    const std::string text =
        token == delimiter ? config_.text(config, "replace_word_delimiter_char", " ") : token;
    return config_.flag(config, "do_lower_case", false) ? jinja::lower(text) : text;
  }

  /// Equal neighbours are one, so different tokens have different texts.
  void require_different(const std::vector<std::string>& tokens,
                         const std::vector<std::string>& labels) const {
    std::map<std::string, std::string> token_of;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto [at, is_new] = token_of.try_emplace(labels[i], tokens[i]);
      if (!is_new && at->second != tokens[i] && labels[i] != " ")
        config_.refuse("the tokens '{}' and '{}' have the same text '{}', which is not supported",
                       shown(at->second), shown(tokens[i]), shown(labels[i]));
    }
  }

  SideFiles side_;
  std::filesystem::path vocab_path_, added_path_;
  JsonFile config_;
  std::string language_;
  uint32_t size_;
};

}  // namespace

CtcTexts read_ctc_texts(const Source& source, uint32_t vocab) {
  CtcTokenizer tokenizer(source, vocab);
  if (!source.directory.empty() && tokenizer.is_there()) return tokenizer.read();
  CtcTexts texts;
  texts.labels = numbered_labels(source, vocab);
  return texts;
}

std::vector<std::string> numbered_labels(const Source& source, uint32_t count) {
  const WorkBudget budget(source.config_path.string(), 0);
  charge_bytes(count * kBytesOfLabel);
  std::vector<std::string> labels;
  for (uint32_t id = 0; id < count; ++id) labels.push_back(fmt::format("<{}>", id));
  return labels;
}

}  // namespace mote::convert
