// SPDX-License-Identifier: Apache-2.0
#include "runtime/file/xxh64.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/support/unity_style.h"

TEST("the hash equals xxHash's at every length and split") {
  uint8_t bytes[200];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
  for (size_t length = 0; length <= sizeof bytes; ++length) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{0x9E3779B97F4A7C15}}) {
      const uint64_t expected = XXH64(bytes, length, seed);
      CAPTURE(length, seed);
      REQUIRE(mote::xxh64(bytes, length, seed) == expected);
      mote::Xxh64 pieces(seed);
      pieces.update(bytes, length / 3);
      pieces.update(bytes + length / 3, length / 2 - length / 3);
      pieces.update(bytes + length / 2, length - length / 2);
      REQUIRE(pieces.digest() == expected);
    }
  }
}
