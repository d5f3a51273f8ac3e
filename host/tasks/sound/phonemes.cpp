// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/phonemes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "host/base/child_output.h"

namespace mote::host {
namespace {

constexpr size_t kLongestLine = 100000;  // bytes; systems limit an argument to 131072
constexpr size_t kLongestName = 64;
constexpr size_t kMostOfByte = 256;  // bytes of phonemes that a byte of a text has at most

/// A mark of a text at which a clause may end, and the one that stands for it. Where a script has no blanks a
/// clause ends at a mark, whatever follows.
struct Mark {
  std::string_view text, said;
  bool needs_blank = true;
};
constexpr Mark kMarks[] = {
    {"...", ""},
    {"\u2026", ""},
    {",", ","},
    {";", ";"},
    {":", ":"},
    {".", "."},
    {"?", "?"},
    {"!", "!"},
    {"\u2014", ";"},
    {"\u2013", ";"},
    {"\u060C", ","},
    {"\u061B", ";"},
    {"\u061F", "?"},
    {"\u06D4", "."},
    {"\u0964", "."},
    {"\u3001", ",", false},
    {"\u3002", ".", false},
    {"\uFF0C", ",", false},
    {"\uFF0E", ".", false},
    {"\uFF1F", "?", false},
    {"\uFF01", "!", false},
    {"\uFF1A", ":", false},
    {"\uFF1B", ";", false},
};
/// Characters that may stand between a mark and the blank behind it.
constexpr std::string_view kClosing[] = {"\"", "'", ")", "]", "}", "\u201D", "\u2019", "\u00BB"};

const Mark* mark_at(std::string_view text) {
  const auto* found = std::find_if(std::begin(kMarks), std::end(kMarks),
                                   [&](const Mark& mark) { return text.starts_with(mark.text); });
  return found == std::end(kMarks) ? nullptr : found;
}

size_t skip_closing(std::string_view text, size_t at) {
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view closing : kClosing) {
      if (!text.substr(at).starts_with(closing)) continue;
      at += closing.size();
      more = true;
    }
  }
  return at;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_only_blanks(std::string_view text) { return std::all_of(text.begin(), text.end(), is_blank); }

/// Takes out what espeak-ng puts into brackets: the language of the words that follow.
void take_out_brackets(std::string& phonemes) {
  for (size_t begin = 0; (begin = phonemes.find('(', begin)) != std::string::npos;) {
    const size_t end = phonemes.find(')', begin);
    if (end == std::string::npos || end == begin + 1) {
      ++begin;
      continue;
    }
    phonemes.erase(begin, end + 1 - begin);
  }
}

/// Calls espeak-ng for texts of a voice.
class Phonemes {
 public:
  explicit Phonemes(std::string_view voice) : voice_(voice) {}

  /// Returns the phonemes of each clause that espeak-ng finds in a text.
  Result<std::vector<std::string>> clauses(std::string_view text) const {
    const std::string own(text);
    const char* const arguments[] = {"espeak-ng",    "-q", "--ipa",     "-v",
                                     voice_.c_str(), "--", own.c_str(), nullptr};
    convert::ChildOutput espeak(arguments);
    if (espeak.error() == ENOENT)
      return failed(
          "this model says phonemes, which espeak-ng makes of texts, and espeak-ng is not installed; install "
          "it, or give phonemes");
    if (espeak.error() != 0) return failed("espeak-ng cannot be started: {}", std::strerror(espeak.error()));
    std::string all;
    std::array<char, 4096> part;
    for (size_t count = part.size(); count == part.size();) {
      count = espeak.read(part.data(), part.size());
      all.append(part.data(), count);
      if (all.size() > kMostOfByte * (text.size() + kLongestName))
        return failed("espeak-ng makes more than {} bytes of {}", all.size(), text.size());
    }
    if (!espeak.succeeded())
      return failed("espeak-ng has no voice '{}', whose phonemes this model says", voice_);
    std::vector<std::string> clauses;
    for (size_t at = 0; at < all.size();) {
      const size_t end = std::min(all.find('\n', at), all.size());
      std::string clause = all.substr(at, end - at);
      clause.erase(0, std::min(clause.find_first_not_of(' '), clause.size()));
      take_out_brackets(clause);
      if (!clause.empty()) clauses.push_back(std::move(clause));
      at = end + 1;
    }
    return clauses;
  }

