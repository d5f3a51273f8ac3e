// SPDX-License-Identifier: Apache-2.0
//
// Sets of code points, and the bytes that write them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mote::grammar {

struct Range {
  uint32_t first, last;
  friend auto operator<=>(const Range&, const Range&) = default;
};

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;

/// Ranges that ascend and do not touch. Surrogates are in no set.
class CodePoints {
 public:
  CodePoints() = default;
  explicit CodePoints(std::vector<Range> ranges);
  static CodePoints all();
  static CodePoints of(uint32_t code_point) { return CodePoints({{code_point, code_point}}); }

  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool has(uint32_t code_point) const;
  CodePoints complement() const;
  CodePoints operator|(const CodePoints& other) const;
  CodePoints operator&(const CodePoints& other) const;
  CodePoints operator-(const CodePoints& other) const { return *this & other.complement(); }
  friend auto operator<=>(const CodePoints&, const CodePoints&) = default;

 private:
  std::vector<Range> ranges_;
};

/// A row of byte ranges that writes a range of code points: each byte is in the range at its place.
struct ByteRow {
  std::array<Range, 4> bytes;
  uint32_t length;
};

/// Returns the rows that write the code points in UTF-8.
std::vector<ByteRow> utf8_rows(const CodePoints& set);

void append_utf8(uint32_t code_point, std::string& text);
/// Returns the code points of a text; throws Error where it is no UTF-8.
std::vector<uint32_t> code_points_of(std::string_view text, std::string_view what);

}  // namespace mote::grammar
