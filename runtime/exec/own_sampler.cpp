// SPDX-License-Identifier: Apache-2.0
//
// Samplers in the caller's memory: a header, the tokens of the sequence, a bit for each that was generated.
#include <math.h>

#include "runtime/error.h"
#include "runtime/exec/choose.h"
#include "runtime/exec/history.h"
#include "runtime/exec/splitmix.h"
#include "runtime/exec/token_rules.h"

struct mote_sampler {
  mote_sampler_options options;
  uint32_t length;     // tokens of the sequence
  uint32_t generated;  // of them, at the end
  uint64_t accepted;   // of all tokens of the sequence: as many random numbers were taken

  int32_t* ids() { return reinterpret_cast<int32_t*>(this + 1); }
  const int32_t* ids() const { return reinterpret_cast<const int32_t*>(this + 1); }
  uint32_t* flags() { return reinterpret_cast<uint32_t*>(ids() + options.capacity); }

  bool is_generated(uint32_t token) { return (flags()[token / 32] >> token % 32 & 1) != 0; }
  void append(int32_t id, bool picked) {
    ids()[length] = id;
    const uint32_t bit = 1u << length % 32;
    uint32_t& word = flags()[length / 32];
    word = picked ? word | bit : word & ~bit;
    ++length;
  }
};

