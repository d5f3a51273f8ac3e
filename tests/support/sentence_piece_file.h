// SPDX-License-Identifier: Apache-2.0
//
// SentencePiece models of a few pieces, written as the library writes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace test {

/// A SentencePiece model (sentencepiece_model.proto).
class SentencePieceFile {
 public:
  explicit SentencePieceFile(const std::vector<std::string>& signs = {"<unk>", "<s>", "</s>"}) {
    for (const std::string& sign : signs) piece(sign, 0, sign == "<unk>" ? 2 : 3);
  }

  SentencePieceFile& piece(const std::string& text, float score, uint64_t kind = 1) {
    std::string number(sizeof score, '\0');
    std::memcpy(number.data(), &score, sizeof score);
    pieces_ += field(1, field(1, text) + key(2, 5) + number + key(3, 0) + varint(kind));
    return *this;
  }
  SentencePieceFile& segmentation(uint64_t kind) {
    trainer_ += key(3, 0) + varint(kind);
    return *this;
  }
  /// Characters become texts by a precompiled map.
  SentencePieceFile& map(const std::map<std::string, std::string>& texts);

  std::string bytes() const { return pieces_ + field(2, trainer_) + field(3, normalizer_); }

 private:
  static std::string varint(uint64_t value) {
    std::string bytes;
    for (; value >= 128; value >>= 7) bytes += static_cast<char>(value % 128 + 128);
    return bytes + static_cast<char>(value);
  }
  static std::string key(uint64_t number, uint64_t wire) { return varint(number << 3 | wire); }
  static std::string field(uint64_t number, const std::string& bytes) {
    return key(number, 2) + varint(bytes.size()) + bytes;
  }

  std::string pieces_, trainer_, normalizer_;
};

/// A double array in Darts' layout: units are placed one free range of 256 behind the other.
class DoubleArrayBuilder {
 public:
  explicit DoubleArrayBuilder(const std::map<std::string, uint32_t>& values) {
    units_.resize(kRange);
    place(0, "", values);
  }
  const std::vector<uint32_t>& units() const { return units_; }

 private:
  static constexpr uint32_t kRange = 256;

  /// The children of the unit at `at`, which stands for `prefix`, in a range of their own.
  void place(uint32_t at, const std::string& prefix, const std::map<std::string, uint32_t>& values) {
    const auto base = static_cast<uint32_t>(units_.size());
    units_.resize(units_.size() + kRange);
    units_[at] |= (at ^ base) << 10;
    std::map<uint8_t, bool> children;
    for (const auto& [text, value] : values) {
      if (text.compare(0, prefix.size(), prefix) != 0) continue;
      if (text.size() > prefix.size()) {
        children[static_cast<uint8_t>(text[prefix.size()])] = true;
      } else {
        units_[at] |= 1u << 8;
        units_[base] = value | 1u << 31;
      }
    }
    for (const auto& [byte, unused] : children) units_[base ^ byte] = byte;
    for (const auto& [byte, unused] : children) place(base ^ byte, prefix + static_cast<char>(byte), values);
  }

  std::vector<uint32_t> units_;
};

inline SentencePieceFile& SentencePieceFile::map(const std::map<std::string, std::string>& texts) {
  std::map<std::string, uint32_t> places;
  std::string all;
  for (const auto& [from, to] : texts) {
    places[from] = static_cast<uint32_t>(all.size());
    all += to + '\0';
  }
  const DoubleArrayBuilder array(places);
  const auto size = static_cast<uint32_t>(array.units().size() * sizeof(uint32_t));
  std::string bytes(sizeof size + size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  std::memcpy(bytes.data() + sizeof size, array.units().data(), size);
  normalizer_ += field(2, bytes + all);
  return *this;
}

}  // namespace test
