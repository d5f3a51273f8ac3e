// SPDX-License-Identifier: Apache-2.0
//
// mote classify of sounds: the labels of an encoder of squares of filter banks, as AST is.
#include "host/base/error.h"
#include "host/media/filter_banks.h"
#include "host/media/sound_file.h"
#include "mote/sound.h"
#include "tools/mote/commands/classify_files.h"
#include "tools/mote/rows_encoder.h"

namespace mote::cli {
namespace {

mote_sound_info sound_of(const ModelFile& file) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.features != MOTE_FEATURES_FILTER_BANK) {
    convert::fail(
        "{} does not say how its features are made: convert it with its preprocessor_config.json; models of "
        "speech are for mote transcribe",
        file.path());
  }
  return sound;
}

class SoundEncoder {
 public:
  SoundEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool)
      : sound_(sound_of(file)),
        banks_(sound_),
        encoder_(file, flags, pool, mote_sound_square_rows(&sound_)) {}

  const mote_output_info& output() const { return encoder_.output(); }
  std::vector<float> probabilities() const { return encoder_.probabilities(); }

  /// Of the beginning of a file, as long as the model's spectrum; its outputs stay until the next.
  void encode(const std::string& path) {
    const std::unique_ptr<SoundSource> source = open_sound(path);
    std::vector<float> samples(banks_.samples(sound_.frames));
    samples.resize(Resampler(*source, sound_.rate).read(samples));
    const std::vector<float> spectrum = banks_.spectrum(samples, sound_.frames);
    encoder_.encode(square_rows(sound_, spectrum.data()), path);
  }

 private:
  mote_sound_info sound_;
  FilterBanks banks_;
  RowsEncoder encoder_;
};

}  // namespace

bool takes_sound(const ModelFile& file) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  return sound.rate != 0;
}

void classify_sounds(const FileLabels& wanted, const ModelFile& file, const SessionFlags& flags,
                     const ThreadPool& pool) {
  SoundEncoder encoder(file, flags, pool);
  if (encoder.output().kind != MOTE_OUTPUT_SEQUENCE_LABELS)
    convert::fail("{} has no head that labels sound", file.path());
  for (const std::string& path : wanted.paths) {
    encoder.encode(path);
    show_labels("sound", path, encoder.probabilities(), wanted, file);
  }
}

}  // namespace mote::cli
