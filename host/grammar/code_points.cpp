// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/code_points.h"

#include <algorithm>

#include "host/base/error.h"

namespace mote::grammar {
namespace {

constexpr Range kSurrogates = {0xD800, 0xDFFF};

/// Splits a range of one length of UTF-8 so that each part is a row of independent byte ranges.
void add_rows(uint32_t first, uint32_t last, uint32_t length, std::vector<ByteRow>& rows) {
  // Where the bytes behind one do not run from 80 to BF, the parts on both sides get rows of their own.
  for (uint32_t below = 1; below < length; ++below) {
    const uint32_t span = (uint32_t{1} << 6 * below) - 1;
    if ((first & ~span) == (last & ~span)) break;
    if ((first & span) != 0) {
      add_rows(first, first | span, length, rows);
      return add_rows((first | span) + 1, last, length, rows);
    }
    if ((last & span) != span) {
      add_rows(first, (last & ~span) - 1, length, rows);
      return add_rows(last & ~span, last, length, rows);
    }
  }
  constexpr uint32_t kLeads[] = {0, 0, 0xC0, 0xE0, 0xF0};
  ByteRow row = {{}, length};
  for (uint32_t i = 0; i < length; ++i) {
    const uint32_t shift = 6 * (length - 1 - i);
    const uint32_t lead = i == 0 ? kLeads[length] : 0x80, bits = i == 0 ? 0xFF : 0x3F;
    row.bytes[i] = {lead | (first >> shift & bits), lead | (last >> shift & bits)};
  }
  rows.push_back(row);
}

}  // namespace

CodePoints::CodePoints(std::vector<Range> ranges) {
  std::vector<Range> parts;
  for (const Range& range : ranges) {
    if (range.first > range.last) continue;
    if (range.first < kSurrogates.first)
      parts.push_back({range.first, std::min(range.last, kSurrogates.first - 1)});
    if (range.last > kSurrogates.last)
      parts.push_back({std::max(range.first, kSurrogates.last + 1), std::min(range.last, kLastCodePoint)});
  }
  std::sort(parts.begin(), parts.end());
  for (const Range& part : parts) {
    if (!ranges_.empty() && part.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, part.last);
    } else {
      ranges_.push_back(part);
    }
  }
}

CodePoints CodePoints::all() { return CodePoints({{0, kLastCodePoint}}); }

bool CodePoints::has(uint32_t code_point) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), code_point,
                       [](uint32_t value, const Range& range) { return value < range.first; });
  return behind != ranges_.begin() && code_point <= (behind - 1)->last;
}

CodePoints CodePoints::complement() const {
  std::vector<Range> others;
  uint32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) others.push_back({next, kLastCodePoint});
  return CodePoints(std::move(others));
}

CodePoints CodePoints::operator|(const CodePoints& other) const {
  std::vector<Range> both = ranges_;
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return CodePoints(std::move(both));
}

CodePoints CodePoints::operator&(const CodePoints& other) const {
  std::vector<Range> common;
  size_t a = 0, b = 0;
  while (a < ranges_.size() && b < other.ranges_.size()) {
    const Range range = {std::max(ranges_[a].first, other.ranges_[b].first),
                         std::min(ranges_[a].last, other.ranges_[b].last)};
    if (range.first <= range.last) common.push_back(range);
    ranges_[a].last < other.ranges_[b].last ? ++a : ++b;
  }
  return CodePoints(std::move(common));
}

std::vector<ByteRow> utf8_rows(const CodePoints& set) {
  constexpr Range kLengths[] = {{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xFFFF}, {0x10000, kLastCodePoint}};
  std::vector<ByteRow> rows;
  for (const Range& range : set.ranges()) {
    for (uint32_t length = 1; length <= 4; ++length) {
      const uint32_t first = std::max(range.first, kLengths[length - 1].first);
      const uint32_t last = std::min(range.last, kLengths[length - 1].last);
      if (first <= last) add_rows(first, last, length, rows);
    }
  }
  return rows;
}

void append_utf8(uint32_t code_point, std::string& text) {
  const auto add = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12);
    add(0x80 | (code_point >> 6 & 0x3F));
  } else {
    add(0xF0 | code_point >> 18);
    add(0x80 | (code_point >> 12 & 0x3F));
    add(0x80 | (code_point >> 6 & 0x3F));
  }
  add(0x80 | (code_point & 0x3F));
}

std::vector<uint32_t> code_points_of(std::string_view text, std::string_view what) {
  std::vector<uint32_t> points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const uint32_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    uint32_t point = length == 1 ? lead : lead & (0x7F >> length);
    bool whole = (lead < 0x80 || (lead >= 0xC2 && lead <= 0xF4)) && i + length <= text.size();
    for (uint32_t k = 1; k < length && whole; ++k) {
      const auto byte = static_cast<uint8_t>(text[i + k]);
      whole = (byte & 0xC0) == 0x80;
      point = point << 6 | (byte & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    whole = whole && point >= kLeast[length] && point <= kLastCodePoint &&
            (point < kSurrogates.first || point > kSurrogates.last);
    if (!whole) convert::fail("{}: byte {} is no UTF-8", what, i + 1);
    points.push_back(point);
    i += length;
  }
  return points;
}

}  // namespace mote::grammar
