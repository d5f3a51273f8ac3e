// SPDX-License-Identifier: Apache-2.0
//
// mote.h for C++ without an operating system: the same calls as members, nothing more. No heap, no
// exceptions, nothing of the C++ library; the caller owns all memory. Programs with files, threads and a heap
// take mote.hpp, whose classes own theirs.
//
//   static mote::bare::Model model;
//   static mote::bare::Session session;
//   if (model.open(file, bytes, &error) != MOTE_OK) return report(error.text);
//   mote_session_options options = model.default_options();
//   alignas(64) static unsigned char arena[1 << 20];  // model.session_bytes(options) says how many
//   if (session.init(model, options, arena, sizeof arena, &error) != MOTE_OK) return report(error.text);
//   const auto on_token = [](int32_t id) { return id != 0; };
//   if (session.generate(ids, n, mote_generation_default(), on_token, &error) != MOTE_OK) return 1;
#pragma once

#include "mote/mote.h"

namespace mote::bare {

/// A view of a .mote file, which must outlive it. May be shared by sessions in several threads; not copyable
/// because sessions point to it.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] mote_status open(const void* data, size_t bytes, mote_error* error, uint32_t flags = 0) {
    return mote_model_open(data, bytes, flags, storage_, sizeof storage_, &model_, error);
  }
  const mote_model* get() const { return model_; }
  mote_model_info info() const {
    mote_model_info info;
    mote_model_get_info(model_, &info);
    return info;
  }
  mote_output_info output() const {
    mote_output_info info;
    mote_model_get_output(model_, &info);
    return info;
  }
  const char* label(uint32_t index) const { return mote_model_label(model_, index); }
  mote_session_options default_options() const { return mote_session_options_default(model_); }
  size_t session_bytes(const mote_session_options& options) const {
    return mote_session_bytes(model_, &options);
  }

 private:
  alignas(8) unsigned char storage_[MOTE_MODEL_BYTES];
  mote_model* model_ = nullptr;
};

/// A session in the caller's arena; for one thread at a time.
class Session {
 public:
  [[nodiscard]] mote_status init(const Model& model, const mote_session_options& options, void* arena,
                                 size_t bytes, mote_error* error) {
    return mote_session_init(model.get(), &options, arena, bytes, &session_, error);
  }
  mote_session* get() const { return session_; }

  [[nodiscard]] mote_status prefill(const int32_t* ids, uint32_t n, mote_error* error, uint32_t sequence = 0,
                                    mote_logits logits = MOTE_LOGITS_LAST) {
    return mote_prefill(session_, sequence, ids, n, logits, error);
  }
  [[nodiscard]] mote_status decode(const int32_t* ids, mote_error* error) {
    return mote_decode(session_, ids, error);
  }
  const float* logits(uint32_t row = 0) const { return mote_session_logits(session_, row); }

  // Encoders.
  [[nodiscard]] mote_status encode(const mote_batch& batch, mote_error* error) {
    return mote_encode(session_, &batch, error);
  }
  const float* output(uint32_t row = 0) const { return mote_session_output(session_, row); }
  [[nodiscard]] mote_status embed(const char* text, size_t bytes, float* out, uint32_t width,
                                  mote_error* error, uint32_t flags = 0) {
    return mote_embed(session_, text, bytes, flags, out, width, error);
  }
  [[nodiscard]] mote_status classify(const char* text, size_t bytes, float* out, uint32_t width,
                                     mote_error* error, uint32_t flags = 0) {
    return mote_classify(session_, text, bytes, flags, out, width, error);
  }

  uint32_t length(uint32_t sequence = 0) const { return mote_session_length(session_, sequence); }
  [[nodiscard]] mote_status truncate(uint32_t length, mote_error* error, uint32_t sequence = 0) {
    return mote_session_truncate(session_, sequence, length, error);
  }

  /// on_token: bool(int32_t id), false to stop.
  template <class OnToken>
  [[nodiscard]] mote_status generate(const int32_t* ids, uint32_t n, const mote_generation& generation,
                                     OnToken&& on_token, mote_error* error, mote_finish* finish = nullptr) {
    auto* callback = &on_token;
    const auto call = [](void* user, int32_t id) -> int {
      return (**static_cast<decltype(callback)*>(user))(id) ? 0 : 1;
    };
    return mote_generate(session_, ids, n, &generation, call, &callback, finish, error);
  }

  size_t state_bytes() const { return mote_session_state_bytes(session_); }
  [[nodiscard]] mote_status save(void* out, size_t bytes, size_t* written, mote_error* error) const {
    return mote_session_save(session_, out, bytes, written, error);
  }
  [[nodiscard]] mote_status restore(const void* in, size_t bytes, mote_error* error) {
    return mote_session_restore(session_, in, bytes, error);
  }

 private:
  mote_session* session_ = nullptr;
};

}  // namespace mote::bare
