// SPDX-License-Identifier: Apache-2.0
//
// Every format that messages and documents name is read; of another the message says what helps.
#include <cmath>

#include "host/base/error.h"
#include "host/media/sound_file.h"
#include "tests/support/skip.h"
#include "tests/tools/command.h"

#ifdef MOTE_HAS_SNDFILE
#include <sndfile.h>
#endif

using namespace mote::testing;

namespace {

std::string refusal_of(const std::string& path) {
  try {
    mote::cli::open_sound(path);
  } catch (const mote::convert::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

#ifdef MOTE_HAS_SNDFILE

TEST_CASE("sound formats: each that is named is read as the samples that were written") {
  struct Named {
    const char* name;
    int format;
    float tolerance;
  };
  constexpr Named kNamed[] = {{"WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1e-4f},
                              {"FLAC", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1e-4f},
                              {"MP3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 0.05f},
                              {"Ogg Vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 0.05f},
                              {"Opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 0.1f},
                              {"AIFF", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 1e-4f},
                              {"AU", SF_FORMAT_AU | SF_FORMAT_PCM_16, 1e-4f},
                              {"CAF", SF_FORMAT_CAF | SF_FORMAT_PCM_16, 1e-4f},
                              {"W64", SF_FORMAT_W64 | SF_FORMAT_PCM_16, 1e-4f},
                              {"RF64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 1e-4f}};
  constexpr uint32_t kRate = 48000;
  std::string named;
  std::vector<float> samples(kRate);
  for (uint32_t i = 0; i < kRate; ++i) samples[i] = 0.5f * std::sin(2765.0f * static_cast<float>(i) / kRate);
  for (const Named& one : kNamed) {
    CAPTURE(one.name);
    TEST_ASSERT_TRUE(contains(mote::cli::sound_formats(), one.name));
    named += (named.empty() ? "" : &one == std::end(kNamed) - 1 ? " and " : ", ") + std::string(one.name);
    const std::string path = (scratch() / ("sound_of_" + std::string(one.name))).string();
    SF_INFO info{};
    info.samplerate = kRate;
    info.channels = 1;
    info.format = one.format;
    SKIP_UNLESS(sf_format_check(&info) != 0, "this libsndfile writes no " << one.name);
    SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
    REQUIRE(file != nullptr);
    TEST_ASSERT_EQUAL_UINT32(kRate, sf_writef_float(file, samples.data(), kRate));
    sf_close(file);
    const auto source = mote::cli::open_sound(path);
    TEST_ASSERT_EQUAL_UINT32(kRate, source->rate());
    std::vector<float> read(2 * kRate);
    read.resize(source->read(read));
    REQUIRE(read.size() + 4000 > kRate);
    double squares = 0;  // codecs delay: the loudness of the middle is compared
    for (size_t i = kRate / 4; i < kRate / 2; ++i) squares += double{read[i]} * double{read[i]};
    TEST_ASSERT_FLOAT_WITHIN(one.tolerance, 0.5 / std::sqrt(2.0), std::sqrt(squares / (kRate / 4)));
  }
  TEST_ASSERT_EQUAL_STRING(named.c_str(), mote::cli::sound_formats());
}

#endif

TEST_CASE("sound formats: another is refused with what is read and the line of ffmpeg that helps") {
  const std::string path_of_programs = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::string path = (scratch() / "film.m4a").string();
  write_text(path, std::string("\0\0\0\x20"
                               "ftypM4A \0\0\0\0",
                               16) +
                       std::string(200, 'x'));
  const std::string why = refusal_of(path);
  ::setenv("PATH", path_of_programs.c_str(), 1);
  CAPTURE(why);
  TEST_ASSERT_TRUE(contains(why, path + " is no "));
  TEST_ASSERT_TRUE(contains(why, mote::cli::sound_formats()));
  TEST_ASSERT_TRUE(contains(why, "`ffmpeg -i " + path + " -ar 16000 out.wav`"));
  TEST_ASSERT_FALSE(contains(refusal_of("/nowhere/sound.wav"), "ffmpeg"));
}

TEST_CASE(
    "sound formats: a file that begins as MP3 and has no frame is said to have no sound, not to be absent") {
  const std::string path = (scratch() / "damaged.mp3").string();
  write_text(path, "ID3\x04" + std::string(3000, '\xA7'));
  const std::string why = refusal_of(path);
  CAPTURE(why);
  TEST_ASSERT_TRUE(contains(why, path));
  TEST_ASSERT_FALSE(contains(why, "not exist"));
}
