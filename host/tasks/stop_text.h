// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mote::host {

/// Lets a text through as it comes, up to the first of some stop texts: what may be the beginning of one is
/// held back until it is certain.
class StopText {
 public:
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
    stops_.erase(std::remove(stops_.begin(), stops_.end(), std::string()), stops_.end());
  }

  /// Returns the text that can be said now. Nothing follows once stopped().
  std::string next(const std::string& text) {
    if (stopped_) return "";
    held_ += text;
    size_t end = std::string::npos;
    for (const std::string& stop : stops_) end = std::min(end, held_.find(stop));
    stopped_ = end != std::string::npos;
    if (!stopped_) end = held_.size() - longest_beginning();
    std::string said = held_.substr(0, end);
    held_ = stopped_ ? "" : held_.substr(end);
    return said;
  }
  /// Returns the text that was held back at the end.
  std::string finish() { return std::exchange(held_, ""); }
  bool stopped() const { return stopped_; }

 private:
  /// Bytes at the end of the held text that begin a stop text.
  size_t longest_beginning() const {
    size_t longest = 0;
    for (const std::string& stop : stops_) {
      for (size_t n = std::min(stop.size() - 1, held_.size()); n > longest; --n) {
        if (held_.compare(held_.size() - n, n, stop, 0, n) == 0) longest = n;
      }
    }
    return longest;
  }

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace mote::host
