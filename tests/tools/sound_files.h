// SPDX-License-Identifier: Apache-2.0
//
// Sounds for tests of commands.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tests/tools/command.h"

namespace mote::testing {

/// A WAV file of 16 bits, mono, 16 kHz or another rate.
inline std::string wav(const std::string& name, const std::vector<int16_t>& samples, uint32_t rate = 16000) {
  const auto bytes = static_cast<uint32_t>(samples.size() * 2);
  std::string file = "RIFF....WAVEfmt ";
  const auto add = [&](auto value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    file.append(raw, sizeof value);
  };
  add(uint32_t{16}), add(uint16_t{1}), add(uint16_t{1}), add(rate), add(2 * rate);
  add(uint16_t{2}), add(uint16_t{16});
  file += "data";
  add(bytes);
  file.append(reinterpret_cast<const char*>(samples.data()), bytes);
  const uint32_t size = 36 + bytes;
  std::memcpy(file.data() + 4, &size, 4);
  const std::string path = (scratch() / name).string();
  write_text(path, file);
  return path;
}

inline std::vector<int16_t> noise(size_t count) {
  std::vector<int16_t> samples(count);
  uint32_t seed = 7;
  for (int16_t& sample : samples) {
    seed = seed * 1664525u + 1013904223u;
    sample = static_cast<int16_t>(static_cast<int32_t>(seed >> 16) - 32768);
  }
  return samples;
}

}  // namespace mote::testing
