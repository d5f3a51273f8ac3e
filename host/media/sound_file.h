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

namespace mote::cli {

/// Samples from -1 to 1, the mean of all channels.
class SoundSource {
 public:
  virtual ~SoundSource() = default;
  virtual uint32_t rate() const = 0;
  /// Fills `out` as far as there is sound; returns how many.
  virtual size_t read(std::span<float> out) = 0;
  /// Back to the first sample.
  virtual void rewind() = 0;
  /// Returns the fault of the sound that was read to its end, in a sentence; "": nothing is known.
  virtual std::string damage() const { return ""; }
};

/// WAV, FLAC, OGG and what else libsndfile reads; WAV alone where this build has no libsndfile. "-": standard
/// input. Throws convert::Error.
std::unique_ptr<SoundSource> open_sound(const std::string& path);
/// Opens the sound of a file's bytes.
std::unique_ptr<SoundSource> open_sound(std::span<const std::byte> bytes);

/// Opens a WAV file without libsndfile: integers of 8, 16, 24 and 32 bits, floats of 32 and 64.
std::unique_ptr<SoundSource> open_wav(const std::string& path);
std::unique_ptr<SoundSource> open_wav(std::span<const std::byte> bytes);

/// Returns where bytes at `at` are read from after a seek by `offset` from `from`. A header's lengths may
/// lead anywhere: where they lead before the first byte, or behind more than is ever held, it is where it
/// was.
int64_t place_after_seek(int64_t at, int64_t from, int64_t offset);

/// The samples of a source at another rate: each is the sum of the source's around its time, weighted by a
/// sinc in a Kaiser window (Smith 1984) of 32 zeros that is cut off at nine tenths of half the lower rate,
/// the weights of a time adding up to 1. Before the first sample and behind the last it is silent.
class Resampler {
 public:
  Resampler(SoundSource& source, uint32_t rate);
  size_t read(std::span<float> out);

 private:
  void make_weights(double cutoff);
  bool fill(uint64_t end);

  SoundSource& source_;
  uint32_t up_, down_;                                // the rates without common factors
  uint32_t reach_ = 0;                                // source samples on each side of a time
  std::vector<float> weights_;                        // [up][2 reach]; empty: rates are equal
  std::vector<float> held_;                           // of the source, from first_ on
  uint64_t first_ = 0, next_ = 0, end_ = UINT64_MAX;  // end_: of the source, once it is known
};

}  // namespace mote::cli
