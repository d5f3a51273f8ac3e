// SPDX-License-Identifier: Apache-2.0
//
// Keys of a tokenizer_config.json that nobody reads.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

/// Those that are read, of which each class takes its own, and those that say nothing of ids and texts.
constexpr std::string_view kTokenizerKeys[] = {
    "tokenizer_class",
    "add_prefix_space",
    "do_lower_case",
    "strip_accents",
    "tokenize_chinese_chars",
    "added_tokens_decoder",
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
    "additional_special_tokens",
    "extra_special_tokens",
    "legacy",
    "add_bos_token",
    "add_eos_token",
    "keep_accents",
    "split_by_punct",
    "trim_offsets",
    "truncation_side",
    "model_max_length",
    "chat_template",
    "extra_ids",
    "src_lang",
    "tgt_lang",
    "language_codes",
    "separate_vocabs",
    "sp_model_kwargs",
    "lang_codes",
    "do_upper_case",
    "source_lang",
    "target_lang",
    "is_uroman",
    "normalize",
    "phonemize",
    "add_blank",
    "word_delimiter_token",
    "replace_word_delimiter_char",
    // Keys that change nothing here: names and paths, padding, and how Python is called.
    "name_or_path",
    "tokenizer_file",
    "vocab_file",
    "special_tokens_map_file",
    "auto_map",
    "processor_class",
    "image_processor_class",
    "feature_extractor_class",
    "model_input_names",
    "model_specific_special_tokens",
    "backend",
    "is_local",
    "local_files_only",
    "use_default_system_prompt",
    "padding_side",
    "padding",
    "truncation",
    "pad_to_multiple_of",
    "pad_token_type_id",
    "max_length",
    "stride",
    "truncation_strategy",
    "return_tensors",
    "return_token_type_ids",
    "use_fast",
    "errors",
    "device",
    "transformers_version",
    "do_basic_tokenize",
    "never_split",
    "spaces_between_special_tokens",
    "remove_space",
    "trust_remote_code",
    "from_slow",
    "unk_id",
};

}  // namespace

std::vector<std::string> unread_tokenizer_keys(const Source& source, bool generates) {
  std::vector<std::string> unread;
  if (source.format != "hf") return unread;
  const nlohmann::json keys =
      read_optional_json_object(source.text_files() / "tokenizer_config.json", kTokenizerJsonDepth);
  for (const auto& [key, value] : keys.items()) {
    const bool says_nothing =
        value.is_null() || value == nlohmann::json(false) || (value.is_structured() && value.empty());
    const bool is_token = key.ends_with("_token") && (value.is_string() || value.is_object());
    const bool is_known =
        std::find(std::begin(kTokenizerKeys), std::end(kTokenizerKeys), key) != std::end(kTokenizerKeys);
    const bool is_of_texts = key == "clean_up_tokenization_spaces" && !generates;
    if (!says_nothing && !is_known && !is_token && !is_of_texts)
      unread.push_back(fmt::format("{} {}", key, shown(value.dump())));
  }
  return unread;
}

}  // namespace mote::convert
