/* SPDX-License-Identifier: Apache-2.0 */
/* Runs llama.cpp for count_tokens: llama_tokens FILE.gguf PROMPT DECODE DEPTH [no-flash]
 * The tokens of tokens.c, one thread; all else is as the library has it by default. */
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 4096 };

static void be_quiet(enum ggml_log_level level, const char* text, void* user) {
  (void)user;
  if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static void check(const char* what, int fails) {
  if (!fails) return;
  fprintf(stderr, "llama_tokens: %s failed\n", what);
  exit(1);
}

int main(int argc, char** argv) {
  static llama_token ids[MOST_IDS];
  if (argc != 5 && !(argc == 6 && strcmp(argv[5], "no-flash") == 0)) {
    fprintf(stderr, "usage: llama_tokens FILE.gguf PROMPT DECODE DEPTH [no-flash]\n");
    return 2;
  }
  const int prompt = atoi(argv[2]), decode = atoi(argv[3]), depth = atoi(argv[4]);
  const int encode = strcmp(argv[3], "encode") == 0;
  if (prompt < 0 || depth < 0 || prompt + depth > MOST_IDS) return 2;
  llama_log_set(be_quiet, NULL);
  llama_backend_init();
  struct llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  check("loading", model == NULL);
  const int32_t vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
  for (int i = 0; i < MOST_IDS; ++i) ids[i] = (7 + 13 * i) % vocab;

  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = encode ? 512 : 2048;
  params.n_threads = params.n_threads_batch = 1;
  params.embeddings = encode;
  if (argc == 6) params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  struct llama_context* context = llama_init_from_model(model, params);
  check("a context", context == NULL);
  printf("llama.cpp\n");
  if (encode) {
    check("encode", llama_encode(context, llama_batch_get_one(ids, prompt)) != 0);
  } else {
    if (depth) check("prefill", llama_decode(context, llama_batch_get_one(ids, depth)) != 0);
    if (prompt) check("prefill", llama_decode(context, llama_batch_get_one(ids + depth, prompt)) != 0);
    for (int i = 0; i < decode; ++i)
      check("decode", llama_decode(context, llama_batch_get_one(ids + i, 1)) != 0);
  }
  llama_free(context);
  llama_model_free(model);
  return 0;
}