 private:
  std::string voice_;
};

/// Gathers clauses to sentences.
class Sentences {
 public:
  void add(const std::vector<std::string>& clauses, std::string_view text) {
    for (size_t i = 0; i < clauses.size(); ++i) {
      current_ += clauses[i];
      if (i + 1 < clauses.size()) current_ += ' ';
    }
    if (clauses.empty()) return;
    const std::string_view end = end_of_clause(text);
    current_ += end;
    if (end == "," || end == ";" || end == ":") current_ += ' ';
    if (end == "." || end == "?" || end == "!") finish();
  }
  std::vector<std::string> take() {
    finish();
    return std::move(all_);
  }

 private:
  void finish() {
    if (!current_.empty()) all_.push_back(std::move(current_));
    current_.clear();
  }

  std::string current_;
  std::vector<std::string> all_;
};

/// Gathers the sentences of parts some of which are one clause to espeak-ng, such as "e.g." and what follows:
/// a part ends a clause where the part and the next have the clauses of each.
Result<std::vector<std::string>> join_parts(const Phonemes& phonemes,
                                            const std::vector<std::string_view>& parts) {
  Sentences sentences;
  std::string_view current = parts[0];
  MOTE_TAKE(std::vector<std::string> of_current, phonemes.clauses(current));
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string_view both(current.data(), current.size() + parts[i].size());
    MOTE_TAKE(std::vector<std::string> of_next, phonemes.clauses(parts[i]));
    MOTE_TAKE(std::vector<std::string> of_both, phonemes.clauses(both));
    if (of_both.size() == of_current.size() + of_next.size()) {
      sentences.add(of_current, current);
      current = parts[i];
      of_current = std::move(of_next);
    } else {
      current = both;
      of_current = std::move(of_both);
    }
  }
  sentences.add(of_current, current);
  return sentences.take();
}

}  // namespace

std::vector<std::string_view> clauses_of(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const Mark* const mark = mark_at(text.substr(at));
    if (mark == nullptr) {
      ++at;
      continue;
    }
    bool needs_blank = true;
    for (const Mark* more = mark; more != nullptr; more = mark_at(text.substr(at))) {
      needs_blank = needs_blank && more->needs_blank;
      at += more->text.size();
    }
    const size_t end = skip_closing(text, at);
    if (needs_blank && end < text.size() && !is_blank(text[end])) continue;
    at = end;
    while (at < text.size() && is_blank(text[at])) ++at;
    parts.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

std::string_view end_of_clause(std::string_view clause) {
  while (!clause.empty()) {
    if (is_blank(clause.back())) {
      clause.remove_suffix(1);
      continue;
    }
    const auto* closing = std::find_if(std::begin(kClosing), std::end(kClosing),
                                       [&](std::string_view text) { return clause.ends_with(text); });
    if (closing == std::end(kClosing)) break;
    clause.remove_suffix(closing->size());
  }
  // The first of several marks.
  std::string_view said;
  for (bool more = true; more;) {
    more = false;
    for (const Mark& mark : kMarks) {
      if (!clause.ends_with(mark.text)) continue;
      said = mark.said;
      clause.remove_suffix(mark.text.size());
      more = true;
      break;
    }
  }
  return said;
}

Result<std::vector<std::string>> phonemes_of(std::string_view voice, std::string_view line) {
  const auto is_known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '+';
  };
  if (voice.empty() || voice.size() > kLongestName || !std::all_of(voice.begin(), voice.end(), is_known))
    return failed("'{}' is no name of a voice of espeak-ng", voice);
  if (line.size() > kLongestLine)
    return failed("a line of {} bytes is too long to become phonemes at once; cut it below {}", line.size(),
                  kLongestLine);
  if (line.find('\0') != std::string_view::npos) return failed("the text has a byte of 0");
  const std::vector<std::string_view> parts = clauses_of(line);
  if (is_only_blanks(line) || parts.empty()) return std::vector<std::string>();
  const Phonemes phonemes(voice);
  MOTE_TAKE(const std::vector<std::string> clauses, phonemes.clauses(line));
  if (clauses.size() != parts.size()) return join_parts(phonemes, parts);
  Sentences sentences;
  for (size_t i = 0; i < parts.size(); ++i) sentences.add({clauses[i]}, parts[i]);
  return sentences.take();
}

}  // namespace mote::host
