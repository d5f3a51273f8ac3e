// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/searched_text.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/sound/filter_banks.h"
#include "host/tasks/sound/source_text.h"
#include "host/tasks/sound/stretches.h"
#include "host/tasks/source_search.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint32_t kSpeechEncoder = 1;  // program
constexpr uint32_t kLeastRows = 1024;

class SearchingTranscriber {
 public:
  static Result<SearchingTranscriber> make(const Model& model, const SessionChoices& choices,
                                           const std::string& language) {
    if (model.sound().features == MOTE_FEATURES_NONE) {
      return failed(
          "{} does not say how its features are made of sound: convert it with its preprocessor_config.json",
          model.name());
    }
    MOTE_TRY(require_source_text(model));
    MOTE_TAKE(FilterBanks banks, FilterBanks::make(model.sound()));
    SearchingTranscriber made(model, std::move(banks));
    mote_session_options& options = made.session_options_;
    options = session_options(model, choices);
    made.search_ = bounded_search(model, options.context, mote_model_beam_options(model.get()));
    if (!language.empty()) {
      MOTE_TAKE(made.search_.forced_first_id, language_token(model, language));
    }
    options.context = made.search_.max_tokens;
    options.batch = options.logit_rows = made.search_.beams;
    mote_program_info program;
    mote_model_get_program(model.get(), kSpeechEncoder, &program);
    made.most_ = program.context;
    return made;
  }

  /// Returns whether there was something to hear.
  Result<bool> read(SoundInput& sound, const Hooks& hooks, const OnPassage& found) {
    bool any = false;
    const double rate = model_->sound().rate;
    const auto hear = [&](std::span<const float> samples, uint64_t first) -> Status {
      const std::vector<float> features = banks_.of(samples);
      if (features.empty()) return {};
      any = true;
      const double begin = static_cast<double>(first) / rate;
      MOTE_TAKE(const std::string text, text_of(features, hooks));
      if (!text.empty()) found({text, begin, begin + static_cast<double>(samples.size()) / rate});
      return {};
    };
    MOTE_TRY(read_stretches(sound, model_->sound().rate, static_cast<double>(banks_.samples(most_)) / rate,
                            hooks, hear));
    return any;
  }

 private:
  SearchingTranscriber(const Model& model, FilterBanks banks) : model_(&model), banks_(std::move(banks)) {}

  Status make_room(uint32_t rows) {
    if (session_.get() != nullptr && rows <= session_options_.chunk) return {};
    const uint32_t room = std::min(std::bit_ceil(std::max(rows, kLeastRows)), most_);
    session_options_.chunk = std::max(room, search_.beams);
    session_ = Session();
    MOTE_TAKE(session_, Session::begin(*model_, session_options_));
    return {};
  }

  Result<std::string> text_of(const std::vector<float>& features, const Hooks& hooks) {
    const auto rows = static_cast<uint32_t>(features.size() / model_->sound().bins);
    MOTE_TRY(make_room(rows));
    mote_error error = {};
    for (uint32_t i = 0; i < search_.beams; ++i) {
      MOTE_TRY(from_core(mote_session_truncate(session_.get(), i, 0, &error), error, model_->name()));
    }
    MOTE_TRY(encode_values(session_, features.data(), rows, hooks, model_->name()));
    MOTE_TAKE(const std::vector<SourceHypothesis> found,
              search_encoded(*model_, session_, search_, memory_, hooks));
    return text_of_ids(*model_, found.front().ids, MOTE_SKIP_SPECIAL);
  }

  const Model* model_;
  FilterBanks banks_;
  mote_session_options session_options_{};
  mote_beam_options search_{};
  uint32_t most_ = 0;
  Session session_;
  std::vector<uint64_t> memory_;  // of a search
};

}  // namespace

Result<bool> transcribe_searched(const Model& model, const SessionChoices& choices, SoundInput& sound,
                                 const std::string& language, const Hooks& hooks, const OnPassage& found) {
  MOTE_TAKE(SearchingTranscriber transcriber, SearchingTranscriber::make(model, choices, language));
  return transcriber.read(sound, hooks, found);
}

}  // namespace mote::host
