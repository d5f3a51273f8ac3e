// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe with many sounds, parts of sounds and formats of files.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/media/sound_file.h"
#include "tests/support/skip.h"
#include "tests/tools/command.h"
#include "tests/tools/sound_files.h"
#include "tests/tools/whisper_file.h"
#include "tools/mote/transcript.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string& file_whisper() {
  static const std::string path =
      marked_whisper("whisper_files", {{"suppress_tokens", {58, 59, 61, 66, 67}}});
  return path;
}

/// A folder with two sounds, one in a folder of its own, and a text.
const std::string& sounds_folder() {
  static const std::string path = [] {
    const fs::path folder = scratch() / "sounds";
    fs::create_directories(folder / "deep");
    fs::copy(wav("folder_a.wav", noise(20000)), folder / "a.wav");
    fs::copy(wav("folder_b.wav", noise(9000)), folder / "deep" / "b.WAV");
    write_text(folder / "readme.txt", "no sound");
    return folder.string();
  }();
  return path;
}

std::string words(const std::string& sound, const std::string& options) {
  return "transcribe " + file_whisper() + " " + sound + " --language en " + options;
}

/// Stereo of 16 bits: the samples on the left, silence on the right.
std::string one_sided(const std::string& name, const std::vector<int16_t>& samples) {
  std::vector<int16_t> frames;
  for (const int16_t sample : samples) frames.insert(frames.end(), {sample, 0});
  const std::string path = wav(name, frames);
  std::string file = read_text(path);
  file[22] = 2, file[32] = 4;
  const uint32_t bytes_of_second = 64000;
  std::memcpy(file.data() + 28, &bytes_of_second, 4);
  write_text(path, file);
  return path;
}

}  // namespace

TEST("folders become files of their sounds in each format, equal to what one sound prints", "[transcripts]") {
  const fs::path out = scratch() / "out";
  assert_works(run(words(sounds_folder(), "-o " + out.string() + " --format txt,srt,vtt,tsv,json")));
  const std::string a = sounds_folder() + "/a.wav";
  for (const std::string format : {"txt", "srt", "vtt", "tsv", "json"}) {
    CAPTURE(format);
    TEST_ASSERT_EQUAL_STRING(assert_works(run(words(a, "--format " + format))),
                             read_text((out / ("a." + format)).string()));
    TEST_ASSERT_TRUE(fs::exists(out / "deep" / ("b." + format)));
  }
  TEST_ASSERT_EQUAL_INT(0,
                        static_cast<int>(read_text((out / "a.tsv").string()).rfind("start\tend\ttext\n", 0)));
  TEST_ASSERT_FALSE(fs::exists(out / "readme.txt"));
  size_t files = 0;
  for (const auto& one : fs::recursive_directory_iterator(out)) files += one.is_regular_file();
  TEST_ASSERT_EQUAL_UINT64(10, files);
}

TEST("a second call with --resume leaves out the sounds whose files are all there", "[transcripts]") {
  const fs::path out = scratch() / "resumed";
  const std::string options = "-o " + out.string() + " --format txt,json";
  assert_works(run(words(sounds_folder(), options)));
  write_text(out / "a.txt", "kept");
  fs::remove(out / "deep" / "b.json");
  const Outcome again = run(words(sounds_folder(), options + " --resume"));
  assert_works(again);
  TEST_ASSERT_TRUE(contains(again.err, "1 of 2 sounds were left out"));
  TEST_ASSERT_EQUAL_STRING("kept", read_text((out / "a.txt").string()));
  TEST_ASSERT_TRUE(fs::exists(out / "deep" / "b.json"));
}

TEST("one broken sound of several is named, and the others are transcribed", "[transcripts]") {
  const std::string broken = (scratch() / "broken.wav").string();
  write_text(broken, "RIFF");
  const fs::path out = scratch() / "broken_out";
  const Outcome outcome =
      run(words(broken + " " + sounds_folder() + "/a.wav", "-o " + out.string() + " --format txt"));
  TEST_ASSERT_EQUAL_INT(1, outcome.code);
  TEST_ASSERT_TRUE(contains(outcome.err, "broken.wav"));
  TEST_ASSERT_TRUE(contains(outcome.err, "mote: 1 of 2 sounds failed"));
  TEST_ASSERT_TRUE(fs::exists(out / "a.txt"));
  TEST_ASSERT_FALSE(fs::exists(out / "broken.txt"));
}

