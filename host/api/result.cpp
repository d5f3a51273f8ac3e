// SPDX-License-Identifier: Apache-2.0
#include "host/api/result.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "host/base/exception_status.h"

namespace mote::api {

#define SAME(remedy, name) \
  static_assert(static_cast<int>(host::Remedy::remedy) == static_cast<int>(MOTE_REMEDY_##name))
SAME(none, NONE);
SAME(convert, CONVERT);
SAME(convert_directory, CONVERT_DIRECTORY);
SAME(less_context, LESS_CONTEXT);
SAME(run_ids, RUN_IDS);
SAME(forward_ids, FORWARD_IDS);
SAME(chat_format, CHAT_FORMAT);
SAME(forget_turns, FORGET_TURNS);
SAME(shorter_message, SHORTER_MESSAGE);
SAME(generate, GENERATE);
SAME(truncate, TRUNCATE);
SAME(pooling, POOLING);
SAME(rank, RANK);
SAME(embed, EMBED);
SAME(give_question, GIVE_QUESTION);
SAME(no_question, NO_QUESTION);
SAME(vision_tower, VISION_TOWER);
SAME(depth, DEPTH);
SAME(detect, DETECT);
SAME(sound_steps, SOUND_STEPS);
SAME(give_ids, GIVE_IDS);
SAME(convert_tokenizer, CONVERT_TOKENIZER);
SAME(encoder_tasks, ENCODER_TASKS);
SAME(continue_text, CONTINUE_TEXT);
SAME(whisper_alone, WHISPER_ALONE);
SAME(speech2text_alone, SPEECH2TEXT_ALONE);
SAME(fewer_threads, FEWER_THREADS);
SAME(text_model, TEXT_MODEL);
SAME(more_context, MORE_CONTEXT);
SAME(save_state, SAVE_STATE);
SAME(verify, VERIFY);
SAME(vectors, VECTORS);
#undef SAME

host::Status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Stopped&) {
    return host::cancelled();
  } catch (const Failure& failure) {
    return failure.status();
  } catch (...) {
    ExceptionStatus caught = status_of_thrown();
    return {caught.code, std::move(caught.sentence)};
  }
}

mote_host_result* make_result(const host::Status& status, Reply& reply) noexcept {
  try {
    auto result = std::make_unique<mote_host_result>();
    result->status = status.code();
    if (!status.ok()) {
      result->sentence = host::one_line(status.text());
      result->remedy = static_cast<mote_remedy>(status.remedy());
      return result.release();
    }
    result->json = reply.json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    result->values = std::move(reply.values);
    result->ids = std::move(reply.ids);
    result->bytes = std::move(reply.bytes);
    if (result->values.empty()) return result.release();
    std::fill(std::begin(result->shape), std::end(result->shape), 1);
    std::copy(reply.shape.begin(), reply.shape.end(), result->shape);
    return result.release();
  } catch (...) {
    auto* const result = new (std::nothrow) mote_host_result;
    if (result != nullptr) result->status = MOTE_OUT_OF_MEMORY;
    return result;
  }
}

}  // namespace mote::api

mote_status mote_host_status(const mote_host_result* result) {
  return result == nullptr ? MOTE_OUT_OF_MEMORY : result->status;
}

const char* mote_host_sentence(const mote_host_result* result) {
  return result == nullptr ? "not enough memory" : result->sentence.c_str();
}

mote_remedy mote_host_remedy(const mote_host_result* result) {
  return result == nullptr ? MOTE_REMEDY_NONE : result->remedy;
}

const char* mote_host_json(const mote_host_result* result) {
  return result == nullptr ? "null" : result->json.c_str();
}

const float* mote_host_values(const mote_host_result* result, uint64_t* count) {
  const size_t size = result == nullptr ? 0 : result->values.size();
  if (count != nullptr) *count = size;
  return size == 0 ? nullptr : result->values.data();
}

void mote_host_shape(const mote_host_result* result, uint64_t shape[4]) {
  for (int i = 0; i < 4; ++i) shape[i] = result == nullptr ? 0 : result->shape[i];
}

const int32_t* mote_host_ids(const mote_host_result* result, uint64_t* count) {
  const size_t size = result == nullptr ? 0 : result->ids.size();
  if (count != nullptr) *count = size;
  return size == 0 ? nullptr : result->ids.data();
}

const void* mote_host_bytes(const mote_host_result* result, uint64_t* count) {
  const size_t size = result == nullptr ? 0 : result->bytes.size();
  if (count != nullptr) *count = size;
  return size == 0 ? nullptr : result->bytes.data();
}

void mote_host_free(mote_host_result* result) { delete result; }
