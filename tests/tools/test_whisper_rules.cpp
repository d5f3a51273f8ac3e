// SPDX-License-Identifier: Apache-2.0
//
// What Whisper's decoder may say next, and the features that it hears.
#include <cmath>

#include "host/tasks/sound/mel_reader.h"
#include "host/tasks/sound/whisper_rules.h"
#include "mote/sound.h"
#include "tests/support/unity_style.h"

using namespace mote::host;

namespace {

// Text is 0 to 19, then the end, others, and times from 30 on.
constexpr int32_t kStop = 20, kNoTimestamps = 29, kFirstTime = 30;
constexpr size_t kIds = 130;

WhisperTokens some_tokens() {
  static const int32_t suppressed[] = {3, 21}, suppressed_first[] = {5, kStop};
  WhisperTokens tokens;
  tokens.stop = kStop;
  tokens.start = 22;
  tokens.speech.no_timestamps = kNoTimestamps;
  tokens.speech.first_timestamp = kFirstTime;
  tokens.speech.latest_first = 50;
  tokens.speech.suppressed = suppressed;
  tokens.speech.suppressed_count = 2;
  tokens.speech.suppressed_first = suppressed_first;
  tokens.speech.suppressed_first_count = 2;
  return tokens;
}

/// Ids that may follow where text is as likely as all times together are not.
std::vector<size_t> allowed(const std::vector<int32_t>& said, float text = 9.0f) {
  std::vector<float> logits(kIds, 0.0f);
  for (size_t i = 0; i < 20; ++i) logits[i] = text;
  WhisperRules(some_tokens()).apply(said, logits);
  std::vector<size_t> ids;
  for (size_t i = 0; i < kIds; ++i)
    if (logits[i] != -INFINITY) ids.push_back(i);
  return ids;
}

std::vector<size_t> range(size_t first, size_t end) {
  std::vector<size_t> ids;
  for (size_t i = first; i < end; ++i) ids.push_back(i);
  return ids;
}

/// Noise that gets louder, of so many samples.
class Noise : public SoundInput {
 public:
  explicit Noise(uint64_t samples) : samples_(samples) {}
  Result<size_t> read(std::span<float> out) override {
    size_t count = 0;
    for (; count < out.size() && at_ < samples_; ++count, ++at_) {
      state_ = state_ * 1664525u + 1013904223u;
      const float loud = static_cast<float>(at_) / static_cast<float>(samples_);
      out[count] = loud * (static_cast<float>(state_ >> 8) * 0x1p-23f - 1.0f);
    }
    return count;
  }
  Status rewind() override {
    at_ = 0;
    state_ = 1;
    return {};
  }

 private:
  uint64_t samples_, at_ = 0;
  uint32_t state_ = 1;
};

}  // namespace

TEST("a text of Whisper's begins with a time within its first second", "[whisper]") {
  REQUIRE(allowed({}) == range(kFirstTime, kFirstTime + 51));
}

TEST("times of Whisper's texts stand in pairs and do not fall", "[whisper]") {
  std::vector<size_t> text;
  for (const size_t id : range(0, kNoTimestamps))
    if (id != 3 && id != 21) text.push_back(id);
  SECTION("after a segment's begin there is text") { REQUIRE(allowed({40}) == text); }
  SECTION("after text there is more, or a later time") {
    std::vector<size_t> expected = text;
    for (const size_t id : range(41, kIds)) expected.push_back(id);
    REQUIRE(allowed({40, 7}) == expected);
  }
  SECTION("after a segment's end there is the next one's begin, or the end of all") {
    std::vector<size_t> expected;
    for (const size_t id : text)
      if (id >= kStop) expected.push_back(id);
    for (const size_t id : range(55, kIds)) expected.push_back(id);
    std::vector<float> logits(kIds, 0.0f);
    logits[kStop] = 9.0f;
    const std::vector<int32_t> said = {40, 7, 55};
    WhisperRules(some_tokens()).apply(said, logits);
    std::vector<size_t> ids;
    for (size_t i = 0; i < kIds; ++i)
      if (logits[i] != -INFINITY) ids.push_back(i);
    REQUIRE(ids == expected);
  }
}

TEST("a time is said where all together are likelier than any text", "[whisper]") {
  REQUIRE(allowed({40, 7}, 4.0f) == range(41, kIds));
  TEST_ASSERT_GREATER_THAN(range(41, kIds).size(), allowed({40, 7}, 5.0f).size());
}

TEST("features of a long sound, read in windows, are those of the whole", "[whisper]") {
  constexpr uint32_t kFft = 400, kHop = 160, kMels = 20, kFrames = 300, kHeld = 100;
  Noise noise(uint64_t{kFrames} * kHop + 37);
  std::vector<float> samples(size_t{kFrames + 10} * kHop);
  REQUIRE(noise.read(samples).ok());
  REQUIRE(noise.rewind().ok());
  const Hooks hooks{};
  Result<MelReader> opened = MelReader::read_all(noise, 16000, kFft, kHop, kMels, kHeld, hooks);
  REQUIRE(opened.ok());
  MelReader& reader = *opened;
  TEST_ASSERT_EQUAL_UINT32(kFrames, reader.frames());
  std::vector<float> filters(size_t{kMels} * (kFft / 2 + 1)), whole(size_t{kFrames + 10} * kMels);
  mote_mel_filters(16000, kMels, kFft / 2 + 1, filters.data());
  const mote_log_mel spec{kFft, kHop, kMels, kFft / 2 + 1, filters.data(), 0, 0, {}};
  std::vector<double> scratch(mote_log_mel_bytes(&spec) / sizeof(double));
  mote_error error{};
  REQUIRE(mote_log_mel_compute(&spec, samples.data(), static_cast<uint32_t>(samples.size()), scratch.data(),
                               whole.data(), &error) == MOTE_OK);
  for (const auto& [first, count] : {std::pair(0u, 90u), std::pair(60u, 100u), std::pair(200u, 105u)}) {
    CAPTURE(first, count);
    std::vector<float> window(size_t{count} * kMels);
    REQUIRE(reader.read(first, count, window.data()).ok());
    REQUIRE(std::equal(window.begin(), window.end(), whole.begin() + static_cast<ptrdiff_t>(first * kMels)));
  }
}