TEST("several sounds print an object a line with --json, and need a folder otherwise", "[transcripts]") {
  const std::string output = assert_works(run(words(sounds_folder(), "--json")));
  const size_t end = output.find('\n');
  TEST_ASSERT_TRUE(contains(json::parse(output.substr(0, end)).at("sound").get<std::string>(), "a.wav"));
  TEST_ASSERT_TRUE(contains(json::parse(output.substr(end)).at("sound").get<std::string>(), "b.WAV"));
  assert_fails(run(words(sounds_folder(), "")), 2, "several sounds need -o FOLDER");
  const std::string a = sounds_folder() + "/a.wav";
  assert_fails(run(words(a + " " + a, "-o " + (scratch() / "twice").string())), 2, "would both be");
  assert_fails(run(words(a, "--format txt,srt")), 2, "several formats need -o FOLDER");
  assert_fails(run(words(a, "--format doc")), 2, "'doc' is none of txt, srt, vtt, tsv, json");
  assert_fails(run(words(a, "--resume")), 2, "--resume needs -o FOLDER");
  fs::create_directories(scratch() / "nothing");
  assert_fails(run(words((scratch() / "nothing").string(), "--json")), 1, "holds no file of sound");
}

TEST("a part of a sound is heard as a sound of its own, with times of the whole", "[transcripts]") {
  std::vector<int16_t> samples = noise(48000);
  const std::string whole = wav("part_whole.wav", samples);
  samples.erase(samples.begin(), samples.begin() + 16000);
  samples.resize(24000);
  const std::string part = wav("part_alone.wav", samples);
  const json alone = assert_json(run(words(part, "--json")));
  const json cut = assert_json(run(words(whole, "--json --offset 0:01 --duration 1.5")));
  REQUIRE(alone.at("text") == cut.at("text"));
  REQUIRE(alone.at("segments").size() == cut.at("segments").size());
  TEST_ASSERT_GREATER_THAN(0u, cut.at("segments").size());
  for (size_t i = 0; i < cut.at("segments").size(); ++i)
    for (const char* time : {"start", "end"})
      TEST_ASSERT_DOUBLE_WITHIN(1e-9, alone.at("segments")[i].at(time).get<double>() + 1,
                                cut.at("segments")[i].at(time).get<double>());
  const Outcome behind = run(words(whole, "--offset 10"));
  assert_works(behind);
  TEST_ASSERT_TRUE(contains(behind.err, "there is nothing to hear"));
  assert_fails(run(words(whole, "--offset x")), 2, "--offset: expected seconds");
  assert_fails(run(words(whole, "--offset 1:75")), 2, "--offset: expected seconds");
  assert_fails(run(words(whole, "--duration 0")), 2, "--duration: expected more than 0");
}

TEST("left, right and the mean of channels are heard as they are asked for", "[transcripts]") {
  const std::vector<int16_t> samples = noise(16000);
  const std::string stereo = one_sided("one_sided.wav", samples), mono = wav("mono.wav", samples);
  const std::string plain = assert_works(run(words(mono, "--json")));
  TEST_ASSERT_EQUAL_STRING(plain, assert_works(run(words(stereo, "--json --channel left"))));
  TEST_ASSERT_TRUE(plain != assert_works(run(words(stereo, "--json --channel right"))));
  assert_fails(run(words(mono, "--channel right")), 1, "mono.wav: it has one channel");
  for (const bool own : {false, true}) {
    const auto sample_of = [&](mote::cli::Channel channel) {
      const auto source = own ? mote::cli::open_known_sound(stereo) : mote::cli::open_sound(stereo);
      source->choose(channel, stereo);
      std::vector<float> first(1);
      TEST_ASSERT_EQUAL_UINT64(1, source->read(first));
      return first[0];
    };
    const float left = static_cast<float>(samples[0]) / 32768.0f;
    TEST_ASSERT_EQUAL_FLOAT(left, sample_of(mote::cli::Channel::left));
    TEST_ASSERT_EQUAL_FLOAT(0.0f, sample_of(mote::cli::Channel::right));
    TEST_ASSERT_EQUAL_FLOAT(left / 2, sample_of(mote::cli::Channel::mix));
  }
}

TEST("a WAV whose writer did not know its length is read to its end without a word of damage",
     "[transcripts]") {
  const std::string known = wav("known.wav", noise(8000));
  const std::string file = read_text(known), expected = assert_works(run(words(known, "--json")));
  for (const uint32_t length : {0u, 0xFFFFFFFFu}) {
    for (const uint32_t all : {0u, 0xFFFFFFFFu}) {
      CAPTURE(length, all);
      std::string piped = file;
      std::memcpy(piped.data() + 4, &all, 4);
      std::memcpy(piped.data() + 40, &length, 4);
      const std::string path = (scratch() / "piped.wav").string();
      write_text(path, piped);
      const Outcome outcome = run(words(path, "--json"));
      TEST_ASSERT_EQUAL_STRING(expected, assert_works(outcome));
      TEST_ASSERT_EQUAL_STRING("", outcome.err);
      TEST_ASSERT_EQUAL_STRING(expected, assert_works(run(words("- <" + path, "--json"))));
      const auto own = mote::cli::open_known_sound(path);
      std::vector<float> samples(9000);
      TEST_ASSERT_EQUAL_UINT64(8000, own->read(samples));
      TEST_ASSERT_EQUAL_STRING("", own->damage());
    }
  }
}

