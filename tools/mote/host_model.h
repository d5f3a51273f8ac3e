// SPDX-License-Identifier: Apache-2.0
//
// The command line over mote/host.h: models that close themselves, results that throw, callbacks that are
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/error.h"
#include "mote/host.h"
#include "mote/mote.h"
#include "tools/mote/backend.h"
#include "tools/mote/model_bytes.h"
#include "tools/mote/session_flags.h"
#include "tools/mote/thread_choice.h"

namespace mote::cli {

/// A call that failed, and what helps.
class HostFailure : public convert::Error {
 public:
  HostFailure(const std::string& sentence, mote_status code, mote_remedy remedy)
      : Error(sentence), code_(code), remedy_(remedy) {}
  mote_status code() const { return code_; }
  mote_remedy remedy() const { return remedy_; }

 private:
  mote_status code_;
  mote_remedy remedy_;
};

/// The result of a call.
class HostResult {
 public:
  /// Throws Interrupted for MOTE_CANCELLED and HostFailure for every other failure; its sentence names the
  /// option that helps.
  explicit HostResult(mote_host_result* result);
  const char* text_of_json() const { return mote_host_json(result_.get()); }
  nlohmann::json json() const { return nlohmann::json::parse(text_of_json()); }
  std::span<const float> values() const;
  std::span<const int32_t> ids() const;
  /// Returns the bytes of a text.
  std::string_view text() const;

 private:
  struct Free {
    void operator()(mote_host_result* result) const { mote_host_free(result); }
  };
  std::unique_ptr<mote_host_result, Free> result_;
};

/// The functions that a call tells of its work. Ctrl-C under an InterruptGuard ends the call, notes go to
/// standard error, and what a function throws ends the call too and is thrown by take().
class HostCalls {
 public:
  HostCalls();
  HostCalls(const HostCalls&) = delete;
  HostCalls& operator=(const HostCalls&) = delete;
  const mote_host_calls* get() const { return &calls_; }
  HostResult take(mote_host_result* result);

  std::function<void(std::string_view text, int32_t id)> on_text;
  std::function<void(std::span<const float> samples, uint32_t rate)> on_samples;
  std::function<void(std::string_view stage, double part)> on_progress;
  std::function<void(std::string_view text, double begin, double end)> on_segment;
  std::function<void(std::string_view text, size_t agreed)> on_partial;

 private:
  template <class Body>
  void run(Body body);

  mote_host_calls calls_ = {};
  std::exception_ptr thrown_;
};

/// Returns options as JSON. Throws convert::Error where a text in them is no UTF-8.
std::string text_of(const nlohmann::ordered_json& options);

/// An input that is a text, ids or a file. What it is made of must outlive it.
mote_host_input text_input(const std::string& text);
mote_host_input ids_input(const std::vector<int32_t>& ids, const char* name);
mote_host_input file_input(const std::string& path);
std::vector<mote_host_input> text_inputs(std::span<const std::string> texts);

/// An open model.
class HostModel {
 public:
  /// `options` are those of mote_host_open besides the flags'.
  HostModel(const std::string& path, const SessionFlags& flags,
            nlohmann::json options = nlohmann::json::object());
  /// Takes threads and backend as the flags say. Throws UsageError and convert::Error.
  void begin();

  mote_host* get() const { return host_.get(); }
  const nlohmann::json& about() const { return about_; }
  const mote_model* model() const { return mote_host_model(get()); }
  const mote_model_info& info() const { return info_; }
  const mote_output_info& output() const { return output_; }
  const std::string& path() const { return path_; }
  size_t tensors() const { return bytes_.tensors(); }
  /// Throws convert::Error for a model that encodes a source, for commands that give none.
  void refuse_source(const char* command) const;
  bool encodes() const { return output_.kind != MOTE_OUTPUT_NEXT_TOKEN; }
  size_t backend_bytes() const { return backend_ ? backend_->bytes() : 0; }
  /// Returns "123 bytes (123 B)" of the arena and, if there is one, the backend.
  std::string memory_text(size_t arena_bytes) const;
  const ThreadCounts& threads() const { return threads_; }
  size_t bytes() const { return bytes_.bytes().size(); }
  /// Says that the model is for a task, as mote_host_info names it.
  bool is_for(const char* task) const;
  bool takes_pictures() const { return about_.at("takes_pictures").get<bool>(); }
  bool takes_sound() const { return about_.at("sample_rate").get<uint32_t>() != 0; }

 private:
  struct Close {
    void operator()(mote_host* model) const { mote_host_close(model); }
  };

  std::string path_;
  const SessionFlags& flags_;
  ModelBytes bytes_;
  std::optional<Backend> backend_;
  std::unique_ptr<mote_host, Close> host_;
  nlohmann::json about_;
  mote_model_info info_ = {};
  mote_output_info output_ = {};
  ThreadCounts threads_ = {};
};

}  // namespace mote::cli
