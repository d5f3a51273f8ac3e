// SPDX-License-Identifier: Apache-2.0
//
// Sentences for people, put together without exceptions or streams.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace mote::host {

/// A text or a number that stands in a sentence. A text must outlive it.
class Word {
 public:
  Word(std::string_view text) : text_(text) {}
  Word(const std::string& text) : text_(text) {}
  Word(const char* text) : text_(text) {}
  Word(std::integral auto number) : number_(std::to_string(number)), text_(number_) {}
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;
  std::string_view text() const { return text_; }

 private:
  std::string number_;
  std::string_view text_;
};

/// Returns `pattern` with the words in place of each "{}", in order.
std::string put_together(std::string_view pattern, const Word* words, size_t count);

template <class... Words>
std::string sentence(std::string_view pattern, const Words&... words) {
  if constexpr (sizeof...(Words) == 0) {
    return std::string(pattern);
  } else {
    const Word all[] = {Word(words)...};
    return put_together(pattern, all, sizeof...(Words));
  }
}

/// Returns the text on one line: control characters, which a file may hold to play with a terminal, become
/// '?', and line breaks become spaces.
std::string one_line(std::string_view text);

/// Returns the text without spaces, tabs and ends of lines at its ends.
std::string trimmed(std::string_view text);

/// Returns "98.2 MiB", "640 B".
std::string human_bytes(uint64_t bytes);

}  // namespace mote::host
