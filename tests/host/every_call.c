/* SPDX-License-Identifier: Apache-2.0 */
/* Makes every call of mote/host.h and mote/convert.h from C99, over the models of a folder: every_call
 * FOLDER. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/convert.h"
#include "mote/host.h"

static const char* folder;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "every_call: %s: %s\n", what, why);
  exit(1);
}

/* Checks a result whose JSON must hold `expected`, and frees it. */
static void expect(mote_host_result* result, const char* what, const char* expected) {
  if (mote_host_status(result) != MOTE_OK) fail(what, mote_host_sentence(result));
  if (strstr(mote_host_json(result), expected) == NULL) fail(what, mote_host_json(result));
  mote_host_free(result);
}

static mote_host* open_model(const char* name, const char* type, const char* options) {
  char source[1024], output[1024];
  mote_convert_result* done;
  mote_host* model;
  snprintf(source, sizeof source, "%s/%s", folder, name);
  snprintf(output, sizeof output, "%s/%s.mote", folder, name);
  done = mote_convert(source, output, type, NULL);
  if (mote_convert_status(done) != MOTE_OK) fail(source, mote_convert_sentence(done));
  if (strstr(mote_convert_json(done), "\"file_bytes\"") == NULL) fail(source, mote_convert_json(done));
  mote_convert_free(done);
  expect(mote_host_open(output, options, &model), output, "\"weight_bytes\"");
  return model;
}

static mote_host_input text(const char* words) {
  mote_host_input input;
  memset(&input, 0, sizeof input);
  input.text = words;
  return input;
}

static void take_text(void* user, const char* part, size_t bytes, int32_t id) {
  (void)part;
  *(size_t*)user += bytes + (id >= 0);
}

static void take_segment(void* user, const char* part, size_t bytes, double begin, double end) {
  (void)part;
  *(size_t*)user += bytes + (end >= begin);
}

static void set_up(mote_host* model) {
  if (mote_host_model(model) == NULL) fail("model", "null");
  if (mote_host_set_threads(model, 2, 1) != MOTE_OK) fail("set_threads", "refused");
  if (mote_host_set_backend(model, NULL) != MOTE_OK) fail("set_backend", "refused");
}

static void generate_and_chat(void) {
  mote_host* model =
      open_model("llama", "{\"type\": \"q8\", \"chat-format\": \"zephyr\"}", "{\"threads\": 1}");
  mote_host_input input = text("hello");
  mote_host_calls calls;
  mote_host_chat* chat;
  mote_host_result* saved;
  const void* bytes;
  uint64_t count;
  size_t heard = 0;
  memset(&calls, 0, sizeof calls);
  calls.user = &heard;
  calls.text = take_text;
  set_up(model);
  expect(mote_host_verify(model, NULL), "verify", "\"self_test\":true");
  expect(mote_host_generate(model, &input, 1, "{\"tokens\": 4}", &calls), "generate",
         "\"finish\":\"length\"");
  if (heard == 0) fail("generate", "the callback heard nothing");
  expect(mote_host_chat_begin(model, "{\"tokens\": 4, \"greedy\": true}", &chat), "chat_begin",
         "\"context\"");
  expect(mote_host_chat_say(chat, &input, 1, NULL), "chat_say", "\"reused_tokens\":0");
  saved = mote_host_chat_save(chat);
  bytes = mote_host_bytes(saved, &count);
  if (bytes == NULL) fail("chat_save", mote_host_sentence(saved));
  expect(mote_host_chat_reset(chat), "chat_reset", "null");
  expect(mote_host_chat_load(chat, bytes, count), "chat_load", "null");
  mote_host_free(saved);
  expect(mote_host_chat_say(chat, &input, 1, NULL), "chat_say", "\"reused_tokens\"");
  mote_host_chat_end(chat);
  input = text("hello and so on");
  expect(mote_host_evaluate(model, NULL, &input, "{\"perplexity\": true}", &calls), "evaluate",
         "\"perplexity\"");
  expect(mote_host_info(model), "info", "\"generate\"");
  mote_host_cancel(model);
  mote_host_close(model);
}

static void read_texts(void) {
  mote_host* model = open_model("bert_sentence_dense", "{\"type\": \"f32\"}", NULL);
  mote_host_input texts[3];
  mote_host_result *embedded, *tokens;
  uint64_t shape[4];
  const int32_t ids[] = {1, 2, 3};
  texts[0] = text("hello world");
  texts[1] = text("the world");
  texts[2] = text("a cat");
  embedded = mote_host_embed(model, texts, 3, NULL, NULL);
  mote_host_shape(embedded, shape);
  if (mote_host_values(embedded, NULL) == NULL || shape[0] != 3 || shape[1] < 2) fail("embed", "no vectors");
  expect(embedded, "embed", "\"rows\":3");
  expect(mote_host_rank(model, texts, 3, "{\"top\": 1}", NULL), "rank", "\"score\"");
  expect(mote_host_attention(model, texts, NULL), "attention", "\"heads\"");
  expect(mote_host_tokenize(model, texts, 2, NULL), "tokenize", "\"offsets\"");
  tokens = mote_host_tokenize(model, texts, 1, "{\"offsets\": false}");
  if (mote_host_ids(tokens, NULL) == NULL) fail("ids", mote_host_sentence(tokens));
  expect(tokens, "tokenize", "null");
  tokens = mote_host_rerank(model, texts, 3, NULL, NULL);
  if (mote_host_remedy(tokens) != MOTE_REMEDY_RANK) fail("remedy", mote_host_sentence(tokens));
  mote_host_free(tokens);
  expect(mote_host_detokenize(model, ids, 3, "{\"special\": true}"), "detokenize", "\"text\"");
  mote_host_close(model);
  model = open_model("bert_cross_encoder", "{\"type\": \"f32\"}", NULL);
  expect(mote_host_rerank(model, texts, 3, NULL, NULL), "rerank", "\"index\"");
  mote_host_close(model);
  model = open_model("bert_classifier", "{\"type\": \"f32\"}", NULL);
  expect(mote_host_classify(model, texts, 3, "{\"top\": 2}", NULL), "classify", "\"labels\"");
  mote_host_close(model);
}

