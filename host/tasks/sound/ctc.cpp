// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/ctc.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/sound/stretches.h"
#include "host/tasks/sound/token_text.h"

namespace mote::host {
namespace {

/// Makes words of labels of frames, as CTC says (Graves et al. 2006): repeated labels are one, blanks are
/// none.
class CtcReader {
 public:
  explicit CtcReader(const Model& model) : model_(&model), blank_(model.sound().blank) {}

  void add(uint32_t label, double begin, double end, double probability) {
    const std::string text = model_->label(label);
    // Labels that have no text of their own are the same to the original.
    const bool repeats = static_cast<int64_t>(label) == last_ || (text == last_text_ && text != " ");
    last_ = label;
    last_text_ = text;
    if (static_cast<int32_t>(label) == blank_) return;
    if (text.empty()) return;
    if (text == " ") {
      if (!repeats) end_word();
    } else if (text.back() == ' ') {
      add_whole_word(text, repeats, begin, end, probability);
    } else {
      if (word_.text.empty()) word_.begin = begin;
      word_.end = end;
      if (repeats) return;
      word_.text += text;
      sum_ += probability;
      ++labels_;
    }
  }
  std::vector<Passage> finish() {
    take_word();
    return std::move(words_);
  }

 private:
  /// Ends the word. A space behind a space is one more, but for those that a text begins with.
  void end_word() {
    if (word_.text.empty() && !words_.empty()) words_.back().text += " ";
    take_word();
  }
  /// Moves the word, unless it is empty, to the others.
  void take_word() {
    if (!word_.text.empty()) {
      word_.words = {{word_.text, word_.begin, word_.end, sum_ / labels_}};
      words_.push_back(word_);
    }
    word_ = {};
    sum_ = labels_ = 0;
  }
  /// Adds a label whose space parts it from the next: phonemes.
  void add_whole_word(const std::string& text, bool repeats, double begin, double end, double probability) {
    if (repeats) {
      words_.back().end = words_.back().words.front().end = end;
      return;
    }
    if (!word_.text.empty()) end_word();
    words_.push_back({text.substr(0, text.size() - 1), begin, end});
    words_.back().words = {{words_.back().text, begin, end, probability}};
  }

  const Model* model_;
  int32_t blank_;
  int64_t last_ = -1;
  std::string last_text_;
  Passage word_{};
  double sum_ = 0, labels_ = 0;  // the probabilities of the word's labels, and how many they are
  std::vector<Passage> words_;
};

/// A model for CTC over waveforms. Long sound goes through it in windows, of whose texts the parts near cuts
/// are left out.
class CtcTranscriber {
 public:
  static Result<CtcTranscriber> make(const Model& model, const SessionChoices& choices) {
    MOTE_TRY(check(model));
    CtcTranscriber made(model);
    mote_session_options options = session_options(model, choices);
    options.batch = 1;
    const uint32_t rows = mote_sound_rows(model.get(), made.window());
    options.context = options.chunk = rows;
    options.logit_rows = std::max(1u, mote_model_output_rows(model.get(), rows));
    MOTE_TAKE(made.session_, Session::begin(model, options));
    return made;
  }

  Result<std::vector<Passage>> read(SoundInput& sound, const Hooks& hooks) {
    CtcReader reader(*model_);
    const auto margin = static_cast<size_t>(double{sound_.margin} * sound_.rate);
    std::vector<float> samples, peeked;
    uint64_t first = 0;  // of `samples`, of all
    for (bool last = false; !last;) {
      if (hooks.stopped()) return cancelled();
      const size_t held = samples.size();
      samples.resize(window());
      MOTE_TAKE(const size_t more, sound.read(std::span(samples).subspan(held)));
      const size_t count = held + more;
      samples.resize(count);
      last = count < window();
      if (!last) {
        peeked.resize(1);
        MOTE_TAKE(const size_t behind, sound.read(peeked));
        peeked.resize(behind);
        last = peeked.empty();
      }
      const size_t begin = first == 0 ? 0 : margin, end = last ? count : window() - margin;
      if (count > begin) MOTE_TRY(hear(samples, first, begin, end, hooks, reader));
      if (last) break;
      first += window() - 2 * margin;
      samples.erase(samples.begin(), samples.end() - static_cast<ptrdiff_t>(2 * margin));
      samples.insert(samples.end(), peeked.begin(), peeked.end());
    }
    return reader.finish();
  }

 private:
  explicit CtcTranscriber(const Model& model) : model_(&model), sound_(model.sound()) {
    mote_program_info program;
    mote_model_get_program(model.get(), 0, &program);
    width_ = program.input_width;
    step_ = samples_of_frame();
  }
  uint32_t frames_of(size_t samples) const {
    return mote_model_output_rows(model_->get(), mote_sound_rows(model_->get(), samples));
  }
  /// Returns by how many samples one frame begins behind the other: the product of the convolutions' strides.
  double samples_of_frame() const {
    size_t first = 0, second = 0;
    const size_t most = window();
    while (first < most && frames_of(first) == 0) ++first;
    for (second = first; second < most && frames_of(second) < 2;) ++second;
    return second < most ? static_cast<double>(second - first) : static_cast<double>(most);
  }
  static Status check(const Model& model) {
    if (model.label(0) == std::string_view("<0>"))
      return failed("{} has no texts of its labels: convert it with its vocab.json", model.name());
    return {};
  }
  size_t window() const { return static_cast<size_t>(double{sound_.longest} * sound_.rate); }

  /// Gives the labels of what lies in [begin, end) of the samples to the reader.
  Status hear(const std::vector<float>& samples, uint64_t first, size_t begin, size_t end, const Hooks& hooks,
              CtcReader& reader) {
    const uint32_t rows = mote_sound_rows(model_->get(), samples.size());
    const uint32_t frames = frames_of(samples.size());
    if (frames == 0) return {};  // too short to hear
    std::vector<float> values = samples;
    if (sound_.normalize != 0) normalize_samples(values);
    values.resize(size_t{rows} * width_);
    MOTE_TRY(encode_values(session_, values.data(), rows, hooks, model_->name()));
    const double step = step_;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const double at = (frame + 0.5) * step;
      if (at < static_cast<double>(begin) || at >= static_cast<double>(end)) continue;
      const std::span logits(mote_session_output(session_.get(), frame), model_->output().width);
      const auto label =
          static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
      const double time = static_cast<double>(first) + frame * step;
      reader.add(label, time / sound_.rate, (time + step) / sound_.rate, probability_at(logits, label));
    }
    return {};
  }

  const Model* model_;
  mote_sound_info sound_;
  uint32_t width_ = 0;
  double step_ = 0;  // samples
  Session session_;
};

}  // namespace

std::string cleaned_up(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kReplaced[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplaced) {
    std::string result;
    size_t begin = 0;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, begin)) {
      result.append(text, begin, at - begin).append(to);
      begin = at + from.size();
    }
    text = result.append(text, begin);
  }
  return text;
}

Status transcribe_ctc(const Model& model, const SessionChoices& choices, SoundInput& sound,
                      const Hooks& hooks, const OnPassage& found) {
  MOTE_TAKE(CtcTranscriber transcriber, CtcTranscriber::make(model, choices));
  MOTE_TAKE(const std::vector<Passage> words, transcriber.read(sound, hooks));
  for (const Passage& word : words) found(word);
  return {};
}

}  // namespace mote::host
