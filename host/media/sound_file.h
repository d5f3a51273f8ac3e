// SPDX-License-Identifier: Apache-2.0
//
// Sound from files, at the rate that a model wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/media/sound_source.h"
#include "mote/sound.h"

namespace mote::cli {

/// Returns the names of the formats that this build reads, with commas between: what libsndfile reads where
/// it is built in, else what open_known_sound() reads.
const char* sound_formats();

/// Returns the end of a sentence on a file of another format: what is read, and the line that makes it of
/// `name`.
std::string other_sound_format(const std::string& name);

/// Opens a file of one of these formats, or where ffmpeg is installed of one that it reads
/// (host/media/ffmpeg_sound.h). "-": standard input, which `once` says is never rewound. Throws
/// convert::Error.
std::unique_ptr<SoundSource> open_sound(const std::string& path, bool once = false);
/// Opens the sound of a file's bytes.
std::unique_ptr<SoundSource> open_sound(std::span<const std::byte> bytes);

/// Opens a sound without libsndfile: WAV (integers of 8, 16, 24 and 32 bits, floats of 32 and 64), and, by
/// libraries of their own where this build has them, FLAC, Ogg Vorbis and Ogg Opus. Throws convert::Error,
/// which names what is read.
std::unique_ptr<SoundSource> open_known_sound(const std::string& path, bool once = false);
std::unique_ptr<SoundSource> open_known_sound(std::span<const std::byte> bytes);

/// Returns where bytes at `at` are read from after a seek by `offset` from `from`. A header's lengths may
/// lead anywhere: where they lead before the first byte, or behind more than is ever held, it is where it
/// was.
int64_t place_after_seek(int64_t at, int64_t from, int64_t offset);

/// The samples of a source at another rate, as mote_resample makes them, read a block at a time.
class Resampler {
 public:
  Resampler(SoundSource& source, uint32_t rate);
  size_t read(std::span<float> out);

 private:
  bool fill(uint64_t end);

  SoundSource& source_;
  mote_resampling spec_{};
  std::vector<float> weights_;
  std::vector<float> held_;                           // of the source, from first_ on
  uint64_t first_ = 0, next_ = 0, end_ = UINT64_MAX;  // end_: of the source, once it is known
};

}  // namespace mote::cli
