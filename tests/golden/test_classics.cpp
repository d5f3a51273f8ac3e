// SPDX-License-Identifier: Apache-2.0
//
// The recurrent and linear-attention models in tests/golden/models, from their files to the outputs of the
// original implementation.
#include <algorithm>
#include <cmath>

#include "tests/golden/golden_runs.h"

namespace {

using mote::convert::SafetensorsFile;
using Traced = test::TracedRows;

std::vector<int32_t> ids_of(const SafetensorsFile& golden, const std::string& name) {
  const std::vector<int64_t> stored = golden.i64(name);
  return {stored.begin(), stored.end()};
}

/// Models of one stack; an encoder-decoder has inputs of its own.
std::vector<std::string> single_stacks() {
  std::vector<std::string> names;
  for (const std::string& name : test::golden_names("classic")) {
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    if (!golden.has("decoder_input_ids")) names.push_back(name);
  }
  return names;
}

void run(mote_session* session, bool encoder, const std::vector<int32_t>& ids) {
  mote_error error{};
  const auto n = static_cast<uint32_t>(ids.size());
  const mote_batch batch{ids.data(), nullptr, &n, 1, nullptr, 0, nullptr, {}, {}, {}};
  const mote_status status = encoder ? mote_encode(session, &batch, &error)
                                     : mote_prefill(session, 0, ids.data(), n, MOTE_LOGITS_ALL, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
}

/// Logits [tokens, vocab] and the traced values of one text.
std::vector<float> logits_of(const std::string& name, const test::OpenModel& model, mote_isa isa,
                             Traced* traced) {
  const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
  const std::vector<int32_t> ids = ids_of(golden, "input_ids");
  const auto n = static_cast<uint32_t>(ids.size());
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.chunk = options.logit_rows = options.context = n;
  if (traced != nullptr) traced->trace(options);
  const test::OpenSession session(model, options);
  const bool encoder = !golden.has("greedy_ids");
  run(session.get(), encoder, ids);
  std::vector<float> logits;
  for (uint32_t i = 0; i < n; ++i) {
    const float* row =
        encoder ? mote_session_output(session.get(), i) : mote_session_logits(session.get(), i);
    logits.insert(logits.end(), row, row + model.info().vocab);
  }
  return logits;
}

std::vector<int32_t> greedy_ids(const test::OpenModel& model, mote_isa isa, const std::vector<int32_t>& ids,
                                size_t steps) {
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.context = static_cast<uint32_t>(ids.size() + steps);
  const test::OpenSession session(model, options);
  return test::continuation(session, ids, steps);
}

/// Mean KL divergence of rows of logits from the expected ones.
double mean_divergence_of(const std::vector<float>& expected, const std::vector<float>& actual,
                          size_t vocab) {
  const auto log_sum = [&](const float* logits) {
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < vocab; ++i) largest = std::max(largest, double{logits[i]});
    for (size_t i = 0; i < vocab; ++i) sum += std::exp(double{logits[i]} - largest);
    return largest + std::log(sum);
  };
  double all = 0;
  for (size_t first = 0; first < expected.size(); first += vocab) {
    const float *p = &expected[first], *q = &actual[first];
    const double p_sum = log_sum(p), q_sum = log_sum(q);
    for (size_t i = 0; i < vocab; ++i)
      all += std::exp(double{p[i]} - p_sum) * ((double{p[i]} - p_sum) - (double{q[i]} - q_sum));
  }
  return all * static_cast<double>(vocab) / static_cast<double>(expected.size());
}

}  // namespace

