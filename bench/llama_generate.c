// SPDX-License-Identifier: Apache-2.0
//
// llama.cpp in a process without Python, for bench/compare.py, which compiles this against the library that
// the Python package brings:
//   llama_generate MODEL CONTEXT THREADS TOKENS --prompt TEXT
//   llama_generate MODEL CONTEXT THREADS TOKENS --ids 1,2,3
// prints the ids of TOKENS tokens, the likeliest each. All else is as the library has it by default: mapped
// weights, f16 keys and values, prompts in batches, flash attention and repacked weights where it sees fit.
// It does less than llama.cpp's own programs: no run to warm up, no sampler but the maximum.
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostIds = 8192 };

static void be_quiet(enum ggml_log_level level, const char* text, void* user) {
  (void)user;
  if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static int32_t parse_ids(char* text, llama_token* ids) {
  int32_t count = 0;
  for (char* id = strtok(text, ","); id != NULL && count < kMostIds; id = strtok(NULL, ",")) {
    ids[count++] = (llama_token)atoi(id);
  }
  return count;
}

static llama_token likeliest(const float* logits, int32_t count) {
  llama_token best = 0;
  for (llama_token id = 1; id < count; ++id) {
    if (logits[id] > logits[best]) best = id;
  }
  return best;
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  static llama_token ids[kMostIds];
  llama_log_set(be_quiet, NULL);
  llama_backend_init();
  struct llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (model == NULL) return 1;
  const struct llama_vocab* vocab = llama_model_get_vocab(model);
  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = (uint32_t)atoi(argv[2]);
  params.n_threads = params.n_threads_batch = atoi(argv[3]);
  struct llama_context* context = llama_init_from_model(model, params);
  if (context == NULL) return 1;
  int32_t count = strcmp(argv[5], "--ids") == 0
                      ? parse_ids(argv[6], ids)
                      : llama_tokenize(vocab, argv[6], (int32_t)strlen(argv[6]), ids, kMostIds, true, true);
  for (int32_t left = atoi(argv[4]); left > 0; --left) {
    if (count <= 0 || llama_decode(context, llama_batch_get_one(ids, count)) != 0) return 1;
    ids[0] = likeliest(llama_get_logits_ith(context, -1), llama_vocab_n_tokens(vocab));
    count = 1;
    printf("%d\n", ids[0]);
  }
  llama_free(context);
  llama_model_free(model);
  llama_backend_free();
}
