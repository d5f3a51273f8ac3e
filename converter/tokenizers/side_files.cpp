// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/side_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "converter/tokenizers/json_values.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Special tokens by name, in the order in which they get ids.
constexpr std::array<const char*, 7> kNamed = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};

json read_object(const fs::path& path) { return read_optional_json_object(path, kTokenizerJsonDepth); }

/// The class that AutoTokenizer takes for a type of model where no file names another.
std::string registered_class(const std::string& model_type) {
  static const std::map<std::string, std::string> kClasses = {
      {"albert", "AlbertTokenizer"},
      {"bert", "BertTokenizer"},
      {"ernie4_5", "TokenizersBackend"},
      {"ernie4_5_moe", "TokenizersBackend"},
      {"ministral3", "TokenizersBackend"},
      {"mistral3", "TokenizersBackend"},
      {"mixtral", "TokenizersBackend"},
      {"nemotron", "TokenizersBackend"},
      {"phi3", "TokenizersBackend"},
      {"phimoe", "TokenizersBackend"},
      {"stablelm", "TokenizersBackend"},
      {"camembert", "CamembertTokenizer"},
      {"data2vec-text", "RobertaTokenizer"},
      {"distilbert", "BertTokenizer"},
      {"electra", "BertTokenizer"},
      {"gpt2", "GPT2Tokenizer"},
      {"mistral", "TokenizersBackend"},
      {"mpnet", "MPNetTokenizer"},
      {"nllb-moe", "NllbTokenizer"},
      {"qwen2", "Qwen2Tokenizer"},
      {"qwen3", "Qwen2Tokenizer"},
      {"roberta", "RobertaTokenizer"},
      {"siglip", "SiglipTokenizer"},
      {"vits", "VitsTokenizer"},
      {"xglm", "XGLMTokenizer"},
      {"xlm-roberta", "XLMRobertaTokenizer"},
  };
  const auto found = kClasses.find(model_type);
  return found == kClasses.end() ? "" : found->second;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_any(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* other) { return name == other; });
}

bool is_generic(const std::string& name) {
  return is_any(name, {"", "PreTrainedTokenizer", "TokenizersBackend", "PythonBackend"});
}

/// Calls f with each component of a kind, those of sequences one by one.
template <class F>
void each_part(json& part, const char* list, const F& f, int depth = 0) {
  if (!part.is_object() || depth > kTokenizerJsonDepth) return;
  if (text_of(part, "type") != "Sequence") return f(part);
  const auto parts = part.find(list);
  if (parts == part.end() || !parts->is_array()) return;
  for (json& inner : *parts) each_part(inner, list, f, depth + 1);
}

bool has_byte_level(const json& tokenizer) {
  bool found = false;
  json copy = tokenizer.value("pre_tokenizer", json());
  each_part(copy, "pretokenizers", [&](json& part) { found |= text_of(part, "type") == "ByteLevel"; });
  return found;
}

/// A token as a tokenizer.json lists it; a text is a special one.
json as_entry(const json& token, bool special) {
  if (token.is_string()) return {{"content", token}, {"special", special}, {"normalized", !special}};
  json entry = token;
  entry["special"] = special || entry.value("special", false);
  return entry;
}

}  // namespace

SideFiles::SideFiles(const Source& source) : lowercase_(source.lowercase) {
  const auto path_of = [&](const char* name) { return (source.text_files() / name).string(); };
  config_path_ = path_of("tokenizer_config.json");
  added_path_ = path_of("added_tokens.json");
  map_path_ = path_of("special_tokens_map.json");
  config_ = read_object(config_path_);
  added_ = read_object(added_path_);
  special_map_ = read_object(map_path_);
  const json& model = *source.config;
  declared_ = JsonValues(config_path_).text(config_, "tokenizer_class", text_of(model, "tokenizer_class"));
  if (declared_.ends_with("Fast")) declared_.resize(declared_.size() - 4);
  model_type_ = text_of(model, "model_type");
  registered_ = registered_class(model_type_);
  class_ = declared_.empty() ? registered_ : declared_;
  // A model whose type has no class of its own tokenizer takes the file as it is.
  const bool differ = !declared_.empty() && !registered_.empty() && declared_ != registered_;
  if (is_generic(class_) || (differ && is_generic(registered_))) class_.clear();
  // Classes that are BERT's by another name.
  if (is_any(class_, {"DistilBertTokenizer", "ElectraTokenizer", "RetriBertTokenizer", "ConvBertTokenizer",
                      "MobileBertTokenizer", "SqueezeBertTokenizer", "LayoutLMTokenizer"})) {
    class_ = "BertTokenizer";
  }
  if (is_any(class_, {"BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"}))
    class_ = "RobertaTokenizer";
}

