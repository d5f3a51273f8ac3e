// SPDX-License-Identifier: Apache-2.0
//
// A model in the caller's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "host/tasks/status.h"
#include "mote/mote.h"
#include "mote/sound.h"
#include "mote/task.h"

namespace mote::host {

class Model {
 public:
  /// Opens a .mote file's bytes, 64-byte aligned, which must outlive the model. `name` begins messages about
  /// it; `flags` are those of mote_model_open.
  static Result<Model> open(std::span<const std::byte> bytes, std::string name, uint32_t flags = 0);

  const mote_model* get() const { return model_; }
  const mote_model_info& info() const { return info_; }
  const mote_output_info& output() const { return output_; }
  mote_model_task task() const { return task_.task; }
  const mote_task_info& task_info() const { return task_; }
  const mote_sound_info& sound() const { return sound_; }  // its rate is 0 where the model takes no sound
  const std::string& name() const { return name_; }

  /// Says that the model reads sequences whole and writes no tokens.
  bool encodes() const { return output_.kind != MOTE_OUTPUT_NEXT_TOKEN; }
  /// Says that the model's first program appends tokens and its second encodes a source for them.
  bool has_source() const { return has_source_; }
  /// Returns the number of the program that encodes rows of floats: outputs, or a source; 0 where none does.
  uint32_t encoder() const { return encoder_; }
  bool has_tokenizer() const { return info_.tokens != 0; }
  bool stops_at(int32_t id) const;
  /// Returns the text of a token, special ones as they are spelt; "" for none.
  std::string token_text(int32_t id) const;
  const char* label(uint32_t index) const { return mote_model_label(model_, index); }

 private:
  Model() = default;

  std::string name_;
  std::unique_ptr<uint64_t[]> storage_;
  mote_model* model_ = nullptr;
  mote_model_info info_ = {};
  mote_output_info output_ = {};
  mote_task_info task_ = {};
  mote_sound_info sound_ = {};
  bool has_source_ = false;
  uint32_t encoder_ = 0;
};

}  // namespace mote::host
