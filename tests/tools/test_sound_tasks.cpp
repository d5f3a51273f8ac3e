// SPDX-License-Identifier: Apache-2.0
//
// What is said in a sound, as programs ask the library for it: what ends it, and what the callbacks get.
#include "host/base/mapped_file.h"
#include "host/tasks/sound/speaker.h"
#include "host/tasks/sound/transcribe.h"
#include "mote/posix.h"
#include "tests/tools/command.h"
#include "tests/tools/hearers.h"
#include "tests/tools/sound_files.h"

using namespace mote::host;
using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Noise of which reads and goings back are counted, so many of which work.
class CountedNoise : public SoundInput {
 public:
  CountedNoise(size_t samples, int reads, int rewinds)
      : all_(noise(samples)), reads_(reads), rewinds_(rewinds) {}
  Result<size_t> read(std::span<float> out) override {
    if (reads_-- <= 0) return Status{MOTE_CORRUPT_FILE, "noise.wav: the tape is torn"};
    const size_t count = std::min(out.size(), all_.size() - at_);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(all_[at_ + i]) / 32768.0f;
    at_ += count;
    return count;
  }
  Status rewind() override {
    if (rewinds_-- <= 0) return {MOTE_CORRUPT_FILE, "noise.wav: it is a pipe"};
    at_ = 0;
    return {};
  }

 private:
  std::vector<int16_t> all_;
  size_t at_ = 0;
  int reads_, rewinds_;
};

/// Silence of which reads are counted.
class Silence : public SoundInput {
 public:
  explicit Silence(size_t samples) : samples_(samples), left_(samples) {}
  Result<size_t> read(std::span<float> out) override {
    ++reads_;
    const size_t count = std::min(out.size(), left_);
    std::fill_n(out.begin(), count, 0.0f);
    left_ -= count;
    return count;
  }
  Status rewind() override {
    left_ = samples_;
    return {};
  }
  int reads() const { return reads_; }

 private:
  size_t samples_, left_;
  int reads_ = 0;
};

constexpr int kAny = 1 << 20;

}  // namespace

TEST("a transcription ends with the failure of its sound, in the sound's words", "[sound]") {
  for (const std::string& path : hearers()) {
    CAPTURE(path);
    const Opened opened(path);
    CountedNoise torn(48000, 0, kAny);
    const auto transcript = transcribe(*opened.model, opened.choices, torn, {}, {}, [](const Passage&) {});
    REQUIRE(transcript.status().code() == MOTE_CORRUPT_FILE);
    TEST_ASSERT_EQUAL_STRING("noise.wav: the tape is torn", transcript.status().text());
  }
  const Opened opened(whisper_file());  // which reads a long sound twice
  CountedNoise pipe(160000, kAny, 0);
  const auto transcript = transcribe(*opened.model, opened.choices, pipe, {}, {}, [](const Passage&) {});
  TEST_ASSERT_EQUAL_STRING("noise.wav: it is a pipe", transcript.status().text());
}

TEST("a transcription whose caller stops it ends as cancelled and asks no more", "[sound]") {
  for (const std::string& path : hearers()) {
    CAPTURE(path);
    const Opened opened(path);
    for (const int most : {1, 2}) {  // before the first operations of a model, and within or behind them
      int asked = 0;
      Hooks hooks;
      hooks.stop = [&] { return ++asked >= most; };
      CountedNoise sound(48000, kAny, kAny);
      const auto transcript =
          transcribe(*opened.model, opened.choices, sound, {}, hooks, [](const Passage&) {});
      REQUIRE(transcript.status().code() == MOTE_CANCELLED);
      TEST_ASSERT_EQUAL_INT(most, asked);
    }
  }
}

