// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/ctc.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/base/error.h"
#include "mote/sound.h"
#include "tools/mote/speech/stretches.h"
#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

// Long sound goes through the model in windows, of whose texts the parts near cuts are left out.
constexpr double kWindowSeconds = 10.0, kMarginSeconds = 1.0;

/// Labels of frames to words, as CTC says (Graves et al. 2006): repeated labels are one, blanks are none.
class CtcReader {
 public:
  CtcReader(const mote_model* model, int32_t blank) : model_(model), blank_(blank) {}

  void add(uint32_t label, double begin, double end) {
    const std::string text = mote_model_label(model_, label);
    // Labels that have no text of their own are the same to the original.
    const bool repeats = static_cast<int64_t>(label) == last_ || (text == last_text_ && text != " ");
    last_ = label;
    last_text_ = text;
    if (static_cast<int32_t>(label) == blank_) return;
    if (text.empty()) return;
    if (text == " ") {
      if (!repeats) end_word();
    } else if (text.back() == ' ') {
      add_whole_word(text, repeats, begin, end);
    } else {
      if (word_.text.empty()) word_.begin = begin;
      word_.end = end;
      if (!repeats) word_.text += text;
    }
  }
  std::vector<Passage> finish() {
    if (!word_.text.empty()) words_.push_back(word_);
    word_ = {};
    return std::move(words_);
  }

 private:
  /// A space behind a space is one more, but for those that a text begins with.
  void end_word() {
    if (!word_.text.empty())
      words_.push_back(word_);
    else if (!words_.empty())
      words_.back().text += " ";
    word_ = {};
  }
  /// Of a label whose space parts it from the next: phonemes.
  void add_whole_word(const std::string& text, bool repeats, double begin, double end) {
    if (repeats) {
      words_.back().end = end;
      return;
    }
    if (!word_.text.empty()) end_word();
    words_.push_back({text.substr(0, text.size() - 1), begin, end});
  }

  const mote_model* model_;
  int32_t blank_;
  int64_t last_ = -1;
  std::string last_text_;
  Passage word_{};
  std::vector<Passage> words_;
};

/// A model for CTC over waveforms.
class CtcTranscriber {
 public:
  CtcTranscriber(const ModelFile& file, const mote_session_options& options)
      : file_(file), sound_(sound_of(file)), session_(file, options_for(options, file, sound_)) {
    mote_program_info program;
    mote_model_get_program(file.model(), 0, &program);
    width_ = program.input_width;
    mote_model_get_output(file.model(), &output_);
  }

  std::vector<Passage> read(SoundSource& source) {
    Resampler resampler(source, sound_.rate);
    CtcReader reader(file_.model(), sound_.blank);
    const auto window = static_cast<size_t>(kWindowSeconds * sound_.rate),
               margin = static_cast<size_t>(kMarginSeconds * sound_.rate);
    std::vector<float> samples;
    uint64_t first = 0;  // of `samples`, of all
    for (bool last = false; !last;) {
      const size_t held = samples.size();
      samples.resize(window);
      const size_t count = held + resampler.read(std::span(samples).subspan(held));
      samples.resize(count);
      last = count < window;
      if (!last) last = !peek(resampler);
      const size_t begin = first == 0 ? 0 : margin, end = last ? count : window - margin;
      if (count > begin) hear(samples, first, begin, end, reader);
      if (last) break;
      first += window - 2 * margin;
      samples.erase(samples.begin(), samples.end() - static_cast<ptrdiff_t>(2 * margin));
      samples.insert(samples.end(), peeked_.begin(), peeked_.end());
      peeked_.clear();
    }
    return reader.finish();
  }

 private:
  static mote_sound_info sound_of(const ModelFile& file) {
    mote_sound_info sound;
    mote_model_get_sound(file.model(), &sound);
    if (sound.rate == 0) convert::fail("{} does not take sound", file.path());
    if (sound.waveform == 0 || sound.blank < 0)
      convert::fail("{} hears, but has no head that writes text", file.path());
    if (mote_model_label(file.model(), 0) == std::string("<0>"))
      convert::fail("{} has no texts of its labels: convert it with its vocab.json", file.path());
    return sound;
  }
  static mote_session_options options_for(mote_session_options options, const ModelFile& file,
                                          const mote_sound_info& sound) {
    options.batch = 1;
    const uint32_t rows = mote_sound_rows(file.model(), static_cast<uint64_t>(kWindowSeconds * sound.rate));
    options.context = options.chunk = rows;
    options.logit_rows = std::max(1u, mote_model_output_rows(file.model(), rows));
    return options;
  }

  bool peek(Resampler& resampler) {
    peeked_.resize(1);
    peeked_.resize(resampler.read(peeked_));
    return !peeked_.empty();
  }

  /// Gives the labels of what lies in [begin, end) of the samples to the reader.
  void hear(const std::vector<float>& samples, uint64_t first, size_t begin, size_t end, CtcReader& reader) {
    const uint32_t rows = mote_sound_rows(file_.model(), samples.size());
    const uint32_t frames = mote_model_output_rows(file_.model(), rows);
    if (frames == 0) return;  // too short to hear
    std::vector<float> values = samples;
    if (sound_.normalize != 0) normalize_samples(values);
    values.resize(size_t{rows} * width_);
    encode_values(session_, values.data(), rows, file_.path());
    const double step = static_cast<double>(samples.size()) / frames;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const double at = (frame + 0.5) * step;
      if (at < static_cast<double>(begin) || at >= static_cast<double>(end)) continue;
      const float* logits = mote_session_output(session_.get(), frame);
      const auto label = static_cast<uint32_t>(std::max_element(logits, logits + output_.width) - logits);
      const double time = static_cast<double>(first) + frame * step;
      reader.add(label, time / sound_.rate, (time + step) / sound_.rate);
    }
  }

  const ModelFile& file_;
  mote_sound_info sound_;
  Session session_;
  mote_output_info output_{};
  uint32_t width_ = 0;
  std::vector<float> peeked_;
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

std::vector<Passage> transcribe_ctc(const ModelFile& file, const mote_session_options& options,
                                    SoundSource& source) {
  return CtcTranscriber(file, options).read(source);
}

}  // namespace mote::cli
