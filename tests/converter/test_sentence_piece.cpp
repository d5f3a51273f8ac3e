// SPDX-License-Identifier: Apache-2.0
//
// Directories with a SentencePiece model and a vocab.json. The expected pieces are those of the published
// algorithms: the longest key of the map at each place, spaces as U+2581, and the segmentation of the highest
// sum of scores, where a character that is no piece counts 10 less than the least piece.
#include "tests/support/sentence_piece_file.h"

#include <nlohmann/json.hpp>

#include "tests/support/text_tokenizer.h"
#include "tests/support/tokenizer_directory.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::contains;
using mote::testing::TokenizerDirectory;
using nlohmann::json;

namespace {

using Ids = std::vector<int32_t>;

::test::SentencePieceFile small_pieces(::test::SentencePieceFile file = ::test::SentencePieceFile()) {
  file.piece("▁", -2.0f).piece("▁a", -1.5f).piece("a", -2.5f).piece("b", -2.75f).piece("ab", -3.0f);
  file.piece("▁ab", -3.25f).piece("c", -3.5f).piece("▁c", -3.75f).piece("bc", -4.0f).piece("é", -4.25f);
  file.piece("▁the", -1.25f).piece("カ", -5.75f).piece("ガ", -6.0f).piece("zz", -0.5f, 5);
  return file.map({{"ｶ", "カ"}, {"ｶﾞ", "ガ"}, {"\t", " "}, {"\x01", ""}});
}

/// Of SentencePiece's pieces and perhaps a vocab.json.
struct Translator : TokenizerDirectory {
  Translator(const std::string& type, const std::string& pieces, const json& vocabulary, const json& settings)
      : TokenizerDirectory(json{{"model_type", type}, {"vocab_size", 200}}) {
    const char* const name = type == "marian" ? "source.spm"
                             : type == "t5"   ? "spiece.model"
                                              : "sentencepiece.bpe.model";
    text(name, pieces).file("tokenizer_config.json", settings);
    if (!vocabulary.is_null()) file("vocab.json", vocabulary);
  }
};

const json kMarianVocabulary = {{"</s>", 0}, {"<unk>", 1}, {"▁", 2},       {"▁a", 3},
                                {"a", 4},    {"b", 5},     {"ab", 6},      {"▁ab", 7},
                                {"c", 8},    {"▁c", 9},    {"▁the", 10},   {"ガ", 11},
                                {"カ", 12},  {"☃☃", 13},   {">>fr<<", 14}, {"<pad>", 15}};

Translator marian(const std::string& pieces, const json& settings = json::object()) {
  return {"marian", pieces, kMarianVocabulary, settings};
}

}  // namespace

TEST("Marian's texts are cut as SentencePiece does and numbered by the vocabulary") {
  const ::test::TextTokenizer tokenizer(marian(small_pieces().bytes()).read());
  const std::pair<const char*, Ids> cases[] = {
      {"  the   cab  ", {10, 9, 6}},
      {"", {}},
      {"   ", {}},
      {"a\tb\x01", {3, 2, 5}},
      {"ｶﾞｶ", {2, 11, 12}},      // the longest key
      {"a☃☃b", {3, 13, 5}},      // no piece, but a token
      {"a☃b☃☃☃", {3, 1, 5, 1}},  // unknown side by side is one
      {"abc é", {3, 1, 2, 1}},   // "bc" and "é" are pieces and no tokens
      {"é☃é", {2, 1, 1, 1}},
      {"zz", {2, 1}},  // an unused piece is none
      {">>fr<< ab", {14, 7}},
      {"ab >>fr<<", {7, 2, 14}},  // behind the start it is text, which the vocabulary has
      {"ab >>fr<<b", {7, 2, 14, 5}},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text, expected);
    REQUIRE(tokenizer.encode(text, 0) == expected);
    Ids whole = expected;
    whole.push_back(0);
    REQUIRE(tokenizer.encode(text, MOTE_ADD_SPECIAL) == whole);
  }
  TEST_ASSERT_EQUAL_STRING("the ab", tokenizer.decode({2, 2, 10, 7, 0}, MOTE_SKIP_SPECIAL).c_str());
}

