// SPDX-License-Identifier: Apache-2.0
//
// FLAC, Vorbis and Opus as they are read without libsndfile, against libsndfile, which writes the files.
#include <array>
#include <cmath>
#include <memory>

#include "host/base/error.h"
#include "host/media/sound_file.h"
#include "tests/support/skip.h"
#include "tests/tools/command.h"

#ifdef MOTE_HAS_SNDFILE
#include <sndfile.h>
#endif

#if defined(MOTE_HAS_SNDFILE) && defined(MOTE_HAS_FLAC) && defined(MOTE_HAS_VORBIS) && defined(MOTE_HAS_OPUS)

using namespace mote::testing;
using mote::cli::open_known_sound;
using mote::cli::SoundSource;

namespace {

struct Kind {
  const char* name;
  int format;
  int rate;
};

constexpr Kind kKinds[] = {{"flac of 16 bits", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000},
                           {"flac of 24 bits", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 44100},
                           {"flac of 8 bits", SF_FORMAT_FLAC | SF_FORMAT_PCM_S8, 8000},
                           {"vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 22050},
                           {"opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000}};

/// Returns a file of two tones and some noise.
std::string sound_of(const Kind& kind, int channels, size_t count) {
  const std::string path = (scratch() / "written_sound").string();
  SF_INFO info{};
  info.format = kind.format;
  info.channels = channels;
  info.samplerate = kind.rate;
  std::vector<float> frames;
  uint32_t seed = 3;
  for (size_t i = 0; i < count; ++i)
    for (int c = 0; c < channels; ++c) {
      seed = seed * 1664525u + 1013904223u;
      const double noise = static_cast<double>(seed >> 8) / (1 << 24) - 0.5;
      frames.push_back(
          static_cast<float>(0.5 * std::sin(0.03 * (c + 1) * static_cast<double>(i)) + 0.2 * noise));
    }
  SNDFILE* const file = sf_open(path.c_str(), SFM_WRITE, &info);
  REQUIRE(file != nullptr);
  REQUIRE(sf_writef_float(file, frames.data(), static_cast<sf_count_t>(count)) ==
          static_cast<sf_count_t>(count));
  sf_close(file);
  return read_text(path);
}

std::vector<float> all_of(SoundSource& source) {
  std::vector<float> all;
  std::array<float, 1000> some;
  for (size_t count; (count = source.read(some)) != 0;)
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
  return all;
}

/// Reads a sound to its end, and again from its start; returns how many samples there are, 0 where it does
/// not open.
size_t read_twice(const std::string& file) {
  try {
    const auto source = open_known_sound(as_bytes(file));
    const std::vector<float> first = all_of(*source);
    for (const float sample : first) REQUIRE(std::isfinite(sample));
    const std::string damage = source->damage();
    source->rewind();
    REQUIRE(all_of(*source) == first);
    REQUIRE(source->damage() == damage);
    if (first.empty()) REQUIRE_FALSE(damage.empty());
    return first.size();
  } catch (const mote::convert::Error& error) {
    REQUIRE_FALSE(std::string(error.what()).empty());
    return 0;
  }
}

}  // namespace

TEST_CASE("sound readers: samples of FLAC, Vorbis and Opus are libsndfile's") {
  for (const Kind& kind : kKinds)
    for (const int channels : {1, 2}) {
      CAPTURE(kind.name, channels);
      const std::string file = sound_of(kind, channels, 30000);
      const auto ours = open_known_sound(as_bytes(file)), theirs = mote::cli::open_sound(as_bytes(file));
      const std::vector<float> found = all_of(*ours), wanted = all_of(*theirs);
      TEST_ASSERT_EQUAL_UINT64(30000, wanted.size());
      TEST_ASSERT_EQUAL_UINT64(wanted.size(), found.size());
      TEST_ASSERT_TRUE(found == wanted);
      TEST_ASSERT_EQUAL_UINT64(theirs->rate(), ours->rate());
      TEST_ASSERT_EQUAL_STRING("", ours->damage());
      ours->rewind();
      TEST_ASSERT_TRUE(all_of(*ours) == wanted);
    }
}

TEST_CASE("sound readers: files that are cut anywhere give an error or the samples before the cut") {
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const std::string file = sound_of(kind, 1, 30000);
    size_t last = 0, some = 0;
    for (size_t size = 0; size < file.size(); size += 1 + file.size() / 200) {
      CAPTURE(size);
      const size_t count = read_twice(file.substr(0, size));
      TEST_ASSERT_TRUE(count >= last && count <= 30000 + 48000);
      last = count;
      if (count != 0) ++some;
    }
    TEST_ASSERT_GREATER_THAN(0u, some);
  }
}

TEST_CASE("sound readers: a FLAC that is cut or damaged says so") {
  const std::string file = sound_of(kKinds[0], 1, 30000);
  const auto cut = open_known_sound(as_bytes(file.substr(0, file.size() / 2)));
  TEST_ASSERT_TRUE(all_of(*cut).size() < 30000);
  TEST_ASSERT_FALSE(cut->damage().empty());
  std::string changed = file;
  changed[file.size() / 2] = static_cast<char>(changed[file.size() / 2] ^ 0x55);
  const auto damaged = open_known_sound(as_bytes(changed));
  TEST_ASSERT_TRUE(all_of(*damaged).size() < 30000);
  TEST_ASSERT_TRUE(contains(damaged->damage(), "it is damaged after"));
}

TEST_CASE("sound readers: files with changed bytes give an error or finite samples, the same ones again") {
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const std::string file = sound_of(kind, 2, 5000);
    uint32_t seed = 11;
    const auto random = [&seed](size_t below) {
      seed = seed * 1664525u + 1013904223u;
      return static_cast<size_t>(seed >> 8) % below;
    };
    for (int turn = 0; turn < 200; ++turn) {
      CAPTURE(turn);
      std::string changed = file;
      // Headers decide the most, and they are short.
      for (int i = 0; i < 4; ++i)
        changed[random(turn % 2 == 0 ? 200 : file.size())] = static_cast<char>(random(256));
      TEST_ASSERT_TRUE(read_twice(changed) < 10'000'000);
    }
  }
}

TEST_CASE("sound readers: a header alone gives one sentence that names the format") {
  const auto what = [](const std::string& file) {
    try {
      open_known_sound(as_bytes(file));
    } catch (const mote::convert::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  TEST_ASSERT_TRUE(contains(what("fLaC"), "begins as FLAC"));
  TEST_ASSERT_TRUE(contains(what(sound_of(kKinds[3], 1, 100).substr(0, 60)), "begins as Ogg Vorbis"));
  TEST_ASSERT_TRUE(contains(what(sound_of(kKinds[4], 1, 100).substr(0, 60)), "begins as Ogg Opus"));
  TEST_ASSERT_TRUE(contains(what("OggS" + std::string(40, '\0')), mote::cli::sound_formats()));
}

#endif