bool SideFiles::is_class(const std::string& name, const std::string& model_types) const {
  if (!class_.empty()) return class_ == name;
  return declared_.empty() && !model_type_.empty() &&
         model_types.find(" " + model_type_ + " ") != std::string::npos;
}

SideFiles SideFiles::of_class(const std::string& name) const {
  SideFiles result = *this;
  result.class_ = name;
  return result;
}

std::string SideFiles::named_token(const char* key, const char* otherwise) const {
  for (const json* file : {config_.contains("added_tokens_decoder") ? nullptr : &special_map_, &config_}) {
    if (file == nullptr || !file->contains(key) || (*file)[key].is_null()) continue;
    const json& token = (*file)[key];
    const JsonValues values(file == &config_ ? config_path_ : map_path_);
    return token.is_object() ? values.text(token, "content") : values.text(*file, key);
  }
  return otherwise;
}

std::string SideFiles::file_of(const std::string& key, const std::string& otherwise) const {
  if (config_.contains(key)) return config_path_;
  return special_map_.contains(key) ? map_path_ : otherwise;
}

// ---- Options of classes ----

void SideFiles::set_bert(json& tokenizer, const std::string& where) const {
  const JsonValues values(config_path_);
  if (text_of(tokenizer["pre_tokenizer"], "type") != "BertPreTokenizer") {
    if (declared_.empty()) return;
    JsonValues(file_of("tokenizer_class", "config.json"))
        .refuse("tokenizer_class is {}, but {} has no BertPreTokenizer", declared_, where);
  }
  json normalizer = {{"type", "BertNormalizer"}, {"clean_text", true}, {"strip_accents", nullptr}};
  normalizer["lowercase"] = values.flag(config_, "do_lower_case", true);
  normalizer["handle_chinese_chars"] = values.flag(config_, "tokenize_chinese_chars", true);
  if (values.find(config_, "strip_accents") != nullptr)
    normalizer["strip_accents"] = values.flag(config_, "strip_accents", false);
  tokenizer["normalizer"] = normalizer;
  if (class_ != "BertTokenizer" || !tokenizer["model"].is_object()) return;
  json& model = tokenizer["model"];
  model["unk_token"] = named_token("unk_token", "[UNK]");
  json processor = {{"type", "BertProcessing"}};
  for (const auto& [key, token] :
       {std::pair<const char*, std::string>("cls", named_token("cls_token", "[CLS]")),
        {"sep", named_token("sep_token", "[SEP]")}}) {
    if (!model.contains("vocab") || !model["vocab"].is_object() || !model["vocab"].contains(token))
      JsonValues(file_of(std::string(key) + "_token", where))
          .refuse(
              "{}_token '{}' is not in the vocabulary of {}, and BERT's tokenizer puts it around texts: name "
              "another in tokenizer_config.json",
              key, shown(token), where);
    processor[key] = json::array({token, model["vocab"][token]});
  }
  tokenizer["post_processor"] = processor;
}

void SideFiles::set_prefix_space(json& tokenizer) const {
  const bool prefix = JsonValues(config_path_).flag(config_, "add_prefix_space", false);
  each_part(tokenizer["pre_tokenizer"], "pretokenizers", [&](json& part) {
    if (text_of(part, "type") == "ByteLevel") part["add_prefix_space"] = prefix;
  });
  json& processor = tokenizer["post_processor"];
  if (text_of(processor, "type") == "RobertaProcessing") processor["add_prefix_space"] = prefix;
}

