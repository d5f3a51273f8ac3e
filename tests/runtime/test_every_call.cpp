// SPDX-License-Identifier: Apache-2.0
//
// Of every golden model: what callers see of any calls, some of which are left or read in the middle, is the
// same for one and for two threads, and whatever the arena held before.
#include <random>

#include "tests/support/any_file.h"
#include "tests/support/every_golden.h"

namespace {

constexpr size_t kCallBytes = 400;

/// What chooses small options, then any calls.
std::vector<uint8_t> bytes_of_calls(uint32_t seed, size_t options_bytes) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(options_bytes);
  while (bytes.size() < options_bytes + kCallBytes) bytes.push_back(static_cast<uint8_t>(random()));
  return bytes;
}

void check_calls(const std::string& type, uint32_t seeds) {
  uint32_t models = 0;
  for (const std::string& name : test::every_golden()) {
    for (const test::AlignedBytes& file : test::golden_files(name, type)) {
      ++models;
      size_t rows = 0;
      for (uint32_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(name, type, seed);
        const std::vector<uint8_t> bytes = bytes_of_calls(seed, seed % 2 == 0 ? 10 : 0);
        const test::Choices choices(bytes.data(), bytes.size());
        test::open_and_run(file, choices, test::Honest::yes, &rows);
      }
      CAPTURE(name, type);
      CHECK(rows > 0);
    }
  }
  REQUIRE(models > 0);
}

}  // namespace

TEST("any calls show the same for one and for two threads, of every golden model in f32") {
  check_calls("f32", 2);
}

TEST("any calls show the same for one and for two threads, of every golden model in 8 bits") {
  check_calls("q8g32", 2);
}
