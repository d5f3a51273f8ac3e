// SPDX-License-Identifier: Apache-2.0
//
// Text that comes token by token, and up to a stop text.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "mote/owners.hpp"

namespace mote {
inline namespace v0 {

/// Tokens as text, as they come: whole characters only.
class Detokenizer {
 public:
  /// `flags` of mote_detokenizer_start.
  static Result<Detokenizer> of(const Model& model, uint32_t flags = MOTE_SKIP_SPECIAL) {
    Detokenizer made(model);
    mote_error error = {};
    const mote_status status = mote_detokenizer_start(model.get(), flags, &made.state_, &error);
    if (status != MOTE_OK) return Status(error);
    made.room_.resize(mote_detokenizer_room(model.get()));
    return made;
  }
  /// The text that a token adds, perhaps none; valid until the next call.
  Result<std::string_view> next(int32_t id) {
    mote_error error = {};
    size_t written = 0;
    const mote_status status =
        mote_detokenizer_next(model_.get(), &state_, id, room_.data(), room_.size(), &written, &error);
    if (status != MOTE_OK) return Status(error);
    return std::string_view(room_.data(), written);
  }
  /// What a character that broke off becomes.
  std::string_view finish() {
    size_t written = 0;
    mote_error error = {};
    const mote_status status =
        mote_detokenizer_finish(model_.get(), &state_, room_.data(), room_.size(), &written, &error);
    return std::string_view(room_.data(), status == MOTE_OK ? written : 0);
  }

 private:
  explicit Detokenizer(const Model& model) : model_(model) {}

  Model model_;
  mote_detokenizer state_ = {};
  std::string room_;
};

/// Lets a text through up to the first of some stop texts: what may begin one is held back.
class StopTexts {
 public:
  explicit StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {
    stops_.erase(std::remove(stops_.begin(), stops_.end(), std::string()), stops_.end());
  }
  /// The text that can be said now. After a stop text there is none.
  std::string next(std::string_view text) {
    if (stopped_) return "";
    held_ += text;
    size_t end = std::string::npos;
    for (const std::string& stop : stops_) end = std::min(end, held_.find(stop));
    stopped_ = end != std::string::npos;
    if (!stopped_) end = held_.size() - begun();
    std::string said = held_.substr(0, end);
    held_.erase(0, stopped_ ? std::string::npos : end);
    return said;
  }
  /// What was held back, where the text ends.
  std::string finish() { return std::exchange(held_, ""); }
  bool stopped() const { return stopped_; }

 private:
  /// Bytes at the end of the held text that a stop text may begin with.
  size_t begun() const {
    size_t longest = 0;
    for (const std::string& stop : stops_) {
      size_t count = std::min(stop.size() - 1, held_.size());
      while (count > longest && held_.compare(held_.size() - count, count, stop, 0, count) != 0) --count;
      longest = std::max(longest, count);
    }
    return longest;
  }

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace v0
}  // namespace mote