static void render_template(void) {
  mote_host_input inputs[2];
  inputs[0] = text("{{ messages[0].content }}{{ eos_token }}");
  inputs[1] = text("[{\"role\": \"user\", \"content\": \"hi\"}]");
  expect(mote_host_template(inputs, 2, "{\"set\": {\"eos_token\": \"!\"}}"), "template", "\"hi!\"");
}

static void compile_grammar(void) {
  expect(mote_host_grammar(NULL, "{\"regex\": \"[0-9]{3}\"}"), "grammar", "\"states\":4");
}

static mote_host_input path(const char* name) {
  mote_host_input input;
  memset(&input, 0, sizeof input);
  input.path = name;
  return input;
}

static void see_pictures(void) {
  static uint8_t pixels[24 * 24 * 3];
  mote_host* model = open_model("vit_classifier", "{\"type\": \"f32\"}", NULL);
  mote_host_input picture;
  mote_host_result* result;
  uint64_t shape[4];
  char options[1100];
  size_t i;
  for (i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(i * 7);
  memset(&picture, 0, sizeof picture);
  picture.pixels = pixels;
  picture.width = picture.height = 24;
  expect(mote_host_classify(model, &picture, 1, "{\"top\": 1}", NULL), "classify", "\"labels\"");
  mote_host_close(model);
  model = open_model("yolos", "{\"type\": \"f32\", \"picture-size\": \"48x48\"}", NULL);
  expect(mote_host_detect(model, &picture, 1, "{\"threshold\": 0}", NULL), "detect", "\"box\"");
  mote_host_close(model);
  model = open_model("depth_anything", "{\"type\": \"f32\"}", NULL);
  result = mote_host_depth(model, &picture, NULL, NULL);
  mote_host_shape(result, shape);
  if (shape[0] != 24 || shape[1] != 24) fail("depth", mote_host_sentence(result));
  expect(result, "depth", "\"least\"");
  snprintf(options, sizeof options, "{\"output\": \"%s/depth.png\"}", folder);
  result = mote_host_depth(model, &picture, options, NULL);
  if (mote_host_values(result, NULL) != NULL) fail("depth", "values beside a file");
  expect(result, "depth", "\"most\"");
  mote_host_close(model);
}

static void speak_and_hear(void) {
  mote_host* model = open_model("vits", "{\"type\": \"f32\"}", NULL);
  mote_host_input words = text("hello"), sound;
  mote_host_result* said = mote_host_speak(model, &words, NULL, NULL);
  mote_host_calls calls;
  size_t heard = 0;
  uint64_t count;
  memset(&sound, 0, sizeof sound);
  sound.samples = mote_host_values(said, &count);
  sound.sample_count = count;
  sound.rate = 16000;
  if (sound.samples == NULL) fail("speak", mote_host_sentence(said));
  mote_host_close(model);
  model = open_model("wav2vec2_ctc", "{\"type\": \"f32\"}", NULL);
  memset(&calls, 0, sizeof calls);
  calls.user = &heard;
  calls.segment = take_segment;
  expect(mote_host_transcribe(model, &sound, NULL, &calls), "transcribe", "\"segments\"");
  if (heard == 0) fail("transcribe", "no segment was told");
  sound = path("/no/such/sound");
  said = (mote_host_free(said), mote_host_transcribe(model, &sound, NULL, NULL));
  if (mote_host_status(said) != MOTE_BAD_INPUT) fail("transcribe", "a sound that is not there was heard");
  mote_host_free(said);
  mote_host_close(model);
}

static void translate(void) {
  mote_host* model = open_model("t5", "{\"type\": \"f32\"}", NULL);
  mote_host_input words = text("hello");
  expect(mote_host_translate(model, &words, 1, "{\"tokens\": 4, \"beams\": 2}", NULL), "translate",
         "\"hypotheses\"");
  expect(mote_host_summarize(model, &words, 1, "{\"tokens\": 4}", NULL), "summarize", "\"score\"");
  mote_host_close(model);
}

int main(int count, char** arguments) {
  mote_convert_result* list = mote_convert_list();
  if (count != 2) fail("usage", "every_call FOLDER");
  folder = arguments[1];
  if (strstr(mote_convert_json(list), "\"llama\"") == NULL) fail("list", mote_convert_json(list));
  mote_convert_free(list);
  if (strstr(mote_convert_type_names(1), "q8c") == NULL) fail("type_names", mote_convert_type_names(1));
  generate_and_chat();
  read_texts();
  render_template();
  compile_grammar();
  see_pictures();
  speak_and_hear();
  translate();
  puts("every call answers");
  return 0;
}