/// Checks that add_prefix_space and the file agree on whether text gets a space in front, which the class
/// decides otherwise.
void SideFiles::check_llama(const json& tokenizer, const std::string& where) const {
  if (has_byte_level(tokenizer)) return;
  const JsonValues values(config_path_);
  bool prepends = false;
  json copy = tokenizer;
  each_part(copy["normalizer"], "normalizers",
            [&](json& part) { prepends |= text_of(part, "type") == "Prepend"; });
  each_part(copy["pre_tokenizer"], "pretokenizers", [&](json& part) {
    const bool scheme = part.contains("prepend_scheme") ? text_of(part, "prepend_scheme") != "never"
                                                        : part.value("add_prefix_space", true);
    prepends |= text_of(part, "type") == "Metaspace" && scheme;
  });
  if (values.flag(config_, "add_prefix_space", true) == prepends) return;
  JsonValues(file_of("add_prefix_space", where))
      .refuse("add_prefix_space {} of {} contradicts {}, which puts {} space before texts",
              prepends ? "false" : "true", class_, where, prepends ? "a" : "no");
}

/// sentence-transformers' do_lower_case: before all other normalizers, unless one of them does it.
void SideFiles::set_lowercase(json& tokenizer) const {
  json& normalizer = tokenizer["normalizer"];
  bool lowers = false;
  each_part(normalizer, "normalizers", [&](json& part) {
    const std::string type = text_of(part, "type");
    lowers |= type == "Lowercase" || (type == "BertNormalizer" && part.value("lowercase", true));
  });
  if (lowers) return;
  json steps = json::array();
  steps.push_back({{"type", "Lowercase"}});
  if (!normalizer.is_null()) steps.push_back(normalizer);
  normalizer = {{"type", "Sequence"}, {"normalizers", steps}};
}

// ---- Added tokens ----

/// Entries with the ids that they should have: added_tokens_decoder, or else added_tokens.json.
json SideFiles::declared_tokens() const {
  json result = json::array();
  std::map<uint64_t, json> by_id;
  const JsonValues values(config_path_), added(added_path_);
  if (values.find(config_, "added_tokens_decoder") != nullptr) {
    for (const auto& [id, token] : values.object(config_, "added_tokens_decoder").items()) {
      const bool number =
          !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == std::string::npos;
      if (!number || !token.is_object()) values.refuse_value("added_tokens_decoder." + id, &token, "a token");
      by_id[std::stoull(id)] = as_entry(token, false);
    }
  } else {
    std::set<std::string> special;
    for (const json& entry : special_tokens()) special.insert(text_of(entry, "content"));
    for (const auto& [token, id] : added_.items()) {
      const bool is_special = special.count(token) != 0;
      by_id[added.token_id(id, token)] = {
          {"content", token}, {"special", is_special}, {"normalized", !is_special}};
    }
  }
  for (auto& [id, entry] : by_id) {
    entry["id"] = id;
    result.push_back(entry);
  }
  return result;
}

