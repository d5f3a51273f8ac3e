// SPDX-License-Identifier: Apache-2.0
#include "host/api/inputs.h"

#include <fmt/format.h>

#include <cstring>

#include "host/api/result.h"
#include "host/base/options.h"

namespace mote::api {
namespace {

/// Passes rows on until the caller stops.
class StoppableRows : public pictures::RowSink {
 public:
  StoppableRows(pictures::RowSink& to, const host::Hooks& hooks) : to_(to), hooks_(hooks) {}
  void begin(uint32_t width, uint32_t height, pictures::Turn turn) override {
    to_.begin(width, height, turn);
  }
  void row(const uint8_t* pixels) override {
    if (hooks_.stopped()) throw Stopped();
    to_.row(pixels);
  }

 private:
  pictures::RowSink& to_;
  const host::Hooks& hooks_;
};

}  // namespace

Inputs inputs_of(const mote_host_input* inputs, size_t count, size_t least, size_t most) {
  if (inputs == nullptr && count != 0) throw OptionError("no inputs: a null pointer");
  if (count < least || count > most)
    throw OptionError(fmt::format("{} inputs; the call takes {}", count,
                                  most == SIZE_MAX ? fmt::format("at least {}", least)
                                  : least == most  ? fmt::format("{}", least)
                                                   : fmt::format("{} to {}", least, most)));
  return {inputs, count};
}

bool is_text(const mote_host_input& input) { return input.text != nullptr; }

std::string text_of(const mote_host_input& input) {
  if (!is_text(input)) throw OptionError("an input is no text");
  return {input.text, input.text_bytes == 0 ? std::strlen(input.text) : input.text_bytes};
}

bool is_ids(const mote_host_input& input) { return !is_text(input) && input.ids != nullptr; }

std::vector<int32_t> ids_of(const mote_host_input& input) {
  if (!is_ids(input) || input.id_count > SIZE_MAX / sizeof(int32_t)) throw OptionError("an input is no ids");
  return {input.ids, input.ids + input.id_count};
}

std::vector<std::string> texts_of(Inputs inputs) {
  std::vector<std::string> texts;
  for (const mote_host_input& input : inputs) texts.push_back(text_of(input));
  return texts;
}

std::string name_of(const mote_host_input& input, const char* otherwise) {
  return input.path != nullptr ? input.path : otherwise;
}

Picture::Picture(const mote_host_input& input) : name_(name_of(input, "picture")) {
  if (input.data != nullptr) {
    rows_ = pictures::rows_of_file({static_cast<const std::byte*>(input.data), input.data_bytes}, name_);
  } else if (input.pixels != nullptr && input.width != 0 && input.height != 0) {
    rows_ = pictures::rows_of_pixels(input.pixels, input.width, input.height);
  } else if (input.path != nullptr) {
    file_.emplace(input.path);
    rows_ = pictures::rows_of_file(file_->bytes(), name_);
  } else {
    throw OptionError("an input is no picture");
  }
}

pictures::RowSource Picture::rows(const host::Hooks& hooks) const {
  return [this, &hooks](pictures::RowSink& sink) {
    StoppableRows stoppable(sink, hooks);
    rows_(stoppable);
  };
}

}  // namespace mote::api
