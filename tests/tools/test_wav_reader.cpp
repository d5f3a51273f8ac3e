// SPDX-License-Identifier: Apache-2.0
//
// mote's own reader of WAV against libsndfile, and what it says of files that it does not read.
#include <array>
#include <bit>
#include <memory>
#include <span>

#include "host/base/error.h"
#include "host/media/sound_file.h"
#include "tests/support/skip.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using mote::cli::open_known_sound;
using mote::cli::SoundSource;

namespace {

std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

struct Format {
  uint32_t kind, bits, channels;
  bool extensible = false;
};

std::string format_chunk(const Format& format) {
  const uint32_t frame = format.channels * format.bits / 8;
  std::string body = little(format.extensible ? 0xFFFE : format.kind, 2) + little(format.channels, 2) +
                     little(22050, 4) + little(22050 * frame, 4) + little(frame, 2) + little(format.bits, 2);
  if (format.extensible) {
    const std::string rest("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
    body += little(22, 2) + little(format.bits, 2) + little(0, 4) + little(format.kind, 2) + rest;
  }
  return "fmt " + little(body.size(), 4) + body;
}

std::string wav_of(const std::string& chunks, const std::string& samples) {
  const std::string body = "WAVE" + chunks + "data" + little(samples.size(), 4) + samples;
  return "RIFF" + little(body.size(), 4) + body;
}

/// Bytes that are samples of any integer type.
std::string noise_bytes(size_t count) {
  std::string bytes;
  uint32_t seed = 5;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return bytes;
}

std::string samples_of(const Format& format, size_t count) {
  if (format.kind == 1) return noise_bytes(count * format.bits / 8);
  std::string bytes;
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i % 200) / 100.0f - 1.0f;
    bytes += format.bits == 32 ? little(std::bit_cast<uint32_t>(value), 4)
                               : little(std::bit_cast<uint64_t>(double{value}), 8);
  }
  return bytes;
}

std::vector<float> all_of(SoundSource& source) {
  std::vector<float> all;
  std::array<float, 1000> some;
  for (size_t count; (count = source.read(some)) != 0;)
    all.insert(all.end(), some.begin(), some.begin() + count);
  return all;
}

std::string what_is_wrong(const std::string& file) {
  try {
    open_known_sound(as_bytes(file));
  } catch (const mote::convert::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("wav: samples of every type are libsndfile's") {
#ifndef MOTE_HAS_SNDFILE
  SKIP_UNLESS(false, "this build has no libsndfile");
#else
  constexpr Format kFormats[] = {{1, 8, 1},  {1, 16, 1}, {1, 24, 1},       {1, 32, 1},
                                 {3, 32, 1}, {3, 64, 1}, {1, 16, 2},       {1, 24, 3},
                                 {3, 32, 6}, {1, 8, 2},  {1, 16, 2, true}, {3, 32, 2, true}};
  for (const Format& format : kFormats) {
    CAPTURE(format.kind, format.bits, format.channels);
    const std::string file = wav_of(format_chunk(format), samples_of(format, 5000 * format.channels));
    const auto ours = open_known_sound(as_bytes(file)), theirs = mote::cli::open_sound(as_bytes(file));
    const std::vector<float> found = all_of(*ours), wanted = all_of(*theirs);
    TEST_ASSERT_EQUAL_UINT64(5000, wanted.size());
    TEST_ASSERT_TRUE(found == wanted);
    TEST_ASSERT_EQUAL_UINT64(theirs->rate(), ours->rate());
    TEST_ASSERT_TRUE(ours->damage().empty());
    ours->rewind();
    TEST_ASSERT_TRUE(all_of(*ours) == wanted);
  }
#endif
}

TEST_CASE("wav: chunks around the samples are passed over, also those of odd length") {
  const std::string format = format_chunk({1, 16, 1}), samples = noise_bytes(2000);
  const std::string odd = "JUNK" + little(3, 4) + "abc" + std::string(1, '\0');
  const std::string plain = wav_of(format, samples);
  const std::string file = wav_of(odd + format + odd, samples) + "LIST" + little(4, 4) + "INFO";
  const std::vector<float> found = all_of(*open_known_sound(as_bytes(file)));
  TEST_ASSERT_EQUAL_UINT64(1000, found.size());
  TEST_ASSERT_TRUE(found == all_of(*open_known_sound(as_bytes(plain))));
}

TEST_CASE("wav: a file that is cut gives what there is and says so") {
  const std::string file = wav_of(format_chunk({1, 16, 1}), noise_bytes(2000));
  const auto source = open_known_sound(as_bytes(file.substr(0, file.size() - 500)));
  TEST_ASSERT_EQUAL_UINT64(750, all_of(*source).size());
  TEST_ASSERT_TRUE(contains(source->damage(), "it is cut"));
  for (size_t size = 0; size < file.size() - 2000; ++size) {
    CAPTURE(size);
    TEST_ASSERT_FALSE(what_is_wrong(file.substr(0, size)).empty());
  }
}

TEST_CASE("wav: what it does not read is named") {
  TEST_ASSERT_TRUE(contains(what_is_wrong("text"), "this build reads WAV"));
  TEST_ASSERT_TRUE(contains(what_is_wrong(wav_of("", noise_bytes(10))), "before their format"));
  TEST_ASSERT_TRUE(contains(what_is_wrong(wav_of(format_chunk({6, 8, 1}), "x")), "kind 6"));
  TEST_ASSERT_TRUE(contains(what_is_wrong(wav_of(format_chunk({1, 12, 1}), "x")), "12 bits"));
  TEST_ASSERT_TRUE(contains(what_is_wrong(wav_of(format_chunk({1, 16, 0}), "x")), "0 channels"));
  TEST_ASSERT_TRUE(contains(what_is_wrong(wav_of("fmt " + little(8, 4) + "12345678", "x")), "cut"));
}