TEST("a transcription that is stopped while it reads a long sound reads no more of it", "[sound]") {
  for (const std::string& path : hearers()) {
    CAPTURE(path);
    const Opened opened(path);
    Silence sound(100 * 16000);
    Hooks hooks;
    hooks.stop = [&] { return sound.reads() != 0; };
    const auto transcript =
        transcribe(*opened.model, opened.choices, sound, {}, hooks, [](const Passage&) {});
    REQUIRE(transcript.status().code() == MOTE_CANCELLED);
    REQUIRE(sound.reads() <= 2);  // one may look whether the sound goes on
  }
}

TEST("a Whisper that is stopped after a passage gives no passage of a later window", "[whisper]") {
  const Opened opened(whisper_file());
  std::vector<double> begins;
  Hooks hooks;
  const auto hear = [&] {
    begins.clear();
    CountedNoise sound(48000, kAny, kAny);
    return transcribe(*opened.model, opened.choices, sound, {}, hooks,
                      [&](const Passage& passage) { begins.push_back(passage.begin); });
  };
  REQUIRE(hear().ok());
  const std::vector<double> all = begins;
  hooks.stop = [&] { return !begins.empty(); };
  REQUIRE(hear().status().code() == MOTE_CANCELLED);
  REQUIRE((!begins.empty() && begins.size() < all.size()));
  REQUIRE(std::equal(begins.begin(), begins.end(), all.begin()));
}

TEST("a Whisper says again, less likely words, what deflates too well, and needs no zlib", "[whisper]") {
  const Opened opened(whisper_file());
  const auto passages = [&](Deflated deflated) {
    TranscribeOptions options;
    options.deflated = std::move(deflated);
    CountedNoise sound(48000, kAny, kAny);
    std::vector<Passage> found;
    REQUIRE(transcribe(*opened.model, opened.choices, sound, options, {}, [&](const Passage& passage) {
              found.push_back(passage);
            }).ok());
    return found;
  };
  std::vector<std::string> deflated;
  const auto repetitive = passages([&](std::span<const std::byte> bytes) {
    deflated.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return bytes.size() / 3 + 1;
  });
  TEST_ASSERT_GREATER_THAN(repetitive.size(), deflated.size());
  for (const Passage& passage : repetitive) {
    if (passage.compression > 2.4) TEST_ASSERT_TRUE(passage.temperature == 1.0);
  }
  REQUIRE(std::any_of(repetitive.begin(), repetitive.end(),
                      [](const Passage& passage) { return passage.compression > 2.4; }));
  const auto untold = passages({});
  REQUIRE(!untold.empty());
  for (const Passage& passage : untold) TEST_ASSERT_TRUE(passage.compression == 0);
}

TEST("a model says lines with pauses between them, in pieces that a caller's stop ends", "[speak]") {
  const Opened opened(hearing("vits", {}));
  const std::vector<std::vector<int32_t>> lines = {{0, 1, 0, 2, 0}, {0, 3, 0}};
  const auto said = [&](std::span<const std::vector<int32_t>> texts) {
    std::vector<float> samples;
    SpokenLines spoken({texts.begin(), texts.end()});
    REQUIRE(speak(*opened.model, opened.choices, std::move(spoken), {}, {}, [&](std::span<const float> more) {
              samples.insert(samples.end(), more.begin(), more.end());
            }).ok());
    return samples;
  };
  std::vector<float> expected = said(std::span(lines).first(1)), second = said(std::span(lines).last(1));
  mote_voice_info voice;
  mote_model_get_voice(opened.model->get(), &voice);
  expected.resize(expected.size() + static_cast<size_t>(0.3 * voice.rate));
  expected.insert(expected.end(), second.begin(), second.end());
  REQUIRE(said(lines) == expected);
  Hooks hooks;
  size_t given = 0;
  hooks.stop = [&] { return given != 0; };
  SpokenLines spoken({lines.begin(), lines.end()});
  const Status status = speak(*opened.model, opened.choices, std::move(spoken), {}, hooks,
                              [&](std::span<const float> more) { given += more.size(); });
  REQUIRE(status.code() == MOTE_CANCELLED);
  REQUIRE((given > 0 && given < expected.size()));
}
