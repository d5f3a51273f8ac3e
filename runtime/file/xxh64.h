// SPDX-License-Identifier: Apache-2.0
//
// XXH64 (Collet, xxHash specification 0.1.1), for tensors, models and snapshots: the runtime has no library
// to call.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace mote {

/// A hash of bytes given in pieces: update() any number of times, then digest().
class Xxh64 {
 public:
  explicit Xxh64(uint64_t seed = 0)
      : lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1}, seed_(seed) {}

  void update(const void* data, size_t bytes) {
    const unsigned char* in = static_cast<const unsigned char*>(data);
    total_ += bytes;
    if (pending_bytes_ + bytes < 32) {
      if (bytes != 0) memcpy(pending_ + pending_bytes_, in, bytes);
      pending_bytes_ += bytes;
      return;
    }
    if (pending_bytes_ != 0) {
      const size_t fill = 32 - pending_bytes_;
      memcpy(pending_ + pending_bytes_, in, fill);
      stripe(pending_);
      in += fill;
      bytes -= fill;
    }
    for (; bytes >= 32; in += 32, bytes -= 32) stripe(in);
    if (bytes != 0) memcpy(pending_, in, bytes);
    pending_bytes_ = bytes;
  }

  uint64_t digest() const {
    uint64_t hash = seed_ + kPrime5;
    if (total_ >= 32) {
      hash = rotate(lanes_[0], 1) + rotate(lanes_[1], 7) + rotate(lanes_[2], 12) + rotate(lanes_[3], 18);
      for (uint64_t lane : lanes_) hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
    }
    hash += total_;
    const unsigned char* in = pending_;
    size_t left = pending_bytes_;
    for (; left >= 8; in += 8, left -= 8) hash = rotate(hash ^ round(0, read64(in)), 27) * kPrime1 + kPrime4;
    if (left >= 4) {
      hash = rotate(hash ^ (read32(in) * kPrime1), 23) * kPrime2 + kPrime3;
      in += 4;
      left -= 4;
    }
    for (; left > 0; ++in, --left) hash = rotate(hash ^ (*in * kPrime5), 11) * kPrime1;
    hash = (hash ^ (hash >> 33)) * kPrime2;
    hash = (hash ^ (hash >> 29)) * kPrime3;
    return hash ^ (hash >> 32);
  }

 private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
  static constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
  static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

  static uint64_t rotate(uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }
  static uint64_t read64(const unsigned char* in) {
    uint64_t value;
    memcpy(&value, in, 8);
    return value;
  }
  static uint64_t read32(const unsigned char* in) {
    uint32_t value;
    memcpy(&value, in, 4);
    return value;
  }
  static uint64_t round(uint64_t lane, uint64_t input) {
    return rotate(lane + input * kPrime2, 31) * kPrime1;
  }
  void stripe(const unsigned char* in) {
    for (int i = 0; i < 4; ++i) lanes_[i] = round(lanes_[i], read64(in + 8 * i));
  }

  uint64_t lanes_[4];
  uint64_t seed_;
  uint64_t total_ = 0;
  unsigned char pending_[32];
  size_t pending_bytes_ = 0;
};

inline uint64_t xxh64(const void* data, size_t bytes, uint64_t seed = 0) {
  Xxh64 hash(seed);
  hash.update(data, bytes);
  return hash.digest();
}

}  // namespace mote
