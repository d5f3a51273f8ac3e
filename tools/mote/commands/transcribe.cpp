// SPDX-License-Identifier: Apache-2.0
//
// mote transcribe: speech to text.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "converter/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/sound_file.h"
#include "tools/mote/steps.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

// Long sound goes through the model in windows, of whose texts the parts near cuts are left out.
constexpr double kWindowSeconds = 10.0, kMarginSeconds = 1.0;

struct Arguments {
  std::string file, sound;
  bool srt = false, vtt = false, json = false;
  SessionFlags session;
};

/// A word and when it is said.
struct Word {
  std::string text;
  double begin, end;  // seconds
};

/// Labels of frames to words, as CTC says (Graves et al. 2006): repeated labels are one, blanks are none.
class CtcReader {
 public:
  CtcReader(const mote_model* model, int32_t blank) : model_(model), blank_(blank) {}

  void add(uint32_t label, double begin, double end) {
    const bool repeats = static_cast<int64_t>(label) == last_;
    last_ = label;
    if (static_cast<int32_t>(label) == blank_) return;
    const std::string text = mote_model_label(model_, label);
    if (text == "|" || text == " ") return end_word();
    if (text.size() > 2 && text.front() == '<' && text.back() == '>') return;  // <s> and the like
    if (word_.text.empty()) word_.begin = begin;
    word_.end = end;
    if (!repeats) word_.text += text;
  }
  std::vector<Word> finish() {
    end_word();
    return std::move(words_);
  }

 private:
  void end_word() {
    if (!word_.text.empty()) words_.push_back(word_);
    word_ = {};
  }

  const mote_model* model_;
  int32_t blank_;
  int64_t last_ = -1;
  Word word_{};
  std::vector<Word> words_;
};

/// Samples with mean 0 and variance 1, as the original's feature extractor makes them.
void normalize(std::span<float> samples) {
  double sum = 0, squares = 0;
  for (const float sample : samples) sum += static_cast<double>(sample);
  const double mean = sum / static_cast<double>(samples.size());
  for (const float sample : samples) squares += std::pow(static_cast<double>(sample) - mean, 2);
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(samples.size()) + 1e-7);
  for (float& sample : samples) sample = static_cast<float>((static_cast<double>(sample) - mean) * scale);
}

/// A model for CTC over waveforms.
class Transcriber {
 public:
  Transcriber(const Arguments& arguments, const ModelFile& file, const ThreadPool& pool)
      : file_(file), sound_(sound_of(file)), session_(file, options_for(arguments, file, pool, sound_)) {
    mote_program_info program;
    mote_model_get_program(file.model(), 0, &program);
    width_ = program.input_width;
    mote_model_get_output(file.model(), &output_);
  }

  std::vector<Word> read(SoundSource& source) {
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
    return sound;
  }
  static mote_session_options options_for(const Arguments& arguments, const ModelFile& file,
                                          const ThreadPool& pool, const mote_sound_info& sound) {
    mote_session_options options = session_options(file, arguments.session, pool);
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
    if (sound_.normalize != 0) normalize(values);
    values.resize(size_t{rows} * width_);
    mote_batch batch{};
    batch.lengths = &rows;
    batch.count = 1;
    batch.values = values.data();
    encode(session_, batch, file_.path());
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

/// Words said without a pause of a second, at most twelve: a line of subtitles.
std::vector<Word> lines_of(const std::vector<Word>& words) {
  std::vector<Word> lines;
  size_t count = 0;
  for (const Word& word : words) {
    if (!lines.empty() && count < 12 && word.begin - lines.back().end < 1.0) {
      lines.back().text += " " + word.text;
      lines.back().end = word.end;
      ++count;
    } else {
      lines.push_back(word);
      count = 1;
    }
  }
  return lines;
}

std::string clock(double seconds, char point) {
  const auto ms = static_cast<uint64_t>(std::llround(seconds * 1000));
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
                     ms % 1000);
}

void print_words(const Arguments& arguments, const std::vector<Word>& words) {
  if (arguments.json) {
    nlohmann::json items = nlohmann::json::array();
    std::string text;
    for (const Word& word : words) {
      text += (text.empty() ? "" : " ") + word.text;
      items.push_back({{"text", word.text}, {"begin", word.begin}, {"end", word.end}});
    }
    return print_json({{"text", text}, {"words", items}});
  }
  if (!arguments.srt && !arguments.vtt) {
    std::string text;
    for (const Word& word : words) text += (text.empty() ? "" : " ") + word.text;
    return print("{}\n", text);
  }
  if (arguments.vtt) print("WEBVTT\n\n");
  const char point = arguments.vtt ? '.' : ',';
  size_t number = 0;
  for (const Word& line : lines_of(words)) {
    if (arguments.srt) print("{}\n", ++number);
    print("{} --> {}\n{}\n\n", clock(line.begin, point), clock(line.end, point), line.text);
  }
}

void transcribe(const Arguments& arguments) {
  if (arguments.srt + arguments.vtt + arguments.json > 1)
    usage_fail("--srt, --vtt and --json exclude each other");
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  Transcriber transcriber(arguments, file, pool);
  const std::unique_ptr<SoundSource> source = open_sound(arguments.sound);
  print_words(arguments, transcriber.read(*source));
}

}  // namespace

void add_transcribe(CommandLine& line) {
  auto arguments = std::make_shared<Arguments>();
  Command command = line.command("transcribe", "Write down what is said in a file of sound");
  add_model_argument(command, arguments->file);
  command.option("sound", &arguments->sound, "WAV, FLAC or OGG; -: standard input, as of arecord -")
      .type("SOUND")
      .required();
  command.flag("--srt", &arguments->srt, "As subtitles of SubRip");
  command.flag("--vtt", &arguments->vtt, "As subtitles of WebVTT");
  command.flag("--json", &arguments->json, "The text, and its words with the seconds when they are said");
  add_session_flags(command, arguments->session);
  command.callback([arguments] { transcribe(*arguments); });
}

}  // namespace mote::cli
