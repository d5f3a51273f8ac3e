// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/model.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace mote::host {
namespace {

/// Says so where bytes that are no .mote file are a file that could become one; else returns `otherwise`.
Status name_other_file(const std::string& name, std::span<const std::byte> bytes, Status otherwise) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 9));
  if (start.empty())
    return {MOTE_TRUNCATED, sentence("{} is empty, not a .mote file; convert the model again", name)};
  const bool gguf = start.starts_with("GGUF");
  const char* kind = gguf                                   ? "GGUF"
                     : start.size() == 9 && start[8] == '{' ? "safetensors"
                     : start.starts_with("PK")              ? "PyTorch"
                                                            : nullptr;
  if (kind == nullptr) return otherwise;
  return {MOTE_NOT_A_MODEL, sentence("{} is a {} file, not a .mote file", name, kind),
          gguf ? Remedy::convert : Remedy::convert_directory};
}

/// Returns the number of the first program over whole sequences of floats; 0: there is none.
uint32_t encoder_of_floats(const mote_model* model) {
  for (uint32_t i = 0; i < mote_model_programs(model); ++i) {
    mote_program_info info;
    mote_model_get_program(model, i, &info);
    if (info.whole != 0 && info.input_width != 0) return i;
  }
  return 0;
}

}  // namespace

Result<Model> Model::open(std::span<const std::byte> bytes, std::string name, uint32_t flags) {
  Model model;
  model.name_ = std::move(name);
  const size_t words = (mote_model_bytes() + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  model.storage_.reset(new (std::nothrow) uint64_t[words]);
  if (model.storage_ == nullptr) return Status{MOTE_OUT_OF_MEMORY, "not enough memory to open a model"};
  mote_error error = {};
  const mote_status status = mote_model_open(bytes.data(), bytes.size(), flags, model.storage_.get(),
                                             words * sizeof(uint64_t), &model.model_, &error);
  if (status != MOTE_OK) return name_other_file(model.name_, bytes, from_core(status, error, model.name_));
  mote_model_get_info(model.model_, &model.info_);
  mote_model_get_output(model.model_, &model.output_);
  mote_model_get_task(model.model_, &model.task_);
  mote_model_get_sound(model.model_, &model.sound_);
  mote_program_info second;
  mote_model_get_program(model.model_, 1, &second);
  model.has_source_ = !model.encodes() && second.whole != 0;
  model.encoder_ = encoder_of_floats(model.model_);
  return model;
}

bool Model::stops_at(int32_t id) const {
  const std::span<const int32_t> stops(info_.stop_ids, info_.stop_count);
  return std::find(stops.begin(), stops.end(), id) != stops.end();
}

std::string Model::token_text(int32_t id) const {
  size_t bytes = 0;
  const char* const text = mote_token_text(model_, id, &bytes);
  return text == nullptr ? "" : std::string(text, bytes);
}

}  // namespace mote::host