/// Entries without ids: named special tokens, then others.
json SideFiles::special_tokens() const {
  json result = json::array();
  std::map<std::string, const char*> defaults;
  if (class_ == "BertTokenizer") {
    defaults = {{"unk_token", "[UNK]"},
                {"sep_token", "[SEP]"},
                {"pad_token", "[PAD]"},
                {"cls_token", "[CLS]"},
                {"mask_token", "[MASK]"}};
  } else if (class_ == "RobertaTokenizer") {
    defaults = {{"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"sep_token", "</s>"},
                {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>"}};
  } else if (is_any(class_, {"GPT2Tokenizer", "CodeGenTokenizer"})) {
    defaults = {
        {"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}};
  }
  if (class_ == "CLIPTokenizer") {
    defaults = {{"unk_token", "<|endoftext|>"},
                {"bos_token", "<|startoftext|>"},
                {"eos_token", "<|endoftext|>"},
                {"pad_token", "<|endoftext|>"}};
  } else if (class_ == "WhisperTokenizer") {
    defaults = {
        {"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}};
  } else if (is_any(class_, {"Qwen2Tokenizer", "Qwen3_5Tokenizer"})) {
    defaults = {
        {"unk_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"pad_token", "<|endoftext|>"}};
  }
  const bool old = !config_.contains("added_tokens_decoder");
  const auto value_of = [&](const char* key) -> json {
    if (old && special_map_.contains(key)) return special_map_[key];
    if (config_.contains(key)) return config_[key];
    return defaults.count(key) != 0 ? json(defaults[key]) : json();
  };
  const JsonValues values(config_path_);
  for (const char* key : kNamed) {
    const json token = value_of(key);
    if (token.is_null()) continue;
    if (!token.is_string() && !token.is_object())
      JsonValues(file_of(key, config_path_)).refuse_value(key, &token, "a token");
    result.push_back(as_entry(token, true));
  }
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    const json tokens = value_of(key);
    if (tokens.is_null()) continue;
    if (!tokens.is_array() && !tokens.is_object()) values.refuse_value(key, &tokens, "a list of tokens");
    for (const json& token : tokens) {
      if (!token.is_string() && !token.is_object()) values.refuse_value(key, &token, "a token");
      result.push_back(as_entry(token, true));
    }
  }
  return result;
}

void SideFiles::add_tokens(json& tokenizer, const std::string& where) const {
  const JsonValues values(where);
  json& added = tokenizer["added_tokens"];
  if (added.is_null()) added = json::array();
  if (!added.is_array() || !tokenizer["model"].is_object()) return;  // an error of its own elsewhere
  const json& vocabulary = tokenizer["model"]["vocab"];
  std::map<std::string, uint64_t> ids;
  uint64_t next = vocabulary.size();
  if (vocabulary.is_array()) {
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      if (vocabulary[i].is_array() && !vocabulary[i].empty() && vocabulary[i][0].is_string())
        ids.emplace(vocabulary[i][0].get<std::string>(), i);
    }
  } else if (vocabulary.is_object()) {
    for (const auto& [token, id] : vocabulary.items()) {
      if (id.is_number_unsigned()) ids.emplace(token, id.get<uint64_t>());
    }
  }
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < added.size(); ++i) {
    if (!added[i].is_object() || !added[i].contains("id") || !added[i]["id"].is_number_unsigned()) return;
    const std::string content = text_of(added[i], "content");
    places[content] = i;
    ids[content] = added[i]["id"].get<uint64_t>();
    next = std::max(next, ids[content] + 1);
  }
  const auto add = [&](json entry) {
    const std::string content = values.text(entry, "content");
    if (content.empty()) return;
    const auto known = ids.find(content);
    const uint64_t id = known != ids.end() ? known->second : next++;
    // A token that the tokenizer has keeps its id there, whatever id is declared for it.
    if (known == ids.end() && entry.contains("id") && entry["id"] != id) {
      values.refuse("'{}' has id {} in {}, here it is {}", shown(content), entry["id"].dump(),
                    config_.contains("added_tokens_decoder") ? config_path_ : added_path_, id);
    }
    ids[content] = id;
    entry["id"] = id;
    const auto [place, fresh] = places.emplace(content, added.size());
    if (fresh) {
      added.push_back(std::move(entry));
    } else {
      added[place->second] = std::move(entry);
    }
  };
  for (json& entry : declared_tokens()) add(std::move(entry));
  for (json& entry : special_tokens()) {
    if (places.count(text_of(entry, "content")) == 0) add(std::move(entry));
  }
}

bool SideFiles::cuts_left(const json& tokenizer) const {
  const JsonValues values(config_path_);
  std::string side = "right";
  const auto truncation = tokenizer.find("truncation");
  if (truncation != tokenizer.end() && truncation->is_object() && text_of(*truncation, "direction") == "Left")
    side = "left";
  side = values.text(config_, "truncation_side", side);
  if (side != "left" && side != "right")
    values.refuse("truncation_side is \"{}\", expected \"left\" or \"right\"", shown(side));
  return side == "left";
}

void SideFiles::apply(json& tokenizer, const std::string& where) const {
  if (is_any(class_, {"BertTokenizer", "MPNetTokenizer"})) set_bert(tokenizer, where);
  if (is_any(class_, {"GPT2Tokenizer", "RobertaTokenizer"})) set_prefix_space(tokenizer);
  if (class_ == "LlamaTokenizer") check_llama(tokenizer, where);
  if (lowercase_) set_lowercase(tokenizer);
  add_tokens(tokenizer, where);
}

}  // namespace mote::convert
