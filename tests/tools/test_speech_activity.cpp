// SPDX-License-Identifier: Apache-2.0
//
// The detector of speech on held-out sounds of models/speech, and transcribe --vad.
#include "mote/speech_activity.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/media/sound_file.h"
#include "host/tasks/sound/live.h"
#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double kRate = MOTE_SPEECH_RATE;

std::string held_out(const std::string& name) {
  return std::string(MOTE_SOURCE_DIR) + "/models/speech/held-out/" + name;
}

std::vector<float> samples_of(const std::string& path) {
  const auto source = mote::cli::open_sound(path);
  TEST_ASSERT_EQUAL_UINT32(MOTE_SPEECH_RATE, source->rate());
  std::vector<float> samples(20 * MOTE_SPEECH_RATE);
  samples.resize(source->read(samples));
  return samples;
}

/// Returns the probabilities of a sound that is given in pieces.
std::vector<float> speech_of(const std::vector<float>& samples, size_t piece) {
  mote_speech_detector detector;
  mote_speech_start(&detector);
  std::vector<float> all;
  for (size_t at = 0; at < samples.size(); at += piece) {
    const auto count = static_cast<uint32_t>(std::min(piece, samples.size() - at));
    std::vector<float> some(count / MOTE_SPEECH_FRAME + 1);
    some.resize(mote_speech_add(&detector, samples.data() + at, count, some.data()));
    all.insert(all.end(), some.begin(), some.end());
  }
  std::vector<float> last(MOTE_SPEECH_DELAY);
  last.resize(mote_speech_finish(&detector, last.data()));
  all.insert(all.end(), last.begin(), last.end());
  return all;
}

/// Returns the share of pairs, of a frame that is said and one that is not, in the right order.
double area_of(const std::vector<std::pair<float, bool>>& frames) {
  double right = 0, pairs = 0;
  for (const auto& [score, said] : frames) {
    if (!said) continue;
    for (const auto& [other, other_said] : frames) {
      if (other_said) continue;
      right += score > other ? 1 : score == other ? 0.5 : 0;
      ++pairs;
    }
  }
  return right / pairs;
}