namespace mote {
namespace {

uint64_t sampler_bytes(uint32_t capacity) {
  const uint64_t words = (uint64_t{capacity} + 31) / 32;
  return sizeof(mote_sampler) + sizeof(int32_t) * (capacity + words);
}

bool is_number(float value) { return !isnan(value) && !isinf(value); }

/// Null if the options are valid, else what is wrong with them.
const char* options_problem(const mote_sampler_options& options) {
  if (options.vocab == 0 || options.vocab > INT32_MAX)
    return "the vocabulary has no tokens, or more than 2^31 - 1";
  if (options.biases == nullptr && options.bias_count != 0) return "biases: null pointer";
  if (options.stop_ids == nullptr && options.stop_count != 0) return "stop_ids: null pointer";
  if (!is_number(options.frequency_penalty) || !is_number(options.presence_penalty))
    return "frequency_penalty and presence_penalty must be numbers";
  for (uint32_t i = 0; i < options.bias_count; ++i) {
    const mote_logit_bias& bias = options.biases[i];
    if (bias.id < 0 || static_cast<uint32_t>(bias.id) >= options.vocab)
      return "a bias is of an id that is none";
    if (isnan(bias.bias) || bias.bias == INFINITY) return "a bias must be a number, or -INFINITY";
  }
  const char* problem = sampling_problem(options.sampling);
  return problem != nullptr ? problem : rules_problem(options.rules);
}

bool has_rules(const mote_token_rules& rules) {
  return (rules.repetition_penalty != 0 && rules.repetition_penalty != 1) || rules.no_repeat_ngram != 0 ||
         rules.forbidden_count != 0 || rules.shortest != 0 || rules.min_tokens != 0 ||
         rules.suppressed_count != 0 || rules.first_suppressed_count != 0;
}

/// Checks that there is room for n more tokens.
mote_status check_capacity(const mote_sampler& sampler, uint32_t n, mote_error* error) {
  if (n <= sampler.options.capacity - sampler.length) return MOTE_OK;
  return fail(error, MOTE_TOO_SMALL, "the sampler has ", sampler.length, " tokens and room for ",
              sampler.options.capacity, ", ", n, " more were given");
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

mote_sampler_options mote_sampler_options_default(const mote_model* model) {
  mote_sampler_options options{};
  options.sampling = mote_sampling_default();
  mote_model_info info;
  mote_model_get_info(model, &info);
  options.stop_ids = info.stop_ids;
  options.stop_count = info.stop_count;
  options.vocab = info.vocab;
  options.capacity = info.context;
  return options;
}

size_t mote_sampler_bytes(uint32_t capacity) {
  const uint64_t bytes = mote::sampler_bytes(capacity);
  return bytes > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(bytes);
}

mote_status mote_sampler_init(void* memory, size_t bytes, const mote_sampler_options* options,
                              mote_sampler** sampler, mote_error* error) {
  if (memory == nullptr || options == nullptr || sampler == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_init: null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % alignof(mote_sampler) != 0)
    return fail(error, MOTE_NOT_ALIGNED, "a sampler's memory must be 8-byte aligned");
  const char* problem = mote::options_problem(*options);
  if (problem != nullptr) return fail(error, MOTE_INVALID_ARGUMENT, problem);
  const uint64_t needed = mote::sampler_bytes(options->capacity);
  if (bytes < needed)
    return fail(error, MOTE_TOO_SMALL, "a sampler of ", options->capacity, " tokens takes ", needed,
                " bytes, given ", uint64_t{bytes});
  *sampler = static_cast<mote_sampler*>(memory);
  **sampler = {*options, 0, 0, 0};
  return MOTE_OK;
}

mote_status mote_sampler_see(mote_sampler* sampler, const int32_t* ids, uint32_t n, mote_error* error) {
  if (sampler == nullptr || (ids == nullptr && n != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_see: null pointer");
  for (uint32_t i = 0; i < n; ++i) {
    if (ids[i] < mote::kNoId || ids[i] >= static_cast<int64_t>(sampler->options.vocab))
      return fail(error, MOTE_INVALID_ARGUMENT, "id ", ids[i], " of a vocabulary of ",
                  sampler->options.vocab);
  }
  const mote_status status = mote::check_capacity(*sampler, n, error);
  if (status != MOTE_OK) return status;
  for (uint32_t i = 0; i < n; ++i) sampler->append(ids[i], false);
  if (n != 0) sampler->generated = 0;
  return MOTE_OK;
}

mote_status mote_sampler_pick(const mote_sampler* sampler, const float* logits, const uint32_t* mask,
                              mote_candidate* scratch, int32_t* id, mote_error* error) {
  if (sampler == nullptr || logits == nullptr || scratch == nullptr || id == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_pick: null pointer");
  const mote_sampler_options& options = sampler->options;
  const int32_t* const ids = sampler->ids();
  const mote::RuledTokens ruled{&options.rules,   ids, sampler->length,   sampler->generated, nullptr,
                                options.stop_ids, 0,   options.stop_count};
  const bool generated_count = options.frequency_penalty != 0 || options.presence_penalty != 0;
  const mote::ChoiceExtras extras{options.frequency_penalty,
                                  options.presence_penalty,
                                  ids + (sampler->length - sampler->generated),
                                  sampler->generated,
                                  options.biases,
                                  options.bias_count,
                                  mask};
  const bool has_extras = generated_count || options.bias_count != 0 || mask != nullptr;
  const uint64_t random =
      mote::splitmix_mix(options.sampling.seed + (sampler->accepted + 1) * mote::kSplitMixStep);
  const mote::Choice choice{&options.sampling,
                            {ids, sampler->length, options.capacity},
                            mote::has_rules(options.rules) ? &ruled : nullptr,
                            random,
                            options.vocab,
                            scratch};
  const int32_t picked = mote::choose(choice, logits, has_extras ? &extras : nullptr);
  if (picked < 0) return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_pick: the mask allows no token");
  *id = picked;
  return MOTE_OK;
}

mote_status mote_sampler_accept(mote_sampler* sampler, int32_t id, mote_error* error) {
  if (sampler == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_accept: null pointer");
  if (id < 0 || static_cast<uint32_t>(id) >= sampler->options.vocab)
    return fail(error, MOTE_INVALID_ARGUMENT, "id ", id, " of a vocabulary of ", sampler->options.vocab);
  const mote_status status = mote::check_capacity(*sampler, 1, error);
  if (status != MOTE_OK) return status;
  sampler->append(id, true);
  ++sampler->generated;
  ++sampler->accepted;
  return MOTE_OK;
}

mote_status mote_sampler_undo(mote_sampler* sampler, uint32_t n, mote_error* error) {
  if (sampler == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_undo: null pointer");
  if (n > sampler->length)
    return fail(error, MOTE_INVALID_ARGUMENT, "the sampler has ", sampler->length, " tokens, not ", n);
  for (uint32_t i = 0; i < n; ++i) sampler->accepted -= sampler->is_generated(--sampler->length);
  if (n <= sampler->generated) {
    sampler->generated -= n;
    return MOTE_OK;
  }
  sampler->generated = 0;
  while (sampler->generated < sampler->length &&
         sampler->is_generated(sampler->length - 1 - sampler->generated)) {
    ++sampler->generated;
  }
  return MOTE_OK;
}

uint32_t mote_sampler_length(const mote_sampler* sampler) { return sampler->length; }

uint32_t mote_sampler_generated(const mote_sampler* sampler) { return sampler->generated; }

}  // extern "C"
