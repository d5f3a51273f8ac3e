// SPDX-License-Identifier: Apache-2.0
//
// The task of a model, and the tokens that hosts need for it.
#include "converter/task.h"

#include "tests/support/unity_style.h"

using namespace mote::convert;

namespace {

TokenizerSpec tokens_of(std::initializer_list<const char*> texts) {
  TokenizerSpec tokenizer;
  for (const char* text : texts) tokenizer.tokens.push_back({text, 0});
  return tokenizer;
}

/// A model that writes texts over others.
TransformerSpec rewriter() {
  TransformerSpec spec{};
  TransformerSpec source{};
  source.head.kind = OutputKind::hidden;
  spec.source = std::make_shared<const TransformerSpec>(std::move(source));
  return spec;
}

Graph graph_of(const TransformerSpec& spec, const TokenizerSpec& tokenizer, uint32_t vocab = 100) {
  Graph graph{};
  graph.vocab = vocab;
  take_task(spec, &tokenizer, graph);
  return graph;
}

}  // namespace

TEST("languages of a model that translates are tokens of known forms, by their codes") {
  const Graph graph = graph_of(rewriter(), tokens_of({"a", "__en__", "fr_XX", "eng_Latn", "<lang:de>", "x_y",
                                                      "____", "en", "__a_very_long_name__"}));
  TEST_ASSERT_TRUE(graph.task == Task::rewrite);
  std::string found;
  for (const LanguageSpec& language : graph.languages)
    found += language.code + "=" + std::to_string(language.id) + " ";
  TEST_ASSERT_EQUAL_STRING("en=1 fr_XX=2 eng_Latn=3 de=4 ", found);
  TEST_ASSERT_FALSE(graph.language_in_source);
}

TEST("Marian's tokens of languages stand in sources") {
  const Graph graph = graph_of(rewriter(), tokens_of({"a", ">>fr<<"}));
  TEST_ASSERT_EQUAL_STRING("fr", graph.languages.at(0).code);
  TEST_ASSERT_TRUE(graph.language_in_source);
}

TEST("tokens that the model's vocabulary lacks are neither languages nor masks") {
  TEST_ASSERT_TRUE(graph_of(rewriter(), tokens_of({"a", "b", "__en__"}), 2).languages.empty());
  TransformerSpec masks{};
  masks.head.kind = OutputKind::masked_token;
  const TokenizerSpec tokenizer = tokens_of({"a", "b", " <mask>"});
  TEST_ASSERT_EQUAL_INT32(2, graph_of(masks, tokenizer).mask_id);
  TEST_ASSERT_EQUAL_INT32(-1, graph_of(masks, tokenizer, 2).mask_id);
}

TEST("a mask is the token [MASK] or <mask> of a model that fills them") {
  TransformerSpec spec{};
  spec.head.kind = OutputKind::masked_token;
  TEST_ASSERT_EQUAL_INT32(1, graph_of(spec, tokens_of({"a", "[MASK]"})).mask_id);
  TEST_ASSERT_EQUAL_INT32(-1, graph_of(spec, tokens_of({"a", "b"})).mask_id);
  spec.head.kind = OutputKind::hidden;
  TEST_ASSERT_EQUAL_INT32(-1, graph_of(spec, tokens_of({"a", "[MASK]"})).mask_id);
}

TEST("a model of one label scores pairs, one of several labels texts") {
  TransformerSpec spec{};
  spec.head.kind = OutputKind::sequence_labels;
  spec.head.labels = {"a"};
  TEST_ASSERT_TRUE(task_of(spec) == Task::score_pairs);
  spec.head.labels = {"a", "b"};
  TEST_ASSERT_TRUE(task_of(spec) == Task::label_texts);
  spec.picture.format.height = 8;
  TEST_ASSERT_TRUE(task_of(spec) == Task::label_pictures);
}

TEST("labels of frames without a blank are no text") {
  TransformerSpec spec{};
  spec.head.kind = OutputKind::token_labels;
  spec.sound = SoundSpec{};
  TEST_ASSERT_TRUE(task_of(spec) == Task::none);
  spec.sound->blank = 0;
  TEST_ASSERT_TRUE(task_of(spec) == Task::transcribe_words);
  spec.sound->waveform = false;
  TEST_ASSERT_TRUE(task_of(spec) == Task::transcribe_tokens);
}