TEST("every golden classic of one stack gives the stored logits, hidden states and greedy ids") {
  const std::vector<std::string> names = single_stacks();
  TEST_ASSERT_GREATER_OR_EQUAL(8u, names.size());
  for (const std::string& name : names) {
    const test::OpenModel model(test::golden_file(name, "f32"));
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    for (const mote_isa isa : test::all_families()) {
      Traced traced;
      traced.values["logits"] = logits_of(name, model, isa, &traced);
      for (const auto& [stored, tensor] : golden.tensors()) {
        if (tensor.dtype != "F32" || stored.starts_with("second.")) continue;
        CAPTURE(name, mote_isa_name(isa), stored);
        REQUIRE(traced.values.count(stored) == 1);
        const std::vector<float> expected = golden.f32(stored), &actual = traced.values[stored];
        TEST_ASSERT_EQUAL_UINT32(expected.size(), actual.size());
        TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(name), expected.data(), actual.data(),
                                       expected.size());
      }
      if (!golden.has("greedy_ids")) continue;
      const std::vector<int32_t> expected = ids_of(golden, "greedy_ids");
      CAPTURE(name, mote_isa_name(isa));
      REQUIRE(greedy_ids(model, isa, ids_of(golden, "input_ids"), expected.size()) == expected);
    }
  }
}

TEST("a second segment of Transformer-XL sees the memory that the first one left, in any chunks") {
  const test::OpenModel model(test::golden_file("transformer_xl", "f32"));
  const SafetensorsFile golden(test::golden_folder() / "transformer_xl/golden.safetensors");
  const std::vector<int32_t> first = ids_of(golden, "input_ids"), second = ids_of(golden, "second.input_ids");
  const std::vector<float> expected = golden.f32("second.logits");
  const uint32_t vocab = model.info().vocab;
  TEST_ASSERT_EQUAL_UINT32(15, mote_model_memory(model.get()));
  for (const mote_isa isa : test::all_families()) {
    for (const uint32_t step : {1u, 5u, 64u}) {
      CAPTURE(mote_isa_name(isa), step);
      mote_session_options options = mote_session_options_default(model.get());
      options.isa = isa;
      options.context = options.chunk = options.logit_rows = 64;
      const test::OpenSession session(model, options);
      const auto count = static_cast<uint32_t>(second.size());
      test::prefill(session.get(), first, vocab);
      REQUIRE(mote_session_begin_segment(session.get(), 0, nullptr) == MOTE_OK);
      std::vector<float> logits;
      for (uint32_t done = 0; done < count; done += step) {
        const uint32_t n = std::min(step, count - done);
        REQUIRE(mote_prefill(session.get(), 0, second.data() + done, n, MOTE_LOGITS_ALL, nullptr) == MOTE_OK);
        for (uint32_t row = 0; row < n; ++row) {
          const std::vector<float> one = test::logits_of(session.get(), vocab, row);
          logits.insert(logits.end(), one.begin(), one.end());
        }
      }
      TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance("transformer_xl"), expected.data(), logits.data(),
                                     expected.size());
    }
  }
}

TEST("classics in 16 and 8 bits diverge from the stored logits as little as decoders may") {
  for (const std::string& name : single_stacks()) {
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    const std::vector<float> expected = golden.f32("logits");
    for (const auto& [type, bound] : {std::pair("f16", 1e-5), std::pair("q8g32", 0.01)}) {
      const test::OpenModel model(test::golden_file(name, type));
      const std::vector<float> actual = logits_of(name, model, MOTE_ISA_AUTO, nullptr);
      CAPTURE(name, type);
      TEST_ASSERT_LESS_THAN(bound, mean_divergence_of(expected, actual, model.info().vocab));
    }
  }
}

TEST("a session of a recurrent or linear-attention model has as many bytes for 16,384 tokens as for 16") {
  for (const char* name : {"rnn", "lstm", "gru", "linear_attention", "performer_causal"}) {
    const test::OpenModel model(test::golden_file(name, "f32"));
    const auto memory_at = [&](uint32_t context) {
      mote_session_options options = mote_session_options_default(model.get());
      options.context = context;
      options.chunk = 16;
      mote_memory memory{};
      REQUIRE(mote_session_memory(model.get(), &options, &memory, nullptr) == MOTE_OK);
      return memory;
    };
    const mote_memory few = memory_at(16), many = memory_at(16384);
    CAPTURE(name);
    TEST_ASSERT_GREATER_THAN(uint64_t{0}, few.states);
    TEST_ASSERT_EQUAL_UINT64(few.states, many.states);
    TEST_ASSERT_EQUAL_UINT64(0, many.kv_cache);
    TEST_ASSERT_EQUAL_UINT64(few.activations + few.scratch, many.activations + many.scratch);
  }
}
