// SPDX-License-Identifier: Apache-2.0
//
// Sound on the command line: resampling, and speech to text.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "host/media/sound_file.h"
#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using mote::convert::SafetensorsFile;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double kPi = 3.14159265358979323846;

/// A second of a tone.
class Tone : public mote::cli::SoundSource {
 public:
  Tone(uint32_t rate, double hertz) : rate_(rate), hertz_(hertz) {}
  uint32_t rate() const override { return rate_; }
  size_t read(std::span<float> out) override {
    size_t count = 0;
    for (; count < out.size() && at_ < rate_; ++count, ++at_)
      out[count] = static_cast<float>(std::sin(2 * kPi * hertz_ * at_ / rate_));
    return count;
  }
  void rewind() override { at_ = 0; }

 private:
  uint32_t rate_, at_ = 0;
  double hertz_;
};

std::vector<float> resampled(uint32_t rate, double hertz) {
  Tone tone(rate, hertz);
  mote::cli::Resampler resampler(tone, 16000);
  std::vector<float> all(20000);
  size_t count = 0;
  for (size_t piece = 0; count < all.size(); count += piece) {
    piece = resampler.read(std::span(all).subspan(count, std::min<size_t>(777, all.size() - count)));
    if (piece == 0) break;
  }
  all.resize(count);
  return all;
}

