// SPDX-License-Identifier: Apache-2.0
//
// Live transcripts of each kind of model: lines that are revised, and how much of the sound is heard again.
#include <chrono>
#include <thread>

#include "host/media/sound_file.h"
#include "host/tasks/sound/live.h"
#include "mote/speech_activity.h"
#include "tests/support/speech_files.h"
#include "tests/tools/command.h"
#include "tests/tools/hearers.h"

using namespace mote::host;
using namespace mote::testing;
using nlohmann::json;

namespace {

constexpr size_t kSecond = MOTE_SPEECH_RATE;

/// Samples that a test holds.
class SpokenSamples : public SoundInput {
 public:
  explicit SpokenSamples(std::vector<float> all) : all_(std::move(all)) {}
  Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), all_.size() - at_);
    std::copy_n(all_.begin() + static_cast<ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  Status rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::vector<float> all_;
  size_t at_ = 0;
};

std::vector<float> held_out_sentence() {
  const auto source =
      mote::cli::open_sound(std::string(MOTE_SOURCE_DIR) + "/models/speech/held-out/sentence.wav");
  std::vector<float> samples(20 * kSecond);
  samples.resize(source->read(samples));
  return samples;
}

/// The sentence, so many times, with so much silence behind each.
std::vector<float> sentences(int count, size_t silence) {
  const std::vector<float> said = held_out_sentence();
  std::vector<float> all;
  for (int i = 0; i < count; ++i) {
    all.insert(all.end(), said.begin(), said.end());
    all.resize(all.size() + silence);
  }
  return all;
}

struct Heard {
  std::vector<Passage> passages;
  std::vector<std::pair<std::string, size_t>> partials;
  std::vector<size_t> samples;  // of each sound that a recognizer got
  Latency latency;
};

/// Counts the samples of a stretch.
size_t length_of(SoundInput& stretch) {
  std::vector<float> all(60 * kSecond);
  const Result<size_t> count = stretch.read(all);
  REQUIRE(count.ok());
  REQUIRE(stretch.rewind().ok());
  return *Result<size_t>(count);
}

/// Transcribes a sound live; `hear` stands in for the model where it is not empty.
Heard live(const Opened& opened, std::vector<float> samples, bool revises, const HearStretch& hear = {}) {
  SpokenSamples sound(std::move(samples));
  Heard heard;
  const HearStretch counted = [&](SoundInput& stretch, const TranscribeOptions& options,
                                  const OnPassage& found) -> Result<Transcript> {
    heard.samples.push_back(length_of(stretch));
    if (hear) return hear(stretch, options, found);
    return transcribe(*opened.model, opened.choices, stretch, options, {}, found);
  };
  OnPartial partial;
  if (revises)
    partial = [&](std::string_view text, size_t agreed) { heard.partials.emplace_back(text, agreed); };
  Result<LiveTranscript> found = transcribe_live(
      *opened.model, sound, {}, {}, counted,
      [&](const Passage& passage) { heard.passages.push_back(passage); }, [] {}, partial);
  INFO(found.status().text());
  REQUIRE(found.ok());
  heard.latency = found->latency;
  return heard;
}

/// Those of hearers(), and the others that write texts.
std::vector<std::string> live_hearers() {
  std::vector<std::string> all = hearers();
  all.push_back(hearing("moonshine_streaming", {{"tokenizer.json", letters_tokenizer(0)}}));
  const std::filesystem::path folder = scratch() / "live_speech_to_text";
  const std::string file = (folder / "out.mote").string();
  if (!std::filesystem::exists(file)) {
    std::filesystem::copy(golden("speech_to_text"), folder, std::filesystem::copy_options::recursive);
    write_speech_files(known_speech("beams"), folder);
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
  }
  all.push_back(file);
  return all;
}

/// A recognizer that takes so long and hears one word.
HearStretch slow_recognizer(std::chrono::milliseconds time) {
  return [time](SoundInput&, const TranscribeOptions&, const OnPassage& found) -> Result<Transcript> {
    std::this_thread::sleep_for(time);
    found({"word", 0, 1});
    return Transcript();
  };
}

}  // namespace

TEST("a live sound has revised lines by each kind of model, and the texts that it has without", "[live]") {
  const std::vector<float> said = sentences(2, 2 * kSecond);
  for (const std::string& path : live_hearers()) {
    CAPTURE(path);
    const Opened opened(path);
    const Heard plain = live(opened, said, false), revised = live(opened, said, true);
    TEST_ASSERT_EQUAL_UINT32(2, revised.latency.stretches);
    TEST_ASSERT_TRUE(revised.latency.most > 0 && revised.latency.sum >= revised.latency.most);
    TEST_ASSERT_EQUAL_UINT64(2, plain.samples.size());
    TEST_ASSERT_TRUE(plain.partials.empty());
    TEST_ASSERT_FALSE(revised.partials.empty());
    TEST_ASSERT_EQUAL_UINT64(2 + revised.partials.size(), revised.samples.size());
    TEST_ASSERT_FALSE(plain.passages.empty());
    TEST_ASSERT_EQUAL_UINT64(plain.passages.size(), revised.passages.size());
    for (size_t i = 0; i < plain.passages.size(); ++i) {
      TEST_ASSERT_EQUAL_STRING(plain.passages[i].text, revised.passages[i].text);
      TEST_ASSERT_TRUE(plain.passages[i].begin == revised.passages[i].begin &&
                       plain.passages[i].end == revised.passages[i].end);
    }
    std::string before;
    for (const auto& [text, agreed] : revised.partials) {
      CAPTURE(text, agreed);
      REQUIRE(agreed <= text.size());
      REQUIRE((agreed == 0 || before.rfind(text.substr(0, agreed), 0) == 0));
      before = text;
    }
  }
}

TEST("a stretch is revised less often where that takes more than half of the time", "[live]") {
  const Opened opened(hearers().back());
  const std::vector<float> said = sentences(4, 0);  // one stretch
  const Heard fast = live(opened, said, true, slow_recognizer(std::chrono::milliseconds(0))),
              slow = live(opened, said, true, slow_recognizer(std::chrono::milliseconds(900)));
  TEST_ASSERT_EQUAL_UINT32(1, fast.latency.stretches);
  TEST_ASSERT_FALSE(slow.partials.empty());
  TEST_ASSERT_LESS_THAN(fast.partials.size(), slow.partials.size());
  for (size_t i = 1; i < slow.partials.size(); ++i)
    TEST_ASSERT_TRUE(slow.samples[i] - slow.samples[i - 1] >= kSecond * 18 / 10);
  for (size_t i = 1; i < fast.partials.size(); ++i)
    TEST_ASSERT_TRUE(fast.samples[i] - fast.samples[i - 1] >= kSecond);
}

TEST(
    "speech without a pause is heard in stretches of 28 seconds, so that revisions cost the same each second",
    "[live]") {
  const Opened opened(hearers().front());
  const auto cost = [&](int count) {
    const Heard heard =
        live(opened, sentences(count, 0), true, slow_recognizer(std::chrono::milliseconds(0)));
    size_t sum = 0;
    for (const size_t one : heard.samples) {
      TEST_ASSERT_TRUE(one <= 28 * kSecond);
      sum += one;
    }
    TEST_ASSERT_GREATER_THAN(heard.latency.stretches, heard.samples.size());
    return static_cast<double>(sum);
  };
  const double some = cost(30), twice = cost(60);
  TEST_ASSERT_TRUE(twice < 2.5 * some);
}
