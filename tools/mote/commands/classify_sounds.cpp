// SPDX-License-Identifier: Apache-2.0
//
// mote classify of sounds: the labels of an encoder of squares of filter banks, as AST is.
#include "converter/error.h"
#include "mote/sound.h"
#include "tools/mote/commands/classify_files.h"
#include "tools/mote/rows_encoder.h"
#include "tools/mote/sound_file.h"
#include "tools/mote/steps.h"

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
      : sound_(sound_of(file)), encoder_(file, flags, pool, mote_sound_square_rows(&sound_)) {
    mote_error error{};
    check(mote_sound_filter_bank(&sound_, &bank_, &error), error, file.path());
    scratch_.resize(mote_filter_bank_bytes(&bank_) / sizeof(float));
    check(mote_filter_bank_init(&bank_, scratch_.data(), &error), error, file.path());
  }

  const mote_output_info& output() const { return encoder_.output(); }
  std::vector<float> probabilities() const { return encoder_.probabilities(); }

  /// Of the beginning of a file, as long as the model's spectrum; its outputs stay until the next.
  void encode(const std::string& path) {
    const std::unique_ptr<SoundSource> source = open_sound(path);
    std::vector<float> samples(size_t{sound_.frames - 1} * sound_.hop + sound_.window);
    const size_t count = Resampler(*source, sound_.rate).read(samples);
    std::vector<float> spectrum(size_t{sound_.frames} * sound_.bins);
    mote_filter_bank_frames(&bank_, scratch_.data(), samples.data(), count, 0, sound_.frames,
                            spectrum.data());
    encoder_.encode(square_rows(sound_, spectrum.data()), path);
  }

 private:
  mote_sound_info sound_;
  mote_filter_bank bank_;
  RowsEncoder encoder_;
  std::vector<float> scratch_;
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