/// The golden model of CTC with letters for its labels; 0 is the blank, 4 a space.
const std::string& speller() {
  static const std::string path = [] {
    const fs::path folder = scratch() / "speller";
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

/// What labels of frames spell, read by hand.
std::string spelled(const std::vector<float>& logits, size_t width) {
  std::string text;
  size_t last = width;
  for (size_t row = 0; row * width < logits.size(); ++row) {
    const auto first = logits.begin() + static_cast<ptrdiff_t>(row * width);
    const auto label =
        static_cast<size_t>(std::max_element(first, first + static_cast<ptrdiff_t>(width)) - first);
    const char* const marks[] = {"", "<s>", "</s>", "<unk>"};
    if (label != last && label == 4 && !text.empty()) text += ' ';
    if (label != last && label < 4) text += marks[label];
    if (label != last && label >= 5) text += static_cast<char>('a' + static_cast<int>(label) - 5);
    last = label;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

TEST("resampling keeps a tone's frequency and takes away what the new rate cannot hold", "[sound]") {
  for (const uint32_t rate : {8000u, 11025u, 16000u, 22050u, 44100u, 48000u}) {
    CAPTURE(rate);
    const std::vector<float> samples = resampled(rate, 440);
    TEST_ASSERT_TRUE(samples.size() >= 15999 && samples.size() <= 16001);
    for (size_t i = 200; i < 15800; ++i) {
      const double expected = std::sin(2 * kPi * 440 * static_cast<double>(i) / 16000);
      TEST_ASSERT_FLOAT_WITHIN(1e-3, expected, samples[i]);
    }
  }
  const std::vector<float> gone = resampled(48000, 12000);
  for (size_t i = 200; i < 15800; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.0, gone[i]);
}

TEST("transcribe spells the likeliest labels of a WAV file's frames, from a file or a pipe", "[sound]") {
  const std::vector<int16_t> samples = noise(4000);
  const std::string sound = wav("noise.wav", samples);
  std::vector<float> values;
  for (const int16_t sample : samples) values.push_back(static_cast<float>(sample) / 32768.0f);
  const std::string in = (scratch() / "in.safetensors").string(),
                    out = (scratch() / "out.safetensors").string();
  mote::convert::write_safetensors(in,
                                   {{"input_values", mote::convert::f32_tensor({1, values.size()}, values)}});
  assert_works(run("forward " + speller() + " --input " + in + " --output " + out));
  const SafetensorsFile logits(out);
  const std::string expected = spelled(logits.f32("logits"), 32);
  TEST_ASSERT_GREATER_THAN(5u, expected.size());
  TEST_ASSERT_EQUAL_STRING(expected + "\n", assert_works(run("transcribe " + speller() + " " + sound)));
  TEST_ASSERT_EQUAL_STRING(expected + "\n", assert_works(run("transcribe " + speller() + " - <" + sound)));
  const json words = assert_json(run("transcribe " + speller() + " " + sound + " --json"));
  TEST_ASSERT_EQUAL_STRING(expected, words.at("text").get<std::string>());
  double end = 0;
  for (const json& word : words.at("words")) {
    TEST_ASSERT_TRUE(word.at("begin") >= end && word.at("end") > word.at("begin"));
    end = word.at("end");
  }
  TEST_ASSERT_TRUE(end <= 0.25);
  const std::string subtitles = assert_works(run("transcribe " + speller() + " " + sound + " --srt"));
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(subtitles.rfind("1\n00:00:00,", 0)));
}

TEST("a decoder, a transducer and tokens by CTC make texts of a long sound, stretch after stretch",
     "[sound]") {
  const std::string small = std::string(MOTE_SOURCE_DIR) + "/tests/golden/tokenizers/small/tokenizer.json";
  const auto letters = [&small](int count) {
    json root = json::parse(read_text(small));
    root["added_tokens"] = json::array();
    root["post_processor"] = nullptr;
    json& model = root["model"];
    model["merges"] = json::array();
    model["unk_token"] = nullptr;
    model["vocab"] = json::object();
    for (int id = 0; id < count; ++id) model["vocab"][std::string(1, static_cast<char>('A' + id))] = id;
    return root.dump();
  };
  const std::string sound = wav("stretches.wav", noise(31 * 16000));
  for (const auto& [name, tokenizer] : {std::pair<std::string, std::string>("moonshine", read_text(small)),
                                        {"parakeet_tdt", letters(12)},
                                        {"parakeet_ctc", letters(32)}}) {
    CAPTURE(name);
    const fs::path folder = scratch() / (name + "_speaks");
    fs::copy(golden(name), folder, fs::copy_options::recursive);
    write_text(folder / "tokenizer.json", tokenizer);
    const std::string file = (folder / "out.mote").string();
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
    const json all = assert_json(run("transcribe " + file + " " + sound + " --json"));
    const json& segments = all.at("segments");
    TEST_ASSERT_EQUAL_UINT64(2, segments.size());
    for (const json& segment : segments) TEST_ASSERT_FALSE(segment.at("text").get<std::string>().empty());
    TEST_ASSERT_TRUE(segments[0].at("end") > 22 && segments[0].at("end") <= segments[1].at("begin"));
    TEST_ASSERT_TRUE(segments[1].at("end") > segments[1].at("begin") && segments[1].at("end") <= 31.01);
    REQUIRE(all == assert_json(run("transcribe " + file + " - --json <" + sound)));
  }
}

TEST("labels of CTC are parted and lowered as tokenizer_config.json says, in the language that it names",
     "[sound]") {
  const std::string sound = wav("parted.wav", noise(4000));
  const std::string plain = assert_works(run("transcribe " + speller() + " " + sound));
  const fs::path folder = scratch() / "parted";
  fs::copy(golden("wav2vec2_ctc"), folder, fs::copy_options::recursive);
  json vocab = {{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<unk>", 3}, {"_", 4}};
  for (int id = 5; id < 32; ++id) vocab[std::string(1, static_cast<char>(id < 31 ? 'A' + id - 5 : '{'))] = id;
  const auto convert = [&] {
    return run("convert " + folder.string() + " -o " + (folder / "out.mote").string() + " --type f32");
  };
  write_text(folder / "vocab.json", json{{"deu", json::object()}, {"fra", vocab}}.dump());
  write_text(folder / "tokenizer_config.json",
             R"({"word_delimiter_token": "_", "do_lower_case": true, "target_lang": "fra"})");
  assert_works(convert());
  TEST_ASSERT_EQUAL_STRING(plain,
                           assert_works(run("transcribe " + (folder / "out.mote").string() + " " + sound)));
  write_text(folder / "tokenizer_config.json", R"({"target_lang": "spa"})");
  assert_fails(convert(), 1, "spa");
  fs::remove(folder / "vocab.json");
  assert_works(convert());
  assert_fails(run("transcribe " + (folder / "out.mote").string() + " " + sound), 1, "vocab.json");
}

TEST("texts of labels are the original's, by the files that transformers' processors save", "[sound]") {
  const json known = json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/ctc.json"));
  TEST_ASSERT_GREATER_THAN(5u, known.at("cases").size());
  int number = 0, compared = 0;
  for (const json& one : known.at("cases")) {
    CAPTURE(one.at("name").get<std::string>());
    const std::string name = "ctc" + std::to_string(number++);
    const fs::path folder = scratch() / name;
    fs::copy(golden("wav2vec2_ctc"), folder, fs::copy_options::recursive);
    for (const auto& [file, content] : one.at("files").items()) write_text(folder / file, content.dump());
    const std::string file = (folder / "out.mote").string(),
                      sound = wav(name + ".wav", noise(one.at("samples")));
    assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
    const std::string text = one.at("text");
    TEST_ASSERT_EQUAL_STRING(text + "\n", assert_works(run("transcribe " + file + " " + sound)));
    const json all = assert_json(run("transcribe " + file + " " + sound + " --json"));
    TEST_ASSERT_EQUAL_STRING(text, all.at("text").get<std::string>());
    if (!one.contains("words")) continue;
    // The original's words are not those of its text where labels are cleaned up or parted by other signs.
    std::string joined;
    for (const json& word : one.at("words"))
      joined += (joined.empty() ? "" : " ") + word[0].get<std::string>();
    if (joined != text) continue;
    ++compared;
    std::vector<json> words;
    const json found = assert_json(run("transcribe " + file + " " + sound + " --json --words"));
    for (const json& segment : found.at("segments"))
      for (const json& word : segment.at("words")) words.push_back(word);
    TEST_ASSERT_EQUAL_UINT32(one.at("words").size(), words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      CAPTURE(i);
      const json& expected = one.at("words")[i];
      // With the space in front, but at the begin of a segment.
      const std::string word = words[i].at("word"), own = expected[0];
      CAPTURE(word);
      REQUIRE((word == own || word == " " + own));
      TEST_ASSERT_FLOAT_WITHIN(0.001, expected[1].get<double>(), words[i].at("start").get<double>());
      TEST_ASSERT_FLOAT_WITHIN(0.001, expected[2].get<double>(), words[i].at("end").get<double>());
      REQUIRE((words[i].at("probability") > 0 && words[i].at("probability") <= 1));
    }
  }
  TEST_ASSERT_GREATER_OR_EQUAL(4, compared);
}

TEST("a sound has the labels that the model's logits of its samples say, whole and of any length",
     "[sound]") {
  for (const char* name : {"wav2vec2_sound_labels", "hubert_sound_labels", "wavlm_sound_labels"}) {
    const std::string model = converted(name, "f32");
    for (const size_t count : {1100, 2500, 1100}) {
      CAPTURE(name, count);
      const std::vector<int16_t> samples = noise(count);
      const std::string sound = wav("labelled.wav", samples);
      const json labels = assert_json(run("classify " + model + " --json --sound " + sound)).at("labels");
      std::vector<float> values;
      for (const int16_t sample : samples) values.push_back(static_cast<float>(sample) / 32768.0f);
      const std::string in = (scratch() / "labelled.st").string(), out = (scratch() / "logits.st").string();
      mote::convert::write_safetensors(in, {{"input_values", mote::convert::f32_tensor({1, count}, values)}});
      assert_works(run("forward " + model + " --input " + in + " --output " + out));
      const std::vector<float> logits = SafetensorsFile(out).f32("logits");
      float sum = 0;
      for (const float logit : logits) sum += std::exp(logit);
      TEST_ASSERT_EQUAL_UINT64(logits.size(), labels.size());
      const std::vector<std::string> names = {"yes", "no", "up", "down", "silence"};
      for (const json& label : labels) {
        const auto at = std::find(names.begin(), names.end(), label.at("label").get<std::string>());
        TEST_ASSERT_FLOAT_WITHIN(1e-5, std::exp(logits[static_cast<size_t>(at - names.begin())]) / sum,
                                 label.at("probability").get<float>());
      }
    }
    assert_fails(run("classify " + model + " --sound " + wav("short.wav", noise(5))), 1, "too short");
    assert_fails(run("classify " + model + " --text a"), 2, "--sound");
  }
}

TEST("an encoder of features labels a sound by its beginning, with silence behind a short one", "[sound]") {
  const std::string model = converted("whisper_sound_labels", "f32");  // of 0.48 seconds
  const auto labels_of = [&](const std::vector<int16_t>& samples) {
    return assert_json(run("classify " + model + " --json --sound " + wav("begun.wav", samples)))
        .at("labels");
  };
  std::vector<int16_t> samples = noise(7680);
  const json labels = labels_of(samples);
  TEST_ASSERT_EQUAL_UINT64(5, labels.size());
  samples.resize(20000, 9000);
  CHECK(labels_of(samples) == labels);
  std::vector<int16_t> part = noise(3000), filled = part;
  filled.resize(7680, 0);
  CHECK(labels_of(part) == labels_of(filled));
  CHECK(labels_of(part) != labels);
}

TEST("heads of sound whose original differs by its version, or that are not supported, are refused",
     "[sound]") {
  const fs::path folder = scratch() / "summed";
  fs::copy(golden("hubert_sound_labels"), folder, fs::copy_options::recursive);
  json config = json::parse(read_text(folder / "config.json"));
  config["use_weighted_layer_sum"] = true;
  write_text(folder / "config.json", config.dump());
  const std::string command = "convert " + folder.string() + " -o " + (folder / "out.mote").string();
  assert_fails(run(command), 1, "use_weighted_layer_sum of layers that end in a norm");
  config["architectures"] = {"HubertForXVector"};
  write_text(folder / "config.json", config.dump());
  assert_fails(run(command), 1, "those for labels of a sound");
}

TEST("a padding that no label has, and tokens of the same text, are refused by name", "[sound]") {
  const fs::path folder = scratch() / "unpadded";
  fs::copy(golden("wav2vec2_ctc"), folder, fs::copy_options::recursive);
  const std::string command = "convert " + folder.string() + " -o " + (folder / "out.mote").string();
  write_text(folder / "vocab.json", R"({"<pad>": 0, "a": 1, "A": 2})");
  write_text(folder / "tokenizer_config.json", R"({"pad_token": "[PAD]"})");
  assert_fails(run(command), 1, "pad_token '[PAD]'");
  write_text(folder / "tokenizer_config.json", R"({"do_lower_case": true})");
  assert_fails(run(command), 1, "the same text 'a'");
}

TEST("transcribe says what is wrong with damaged sound and with models that do not hear", "[sound]") {
  const std::string sound = wav("short.wav", noise(20));
  TEST_ASSERT_EQUAL_STRING("\n", assert_works(run("transcribe " + speller() + " " + sound)));
  assert_fails(run("transcribe " + speller() + " /nowhere.wav"), 1, "/nowhere.wav");
  const std::string torn = (scratch() / "torn.wav").string();
  write_text(torn, read_text(sound).substr(0, 20));
  assert_fails(run("transcribe " + speller() + " " + torn), 1, "torn.wav");
  const std::string whole = read_text(wav("whole.wav", noise(4000)));
  write_text(torn, whole.substr(0, whole.size() * 2 / 3));
  const auto cut = run("transcribe " + speller() + " " + torn);
  TEST_ASSERT_TRUE(assert_works(cut).size() > 1);
  TEST_ASSERT_TRUE(contains(cut.err, "torn.wav: it is cut"));
  const std::string empty = wav("empty.wav", {});
  const auto nothing = run("transcribe " + speller() + " " + empty);
  TEST_ASSERT_EQUAL_STRING("\n", assert_works(nothing));
  TEST_ASSERT_TRUE(contains(nothing.err, "there is no sound in it"));
  const std::string bert = (scratch() / "bert.mote").string();
  assert_works(run("convert " + golden("bert") + " -o " + bert + " --type f32"));
  assert_fails(run("transcribe " + bert + " " + sound), 1, "does not take sound");
}

TEST("a seek that leads beyond what any file has leaves a sound where it was") {
  constexpr int64_t kHere = 44;
  TEST_ASSERT_EQUAL_INT(kHere + 8, mote::cli::place_after_seek(kHere, kHere, 8));
  TEST_ASSERT_EQUAL_INT(0, mote::cli::place_after_seek(kHere, kHere, -kHere));
  for (const int64_t offset : {INT64_MAX, INT64_MAX - kHere + 1, INT64_MIN, -kHere - 1, int64_t{1} << 40})
    TEST_ASSERT_EQUAL_INT(kHere, mote::cli::place_after_seek(kHere, kHere, offset));
}

TEST(
    "a data chunk that leads beyond what numbers hold does no fault of arithmetic, which the sanitizers "
    "see") {
  for (const char* name : {"w64_length", "rf64_length"}) {
    CAPTURE(name);
    const std::string file = read_text(std::string(MOTE_SOURCE_DIR) + "/tests/fuzz/corpus/sound/" + name);
    const auto sound = mote::cli::open_sound(std::as_bytes(std::span(file)));
    std::vector<float> samples(1000);
    TEST_ASSERT_LESS_THAN(samples.size(), sound->read(samples));
    sound->rewind();
  }
}

TEST("a sound whose lengths lead beyond any file is refused") {
  const auto big = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::string description(32, '\0');  // 16 kHz, 16 bits, mono
  const std::string rate = big(0x40CF400000000000, 8);
  description = rate + "lpcm" + big(0, 4) + big(2, 4) + big(1, 4) + big(1, 4) + big(16, 4);
  const std::string head = "caff" + big(1, 2) + big(0, 2) + "desc" + big(32, 8) + description;
  for (const uint64_t length : {uint64_t{INT64_MAX}, uint64_t{1} << 62, uint64_t{INT64_MAX} - 80}) {
    for (const char* chunk : {"free", "info", "peak", "none"}) {
      const std::string file = head + chunk + big(length, 8) + std::string(64, 'x');
      const auto read = [&] {
        const auto sound = mote::cli::open_sound(std::as_bytes(std::span(file)));
        std::vector<float> samples(100);
        sound->read(samples);
      };
      message_of<mote::convert::Error>(read);  // no fault of arithmetic, which the sanitizers see
    }
  }
  TEST_ASSERT_TRUE(
      !message_of<mote::convert::Error>([] { mote::cli::open_sound(std::span<const std::byte>()); }).empty());
}
