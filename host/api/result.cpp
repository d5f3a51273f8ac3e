// SPDX-License-Identifier: Apache-2.0
#include "host/api/result.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "host/base/error.h"
#include "host/base/options.h"

namespace mote::api {

host::Status status_of_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Stopped&) {
      return host::cancelled();
    } catch (const OptionError& error) {
      return {MOTE_INVALID_ARGUMENT, error.what()};
    } catch (const convert::Error& error) {
      return {MOTE_BAD_INPUT, error.what()};
    } catch (const std::bad_alloc&) {
      return {MOTE_OUT_OF_MEMORY, "not enough memory"};
    } catch (const std::exception& error) {
      return {MOTE_BAD_INPUT, error.what()};
    } catch (...) {
      return {MOTE_BAD_INPUT, "unknown failure"};
    }
  } catch (...) {  // no memory for a sentence
    return {MOTE_OUT_OF_MEMORY, ""};
  }
}

mote_host_result* make_result(const host::Status& status, Reply& reply) noexcept {
  try {
    auto result = std::make_unique<mote_host_result>();
    result->status = status.code();
    if (!status.ok()) {
      result->sentence = host::one_line(status.text());
      return result.release();
    }
    result->json = reply.json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    result->values = std::move(reply.values);
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

const void* mote_host_bytes(const mote_host_result* result, uint64_t* count) {
  const size_t size = result == nullptr ? 0 : result->bytes.size();
  if (count != nullptr) *count = size;
  return size == 0 ? nullptr : result->bytes.data();
}

void mote_host_free(mote_host_result* result) { delete result; }
