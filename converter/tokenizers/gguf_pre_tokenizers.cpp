// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/gguf_pre_tokenizers.h"

#include <map>

#include "converter/tokenizers/token_texts.h"

namespace mote::convert {
namespace {

constexpr const char* kGpt2WithoutSpace =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
constexpr const char* kContractions = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
constexpr const char* kGpt4Words =
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2Words =
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen35Words =
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kSeedCoderWords =
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kBailingWords =
    R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr const char* kBloomWords = R"( ?[^(\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+)";

// Words of GPT-4o and Tekken: letters that are not a to z, then letters that are not A to Z. The characters
// that may stand before such a word, and the parts that follow.
constexpr const char* kBeforeWord = R"([^\r\n\p{L}\p{N}]?)";
constexpr const char* kMostlyLower = R"([^\P{L}a-z]*[^\P{L}A-Z]+)";
constexpr const char* kMostlyUpper = R"([^\P{L}a-z]+[^\P{L}A-Z]*)";
constexpr const char* kAfterWords = R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string cased_words(const std::string& ending, const char* digits) {
  return std::string(kBeforeWord) + kMostlyLower + ending + "|" + kBeforeWord + kMostlyUpper + ending + "|" +
         digits + kAfterWords;
}

// DeepSeek's, of letters with two cases and of punctuation as its authors list them.
constexpr const char* kDeepSeekLetters =
    R"(\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF)"
    R"(\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5)"
    R"(\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA)"
    R"(\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45)"
    R"(\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE)"
    R"(\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC)"
    R"(\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139)"
    R"(\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3)"
    R"(\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06)"
    R"(\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB})"
    R"(\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr const char* kDeepSeekSigns = R"(\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+)";
constexpr const char* kDeepSeekHan = R"([\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+)";
constexpr const char* kDeepSeek3Han = R"([\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+)";
constexpr const char* kDeepSeek3Words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kSpaceAtEnd = R"(\s+(?![\s\S]))";

using Table = std::map<std::string_view, GgufPreTokenizer>;

void add(Table& table, const GgufPreTokenizer& pre, std::initializer_list<const char*> names) {
  for (const char* name : names) table.emplace(name, pre);
}

Table make_table() {
  const std::string gpt4 = std::string(kContractions) + kGpt4Words;
  const std::string qwen2 = std::string(kContractions) + kQwen2Words;
  Table table;
  add(table, {{R"([\p{P}\$\+<=>\^~\|]+)", kGpt2WithoutSpace, R"(\p{N}+)", "[0-9][0-9][0-9]"}}, {"default"});
  add(table, {{kGpt2Words}},
      {"gpt-2", "phi-2", "mpt", "olmo", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat",
       "a.x-4.0", "mellum", "exaone4", "jais", "trillion", "granite-docling", "modern-bert", "roberta-bpe",
       "jina-v1-en", "jina-v2-code"});
  add(table, {{R"(\p{N})", kGpt2Words}},
      {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"});
  add(table, {{gpt4}, true, true},
      {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
       "jina-v5-nano"});
  add(table, {{gpt4}}, {"dbrx", "smaug-bpe", "chatglm-bpe"});
  add(table, {{gpt4}, true}, {"glm4", "glm5"});
  add(table, {{qwen2}, false, false, true}, {"qwen2"});
  add(table, {{std::string(kContractions) + kQwen35Words}, false, false, true}, {"qwen35"});
  add(table, {{qwen2}},
      {"stablelm2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "hunyuan", "solar-open", "grok-2"});
  add(table, {{std::string(kContractions) + kSeedCoderWords}}, {"seed-coder"});
  add(table, {{kBailingWords}}, {"bailingmoe", "bailingmoe2", "llada-moe"});
  add(table, {{R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2WithoutSpace, "[0-9][0-9][0-9]"}}, {"falcon"});
  add(table, {{cased_words("", R"(\p{N})")}, true, true}, {"tekken"});
  add(table, {{cased_words(std::string(kContractions) + "?", R"(\p{N}{1,3})")}},
      {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"});
  add(table, {{R"([\r\n])", kDeepSeekLetters, kDeepSeekSigns, kSpaceAtEnd, kDeepSeekHan, R"(\p{N}+)"}},
      {"deepseek-llm"});
  add(table, {{R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepSeekHan, R"(\p{N})"}}, {"deepseek-coder"});
  add(table, {{R"(\p{N}{1,3})", kDeepSeek3Han, kDeepSeek3Words}},
      {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"});
  add(table, {{kBloomWords}}, {"bloom", "poro-chat", "gpt3-finnish"});
  add(table, {{kBloomWords, R"(\p{N})"}}, {"viking"});
  return table;
}

}  // namespace

const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name) {
  static const Table kTable = make_table();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : &found->second;
}

}  // namespace mote::convert