TEST("an arrow in a text is no arrow of a subtitle", "[transcripts]") {
  const json transcript = {{"text", "a --> b"},
                           {"segments", {{{"text", " a ---> b\n\n\nc"}, {"start", 0.0}, {"end", 3601.5}}}}};
  TEST_ASSERT_EQUAL_STRING("1\n00:00:00,000 --> 01:00:01,500\na -> b\nc\n\n",
                           mote::cli::transcript_text(transcript, "srt", {}));
  TEST_ASSERT_EQUAL_STRING("WEBVTT\n\n00:00:00.000 --> 01:00:01.500\na -> b\nc\n\n",
                           mote::cli::transcript_text(transcript, "vtt", {}));
}

TEST("formats of others are read by ffmpeg where it is installed, and refused with its name where not",
     "[transcripts][native]") {
  const fs::path tools = scratch() / "tools";
  fs::create_directories(tools);
  const std::string film = (scratch() / "film_of_noise.m4a").string();
  write_text(film, std::string("\0\0\0\x20"
                               "ftypM4A ",
                               12) +
                       std::string(200, 'x'));
  assert_fails(run(words(film, ""), "PATH=" + tools.string()), 1, "ffmpeg, which is not installed");
  // A stand-in that writes AU of floats, as ffmpeg does, and notes its arguments.
  std::string au("\x2Esnd\0\0\0\x18\xFF\xFF\xFF\xFF\0\0\0\x06\0\0\x3E\x80\0\0\0\x01", 24);
  const std::vector<int16_t> samples = noise(8000);
  for (const int16_t sample : samples) {
    const float value = static_cast<float>(sample) / 32768.0f;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    for (int i = 3; i >= 0; --i) au += static_cast<char>(bits >> (8 * i));
  }
  write_text(tools / "samples.au", au);
  write_text(tools / "ffmpeg", "#!/bin/sh\necho \"$@\" >" + (tools / "asked").string() + "\nexec /bin/cat " +
                                   (tools / "samples.au").string() + "\n");
  fs::permissions(tools / "ffmpeg", fs::perms::owner_all);
  const std::string expected = assert_works(run(words(wav("film.wav", samples), "--json")));
  TEST_ASSERT_EQUAL_STRING(expected, assert_works(run(words(film, "--json"), "PATH=" + tools.string())));
  const std::string asked = read_text((tools / "asked").string());
  TEST_ASSERT_TRUE(contains(asked, "-protocol_whitelist file -i file:" + film));
  write_text(tools / "ffmpeg", "#!/bin/sh\nexit 1\n");
  assert_fails(run(words(film, ""), "PATH=" + tools.string()), 1, "ffmpeg finds none in it");
}

TEST("M4A and WebM of ffmpeg are heard as the WAV that they were made of", "[transcripts][native]") {
  SKIP_UNLESS(::system("ffmpeg -version >/dev/null 2>&1") == 0, "ffmpeg is not installed");
  std::vector<int16_t> samples(32000);
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<int16_t>(9000 * std::sin(0.1 * static_cast<double>(i)));
  const std::string sound = wav("for_ffmpeg.wav", samples);
  for (const std::string ending : {"m4a", "webm", "aac"}) {
    CAPTURE(ending);
    const std::string other = (scratch() / ("of_ffmpeg." + ending)).string();
    const std::string line = "ffmpeg -nostdin -v error -y -i " + sound + " " + other + " >/dev/null 2>&1";
    SKIP_UNLESS(::system(line.c_str()) == 0, "this ffmpeg writes no " << ending);
    const auto source = mote::cli::open_sound(other);
    std::vector<float> read(5 * source->rate());
    read.resize(source->read(read));
    const double seconds = static_cast<double>(read.size()) / source->rate();
    TEST_ASSERT_DOUBLE_WITHIN(0.2, 2.0, seconds);
    double squares = 0;
    for (size_t i = read.size() / 4; i < read.size() / 2; ++i) squares += double{read[i]} * double{read[i]};
    const double loudness = std::sqrt(squares / (static_cast<double>(read.size()) / 4));
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 9000 / 32768.0 / std::sqrt(2.0), loudness);
    source->rewind();
    std::vector<float> again(read.size());
    TEST_ASSERT_EQUAL_UINT64(read.size(), source->read(again));
    REQUIRE(read == again);
  }
}