/// The golden model of CTC with letters, which writes something of any sound.
const std::string& letters() {
  static const std::string path = [] {
    const fs::path folder = scratch() / "vad_letters";
    fs::copy(golden("wav2vec2_ctc"), folder, fs::copy_options::recursive);
    json vocab = {{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<unk>", 3}, {"|", 4}};
    for (int id = 5; id < 32; ++id) vocab[std::string(1, static_cast<char>('a' + id - 5))] = id;
    write_text(folder / "vocab.json", vocab.dump());
    std::string file = (folder / "out.mote").string();
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
    return file;
  }();
  return path;
}

std::vector<int16_t> silence(double seconds) {
  return std::vector<int16_t>(static_cast<size_t>(seconds * kRate));
}

std::vector<int16_t> sentence() {
  std::vector<int16_t> samples;
  for (const float sample : samples_of(held_out("sentence.wav")))
    samples.push_back(static_cast<int16_t>(sample * 32000));
  return samples;
}

}  // namespace

TEST("speech of held-out voices is told from held-out noises and music at 0 dB and above", "[vad]") {
  const json known = json::parse(read_text(held_out("known.json")));
  std::vector<std::pair<float, bool>> frames;
  for (const auto& [name, one] : known.items()) {
    CAPTURE(name);
    const std::vector<float> found = speech_of(samples_of(held_out(name + ".wav")), 100000);
    const json &said = one.at("said"), &expected = one.at("probabilities");
    TEST_ASSERT_EQUAL_UINT64(said.size(), found.size());
    for (size_t i = 0; i < found.size(); ++i) {
      TEST_ASSERT_FLOAT_WITHIN(2e-3, expected[i].get<float>(), found[i]);
      frames.emplace_back(found[i], said[i].get<int>() != 0);
    }
  }
  const double area = area_of(frames);
  CAPTURE(area);
  TEST_ASSERT_TRUE(area >= 0.98);
}

TEST("a detector gives the same bits for any pieces of a sound, and nothing for what is shorter than a frame",
     "[vad]") {
  const std::vector<float> samples = samples_of(held_out("0db-a.wav"));
  const std::vector<float> whole = speech_of(samples, samples.size());
  for (const size_t piece : {1u, 511u, 512u, 3000u}) TEST_ASSERT_TRUE(whole == speech_of(samples, piece));
  TEST_ASSERT_EQUAL_UINT64(0, speech_of(std::vector<float>(511), 511).size());
  for (const size_t frames : {1u, 2u, 5u})
    TEST_ASSERT_EQUAL_UINT64(frames, speech_of(std::vector<float>(512 * frames + 100), 700).size());
  for (const float odd : {NAN, INFINITY, 1e30f}) {
    for (const float probability : speech_of(std::vector<float>(5120, odd), 5120))
      TEST_ASSERT_TRUE(probability >= 0 && probability <= 1);
  }
}

TEST("a sound that is too short to be heard has nothing to hear, which is said", "[vad]") {
  for (const size_t samples : {1u, 5u, 10u}) {
    CAPTURE(samples);
    const Outcome outcome =
        run("transcribe " + letters() + " " + wav("tiny.wav", std::vector<int16_t>(samples, 99)));
    TEST_ASSERT_EQUAL_STRING("\n", assert_works(outcome));
    TEST_ASSERT_TRUE(contains(outcome.err, "there is nothing to hear"));
  }
  const Outcome longer =
      run("transcribe " + letters() + " " + wav("longer.wav", std::vector<int16_t>(400, 99)));
  assert_works(longer);
  TEST_ASSERT_FALSE(contains(longer.err, "nothing to hear"));
}

TEST("transcribe: where guesses were asked for and there are none, a note says why", "[vad]") {
  const std::string command = "transcribe " + letters() + " " + wav("none_guessed.wav", sentence());
  const std::string note = "no token was guessed: texts of a Whisper alone";
  for (const char* asked : {" --speculate auto", " --speculate lookup --json"})
    TEST_ASSERT_TRUE(contains(run(command + asked).err, note));
  for (const char* not_asked : {"", " --speculate off"})
    TEST_ASSERT_FALSE(contains(run(command + not_asked).err, note));
}

TEST("35 seconds of zeros are no speech, and nothing of them is written", "[vad]") {
  for (const float probability : speech_of(std::vector<float>(35 * MOTE_SPEECH_RATE), 16000))
    TEST_ASSERT_TRUE(probability < 0.1f);
  const std::string zeros = wav("zeros.wav", silence(35));
  const Outcome outcome = run("transcribe " + letters() + " " + zeros + " --vad --json");
  const json found = assert_json(outcome);
  TEST_ASSERT_EQUAL_STRING("", found.at("text").get<std::string>());
  TEST_ASSERT_TRUE(found.at("words").empty());
  TEST_ASSERT_TRUE(contains(outcome.err, "there is nothing to hear"));
}

TEST("speech before and behind 40 seconds of zeros is heard at its times, and not what lies between",
     "[vad]") {
  const std::vector<int16_t> said = sentence();
  const double seconds = static_cast<double>(said.size()) / kRate;
  std::vector<int16_t> all = silence(2);
  all.insert(all.end(), said.begin(), said.end());
  all.resize(all.size() + 40 * MOTE_SPEECH_RATE);
  all.insert(all.end(), said.begin(), said.end());
  all.resize(all.size() + 5 * MOTE_SPEECH_RATE);
  const std::string sound = wav("apart.wav", all);
  const json found = assert_json(run("transcribe " + letters() + " " + sound + " --vad --json"));
  const double second = 2 + seconds + 40;
  bool is_early = false, is_late = false;
  for (const json& word : found.at("words")) {
    CAPTURE(word.dump());
    const double begin = word.at("start"), end = word.at("end");
    TEST_ASSERT_TRUE(begin < end);
    // A word may go on from one stretch into the next, and none begins or ends between them.
    const auto is_in = [&](double time, double first) {
      return time >= first - 0.5 && time <= first + seconds + 0.9;
    };
    TEST_ASSERT_TRUE((is_in(begin, 2) || is_in(begin, second)) && (is_in(end, 2) || is_in(end, second)));
    is_early = is_early || is_in(begin, 2);
    is_late = is_late || is_in(end, second);
  }
  CAPTURE(found.dump());
  TEST_ASSERT_TRUE(is_early && is_late);
  const json part = assert_json(run("transcribe " + letters() + " " + sound + " --vad --json --offset 20"));
  for (const json& word : part.at("words")) TEST_ASSERT_TRUE(word.at("start").get<double>() >= second - 0.5);
}

TEST("a live sound is written stretch by stretch, with revised lines between, as its stretches alone are",
     "[vad]") {
  const std::vector<int16_t> said = sentence();
  std::vector<int16_t> all = silence(1);
  for (int i = 0; i < 2; ++i) {
    all.insert(all.end(), said.begin(), said.end());
    all.resize(all.size() + 2 * MOTE_SPEECH_RATE);
  }
  const std::string sound = wav("live.wav", all), command = "transcribe " + letters() + " - --live ";
  const Outcome plain = run(command + "<" + sound);
  const std::string text = assert_works(plain);
  TEST_ASSERT_TRUE(contains(plain.err, "2 stretches; a text came "));
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  TEST_ASSERT_GREATER_THAN(1u, lines.size());
  const std::string revised = assert_works(run(command + "--partial <" + sound));
  TEST_ASSERT_TRUE(contains(revised, "... "));
  std::string whole;
  for (size_t at = 0; at < revised.size(); at = revised.find('\n', at) + 1) {
    const std::string line = revised.substr(at, revised.find('\n', at) - at + 1);
    if (line.rfind("... ", 0) != 0) whole += line;
  }
  TEST_ASSERT_EQUAL_STRING(text, whole);
  const std::string objects = assert_works(run(command + "--json <" + sound));
  double last = 0;
  for (size_t at = 0; at < objects.size(); at = objects.find('\n', at) + 1) {
    const json one = json::parse(objects.substr(at, objects.find('\n', at) - at));
    TEST_ASSERT_TRUE(one.at("start").get<double>() >= last - 1e-6 && one.at("end") > one.at("start"));
    last = one.at("end");
  }
  assert_fails(run(command + "--offset 1 <" + sound), 1, "live");
  assert_fails(run("transcribe " + letters() + " " + sound + " --partial"), 2, "--partial needs --live");
  assert_fails(run(command + "-o " + (scratch() / "live_out").string() + " <" + sound), 2, "--live");
}

TEST("a device is heard live alone, and one that is not there is refused by name", "[vad]") {
  assert_fails(run("transcribe " + letters() + " --listen nowhere"), 2, "--listen needs --live");
  assert_fails(run("transcribe " + letters() + " x.wav --listen nowhere --live"), 2, "and no file");
  assert_fails(run("transcribe " + letters()), 2, "sound");
  assert_fails(run("transcribe " + letters() + " --listen nowhere --live"), 1, "nowhere: ");
}

TEST("words agree as far as both texts have them whole", "[vad]") {
  using mote::host::agreed_bytes;
  TEST_ASSERT_EQUAL_UINT64(7, agreed_bytes("one two three", "one two tree"));
  TEST_ASSERT_EQUAL_UINT64(0, agreed_bytes("one", "on"));
  TEST_ASSERT_EQUAL_UINT64(3, agreed_bytes("one two", "one"));
  TEST_ASSERT_EQUAL_UINT64(0, agreed_bytes("", "one"));
}
