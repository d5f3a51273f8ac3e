// SPDX-License-Identifier: Apache-2.0
//
// The scratch of a session is enough for every step: of tokens, of selected rows and of sequences, with fewer
// rows than a pass, as many, and far more.
#include <functional>

#include "tests/support/encode.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/test_model.h"
#include "tests/support/thread_pool.h"

namespace {

using test::Sequences;

#ifdef __SANITIZE_THREAD__  // whose subject is the threads: they share work alike in all types
const char* const kTypes[] = {"q4g32"};
#else
const char* const kTypes[] = {"f32", "f16", "q8g32", "q4g32", "q4mg32", "q8c", "q4k", "q6k"};
#endif

/// Encoders by what their last linear operations have rows of.
const char* const kOfSelectedRows = "roberta_masked_lm";
const char* const kOfSequences = "bert_classifier";

/// Memory that ends where the last accessible byte does.
struct LastBytes : mote::testing::GuardedBuffer {
  explicit LastBytes(size_t count) : GuardedBuffer(count, mote::testing::Edge::end) {}
  size_t size() const { return bytes(); }
};
using GuardedSession = test::SessionIn<LastBytes>;

/// Each distinct sequence alone, in a session that holds no more.
std::vector<float> encode_alone(const test::OpenModel& model, const mote_output_info& output, mote_isa isa,
                                const Sequences& sequences) {
  mote_session_options options = mote_session_options_default(model.get());
  options.context = options.chunk = options.logit_rows = 16;
  options.threads = 1;
  options.isa = isa;
  const GuardedSession session(model, options);
  std::map<std::vector<int32_t>, std::vector<float>> known;
  std::vector<float> all;
  for (const auto& sequence : sequences) {
    std::vector<float>& rows = known[sequence];
    if (rows.empty()) rows = test::encode(session.get(), output, {sequence});
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// `count` sequences of 9 to 15 tokens, of 24 different ones.
Sequences short_sequences(uint32_t count) {
  Sequences sequences;
  for (uint32_t i = 0; i < count; ++i) sequences.push_back(test::some_ids(9 + i % 24 % 7, 100, i % 24));
  return sequences;
}

uint32_t tokens_of(const Sequences& sequences) {
  size_t tokens = 0;
  for (const auto& sequence : sequences) tokens += sequence.size();
  return static_cast<uint32_t>(tokens);
}

/// Calls f(threads, platform) for pools of 1, 2 and 3 threads.
void each_pool(const std::function<void(uint32_t, const mote_platform&)>& f) {
  for (const uint32_t threads : {1u, 2u, 3u}) {
    const test::ThreadPool pool(threads);
    f(threads, pool.platform());
  }
}

}  // namespace

TEST("a batch of any size has the bits of its sequences alone and stays inside its arena", "[values]") {
  for (const char* name : {kOfSelectedRows, kOfSequences}) {
    for (const char* type : kTypes) {
      const test::OpenModel model(test::golden_file(name, type));
      mote_output_info output;
      mote_model_get_output(model.get(), &output);
      for (const mote_isa isa : test::all_families()) {
        // Below a pass of one thread, as many rows as a pass of two has, and far above one of three.
        for (const uint32_t count : {5u, 21u, 310u}) {
          const Sequences sequences = short_sequences(count);
          const std::vector<float> alone = encode_alone(model, output, isa, sequences);
          each_pool([&](uint32_t threads, const mote_platform& platform) {
            CAPTURE(name, type, mote_isa_name(isa), count, threads);
            mote_session_options options = mote_session_options_default(model.get());
            options.platform = platform;
            options.isa = isa;
            options.threads = threads;
            options.context = 16;
            options.batch = count;
            options.chunk = options.logit_rows = tokens_of(sequences);
            const GuardedSession session(model, options);
            REQUIRE(test::same_bits(alone, test::encode(session.get(), output, sequences)));
          });
        }
      }
    }
  }
}

TEST("a prompt of any length has the logits of its tokens one by one and stays inside its arena") {
  for (const char* type : kTypes) {
    const test::OpenModel model(test::golden_file("llama", type));
    const uint32_t vocab = model.info().vocab;
    const auto ids = test::some_ids(60, vocab);
    for (const mote_isa isa : test::all_families()) {
      mote_session_options options = test::small_options(model);
      options.isa = isa;
      options.threads = options.chunk = options.logit_rows = 1;
      const GuardedSession one(model, options);
      std::vector<float> expected;
      for (const int32_t id : ids) {
        const auto logits = test::prefill(one.get(), {id}, vocab);
        expected.insert(expected.end(), logits.begin(), logits.end());
      }
      for (const uint32_t rows : {1u, 15u, 60u}) {
        each_pool([&](uint32_t threads, const mote_platform& platform) {
          CAPTURE(type, mote_isa_name(isa), rows, threads);
          options.platform = platform;
          options.isa = isa;
          options.threads = threads;
          options.chunk = options.logit_rows = rows;
          const GuardedSession session(model, options);
          std::vector<float> actual;
          for (uint32_t first = 0; first < 60; first += rows) {
            mote_error error{};
            REQUIRE(mote_prefill(session.get(), 0, &ids[first], rows, MOTE_LOGITS_ALL, &error) == MOTE_OK);
            for (uint32_t row = 0; row < rows; ++row) {
              const auto logits = test::logits_of(session.get(), vocab, row);
              actual.insert(actual.end(), logits.begin(), logits.end());
            }
          }
          REQUIRE(test::same_bits(expected, actual));
        });
      }
    }
  }
}
