// SPDX-License-Identifier: Apache-2.0
//
// Sessions of any options, each in an arena of exactly the bytes that it asks for.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "mote/posix.h"
#include "runtime/file/model.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/choices.h"
#include "tests/support/guarded_buffer.h"

namespace test {

/// Ends the process, so that a fuzzer notices too, and says where.
inline void must(bool condition, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: not as it must be\n", file, line);
  std::abort();
}

/// Memory that ends where the heap's block does, which AddressSanitizer watches, or else where memory does.
class ExactArena {
 public:
  ExactArena(size_t bytes, uint8_t content) : bytes_(bytes) { std::memset(data(), content, bytes); }
#ifdef MOTE_SANITIZED
  uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

 private:
  AlignedBytes bytes_;
#else
  uint8_t* data() const { return bytes_.data<uint8_t>(); }
  size_t size() const { return bytes_.bytes(); }

 private:
  struct Bytes : mote::testing::GuardedBuffer {
    explicit Bytes(size_t count) : GuardedBuffer(count, mote::testing::Edge::end) {}
  };
  Bytes bytes_;
#endif
};

class AnySession {
 public:
  static constexpr size_t kMostBytes = size_t{12} << 20;

  AnySession() = default;
  AnySession(const AnySession&) = delete;  // sessions hold pointers into their arena
  AnySession& operator=(const AnySession&) = delete;

  /// The arena holds `content` before. MOTE_TOO_SMALL where it would be larger than kMostBytes.
  mote_status open(const mote_model* model, const mote_session_options& options, uint8_t content = 0xEE) {
    mote_memory memory{};
    mote_error error{};
    mote_status status = mote_session_memory(model, &options, &memory, &error);
    const size_t bytes = mote_session_bytes(model, &options);
    must((status == MOTE_OK) == (bytes != 0));
    if (status == MOTE_OK) must(sum(memory) == bytes);
    if (bytes > kMostBytes) return MOTE_TOO_SMALL;
    arena_ = std::make_unique<ExactArena>(std::max<size_t>(bytes, MOTE_ALIGNMENT), content);
    if (status == MOTE_OK) {
      must(mote_session_init(model, &options, arena_->data(), bytes - 1, &session_, &error) ==
           MOTE_TOO_SMALL);
    }
    const mote_status made =
        mote_session_init(model, &options, arena_->data(), arena_->size(), &session_, &error);
    // Only with memory is it seen that an operation reads what none has written.
    must(made == status || (status == MOTE_OK && made == MOTE_CORRUPT_FILE));
    status = made;
    if (status != MOTE_OK) must(error.code == status && error.text[0] != '\0');
    return status;
  }

  mote_session* get() const { return session_; }
  size_t bytes() const { return arena_->size(); }

 private:
  static uint64_t sum(const mote_memory& memory) {
    uint64_t all = 0;
    for (const uint64_t part : {memory.session, memory.activations, memory.scratch, memory.kv_cache,
                                memory.states, memory.sampler, memory.text}) {
      must(!__builtin_add_overflow(all, part, &all));
    }
    return all;
  }

  std::unique_ptr<ExactArena> arena_;
  mote_session* session_ = nullptr;
};

/// 1 to 3 threads.
inline mote_platform platform_of(uint32_t threads) {
  static mote_posix_pool* const pools[] = {nullptr, mote_posix_pool_create(2), mote_posix_pool_create(3)};
  return mote_posix_pool_platform(pools[threads - 1]);
}

/// Reads every row, as a caller who traces may.
inline void read_trace(void*, const char* name, const float* data, uint32_t rows, uint32_t width,
                       size_t stride) {
  must(std::strlen(name) < SIZE_MAX);
  float largest = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t i = 0; i < width; ++i) largest = std::max(largest, data[row * stride + i]);
  }
  must(!(largest < 0));
}

inline bool is_encoder(const mote_model* model) {
  mote_output_info output;
  mote_model_get_output(model, &output);
  return output.kind != MOTE_OUTPUT_NEXT_TOKEN;
}

/// One option of any number, valid or not.
inline void spoil(mote_session_options* options, Choices* choices) {
  uint32_t* const fields[] = {&options->context,      &options->batch,         &options->chunk,
                              &options->logit_rows,   &options->threads,       &options->text_bytes,
                              &options->kv_positions, &options->decode_threads};
  *fields[choices->below(std::size(fields))] = choices->word();
}

/// Small ones where every choice is 0.
inline mote_session_options choose_options(const mote_model* model, Choices* choices) {
  constexpr uint32_t kContexts[] = {16, 1, 2, 15, 17, 28, 100, 127, 128, 129, 256, 257, 600, 4096, 1u << 24};
  constexpr uint32_t kBatches[] = {1, 2, 3, 5, 16, 65, 310, 4096};
  constexpr uint32_t kChunks[] = {4, 1, 5, 16, 17, 64, 128, 129, 300, 768, 3600, 4096};
  constexpr uint32_t kTextBytes[] = {256, 0, 1, 7, 33};
  mote_model_info info;
  mote_model_get_info(model, &info);
  const bool encoder = is_encoder(model);
  mote_session_options options = mote_session_options_default(model);
  options.context = std::min(choices->one_of(kContexts), info.context);
  options.batch = std::max(choices->one_of(kBatches), encoder ? 2u : 1u);
  const bool reads_whole = encoder || model->sources;
  options.chunk = std::max({choices->one_of(kChunks), options.batch, reads_whole ? 16u : 1u});
  const uint32_t rows[] = {encoder ? options.chunk : options.batch, options.batch, options.chunk,
                           (options.batch + options.chunk) / 2};
  options.logit_rows = choices->one_of(rows);
  options.platform = platform_of(1 + choices->below(3));
  options.kv_dtype = static_cast<mote_kv_dtype>(choices->below(MOTE_KV_I8 + 1));
  options.text_bytes = std::min(choices->one_of(kTextBytes), options.text_bytes);
  options.isa = static_cast<mote_isa>(choices->below(MOTE_ISA_AMX_INT8 + 1));
  const uint32_t rare = choices->below(16);
  if (rare == 1) options.trace = read_trace;
  if (rare == 2) spoil(&options, choices);
  if (rare == 3) options.decode_threads = 1;
  if (rare >= 12 && !encoder) options.kv_positions = choices->one_of({1u, 128u, 129u, 300u, 2000u});
  mote_memory memory;
  if (mote_session_memory(model, &options, &memory, nullptr) == MOTE_UNSUPPORTED_ISA)
    options.isa = MOTE_ISA_AUTO;
  return options;
}

}  // namespace test