TEST("sums of scores are floats, in which near ones can be equal and the longer piece stays") {
  ::test::SentencePieceFile file;
  file.piece("a", -2.5f).piece("b", -2.75f).piece("ab", -5.2501f);
  const ::test::TextTokenizer tokenizer(marian(file.bytes()).read());
  std::string far;
  for (int i = 0; i < 200; ++i) far += "☃";
  REQUIRE(tokenizer.encode("ab", 0) == Ids{2, 4, 5});
  REQUIRE(tokenizer.encode(far + "ab", 0) == Ids{1, 6});
}

TEST("M2M-100's languages follow the vocabulary, that of the source stands before the text") {
  const json vocabulary = {{"<s>", 0},  {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3},
                           {"▁the", 4}, {"▁c", 5},    {"ab", 6}};
  const std::pair<json, int32_t> languages[] = {{json::object(), 7 + 18}, {{{"src_lang", "de"}}, 7 + 16}};
  for (const auto& [settings, first] : languages) {
    const Translator translator("m2m_100", small_pieces().bytes(), vocabulary, settings);
    const ::test::TextTokenizer tokenizer(translator.read());
    CAPTURE(first);
    REQUIRE(tokenizer.encode("the cab", MOTE_ADD_SPECIAL) == Ids{first, 4, 5, 6, 2});
  }
}

TEST("T5's, mBART's and mBART-50's pieces alone give the ids of Hugging Face's tokenizers") {
  struct Known {
    const char *type, *tokenizer_class;
    Ids before, after;
    std::vector<std::pair<const char*, Ids>> texts;
  };
  const Known all[] = {{"t5",
                        "T5Tokenizer",
                        {},
                        {1},
                        {{"  the   cab ", {13, 10, 7}},
                         {"a\tb", {4, 3, 6}},
                         {"ｶﾞ ☃☃ ab", {3, 14, 2, 3, 2, 8}},
                         {"ab <extra_id_0> c", {8, 18, 10}}}},
                       {"mbart",
                        "MBartTokenizer",
                        {},
                        {2, 21},
                        {{"  the   cab ", {14, 11, 8}}, {"ｶﾞ ☃☃ ab", {4, 3, 4, 3, 9}}}},
                       {"mbart",
                        "MBart50Tokenizer",
                        {21},
                        {2},
                        {{"  the   cab ", {14, 11, 8, 4}}, {"ｶﾞ ☃☃ ab", {4, 15, 3, 4, 3, 9}}}}};
  for (const Known& one : all) {
    const bool t5 = one.type == std::string("t5");
    const std::string pieces =
        small_pieces(t5 ? ::test::SentencePieceFile({"<pad>", "</s>", "<unk>"}) : ::test::SentencePieceFile())
            .bytes();
    const Translator translator(one.type, pieces, nullptr,
                                {{"tokenizer_class", one.tokenizer_class}, {"extra_ids", 2}});
    const ::test::TextTokenizer tokenizer(translator.read());
    for (const auto& [text, ids] : one.texts) {
      CAPTURE(one.tokenizer_class, text);
      Ids expected = one.before;
      expected.insert(expected.end(), ids.begin(), ids.end());
      expected.insert(expected.end(), one.after.begin(), one.after.end());
      REQUIRE(tokenizer.encode(text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL) == expected);
    }
  }
}

TEST("what SentencePiece models say that changes ids is refused by name") {
  const json separate = {{"separate_vocabs", true}}, bpe = json::object();
  TEST_ASSERT_TRUE(contains(marian(small_pieces().bytes(), separate).error(), "separate vocabularies"));
  TEST_ASSERT_TRUE(contains(marian(small_pieces().segmentation(2).bytes()).error(), "segmentation 2"));
  TEST_ASSERT_TRUE(contains(marian(small_pieces().piece("<n>", 0, 4).bytes()).error(), "'<n>'"));
  TEST_ASSERT_TRUE(contains(marian("no such file").error(), "SentencePiece model"));
  const std::string whole = small_pieces().bytes();
  TEST_ASSERT_TRUE(contains(marian(whole.substr(0, whole.size() / 2)).error(), "cut or damaged"));
  const Translator gap("marian", whole, {{"</s>", 0}, {"<unk>", 1}, {"<pad>", 5}}, bpe);
  TEST_ASSERT_TRUE(contains(gap.error(), "not 0 to 2"));
}
