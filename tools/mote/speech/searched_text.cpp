// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/searched_text.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "host/base/error.h"
#include "host/tasks/sound/filter_banks.h"
#include "mote/sound.h"
#include "tools/mote/source_search.h"
#include "tools/mote/speech/source_text.h"
#include "tools/mote/speech/stretches.h"
#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

constexpr uint32_t kSpeechEncoder = 1;  // program
constexpr uint32_t kLeastRows = 1024;

class SearchingTranscriber {
 public:
  SearchingTranscriber(const ModelFile& file, const mote_session_options& options,
                       const std::string& language)
      : file_(file),
        sound_(sound_of(file)),
        banks_(take(host::FilterBanks::make(sound_))),
        session_options_(options) {
    search_ = bounded_search(file, options.context, mote_model_beam_options(file.model()));
    if (!language.empty()) search_.forced_first_id = language_token(file, language);
    session_options_.context = search_.max_tokens;
    session_options_.batch = session_options_.logit_rows = search_.beams;
    mote_program_info program;
    mote_model_get_program(file.model(), kSpeechEncoder, &program);
    most_ = program.context;
  }

  bool read(SoundSource& source, const std::function<void(const Passage&)>& found) {
    bool any = false;
    read_stretches(source, sound_.rate, static_cast<double>(banks_.samples(most_)) / sound_.rate,
                   [&](std::span<const float> samples, uint64_t first) {
                     const std::vector<float> features = banks_.of(samples);
                     if (features.empty()) return;
                     any = true;
                     const double rate = sound_.rate, begin = static_cast<double>(first) / rate;
                     const std::string text = text_of(features);
                     if (!text.empty())
                       found({text, begin, begin + static_cast<double>(samples.size()) / rate});
                   });
    return any;
  }

 private:
  static mote_sound_info sound_of(const ModelFile& file) {
    require_source_text(file);
    mote_sound_info sound;
    mote_model_get_sound(file.model(), &sound);
    return sound;
  }

  void make_room(uint32_t rows) {
    if (session_ != nullptr && rows <= session_options_.chunk) return;
    const uint32_t room = std::min(std::bit_ceil(std::max(rows, kLeastRows)), most_);
    session_options_.chunk = std::max(room, search_.beams);
    session_.reset();
    session_ = std::make_unique<Session>(file_, session_options_);
  }

  std::string text_of(const std::vector<float>& features) {
    const auto rows = static_cast<uint32_t>(features.size() / sound_.bins);
    make_room(rows);
    mote_error error = {};
    for (uint32_t i = 0; i < search_.beams; ++i)
      check(mote_session_truncate(session_->get(), i, 0, &error), error, file_.path());
    mote_batch batch{};
    batch.lengths = &rows;
    batch.count = 1;
    batch.values = features.data();
    encode(*session_, batch, file_.path());
    return text_of_source(file_, search_encoded(file_, *session_, search_, memory_).front().ids);
  }

  const ModelFile& file_;
  mote_sound_info sound_;
  host::FilterBanks banks_;
  mote_session_options session_options_;
  mote_beam_options search_{};
  uint32_t most_ = 0;
  std::unique_ptr<Session> session_;
  std::vector<uint64_t> memory_;  // of a search
};

}  // namespace

bool transcribe_searched(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                         const std::string& language, const std::function<void(const Passage&)>& found) {
  return SearchingTranscriber(file, options, language).read(source, found);
}

}  // namespace mote::cli
