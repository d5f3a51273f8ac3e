// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_words.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "host/tasks/sound/time_warp.h"

namespace mote::host {
namespace {

constexpr double kLongestMedian = 0.7, kPartOfSecond = 0.5;
constexpr std::string_view kEndsSentence = ".。!！?？", kPrepended = "\"'“¿([{-",
                           kAppended = "\"'.。,，!！?？:：”)]}、";

bool is_in(std::string_view text, std::string_view all) { return all.find(text) != std::string_view::npos; }

double rounded(double seconds) { return std::nearbyint(seconds * 100) / 100; }

/// Puts opening marks before the word that follows and other marks behind the word before.
template <class Word>
void merge_marks(std::vector<Word>& words) {
  for (size_t i = words.size() - 1, next = i; i-- > 0;) {
    Word &word = words[i], &following = words[next];
    if (word.text.starts_with(' ') && is_in(trimmed(word.text), kPrepended)) {
      following.text = std::exchange(word.text, {}) + following.text;
      following.tokens += std::exchange(word.tokens, 0);
    } else {
      next = i;
    }
  }
  for (size_t i = 0, next = 1; next < words.size(); ++next) {
    Word &word = words[i], &following = words[next];
    if (!word.text.ends_with(' ') && is_in(following.text, kAppended)) {
      word.text += std::exchange(following.text, {});
      word.tokens += std::exchange(following.tokens, 0);
    } else {
      i = next;
    }
  }
}

/// Returns the median of the words' durations that are not 0, at most 0.7 s.
template <class Word>
double median_duration(const std::vector<Word>& words) {
  std::vector<double> durations;
  for (const Word& word : words)
    if (word.end != word.begin) durations.push_back(word.end - word.begin);
  if (durations.empty()) return 0;
  std::sort(durations.begin(), durations.end());
  const size_t half = durations.size() / 2;
  const double median =
      durations.size() % 2 != 0 ? durations[half] : (durations[half - 1] + durations[half]) / 2;
  return std::min(kLongestMedian, median);
}

/// Cuts words at the ends of sentences that are longer than twice the median.
template <class Word>
void cut_at_sentences(std::vector<Word>& words, double longest) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].end - words[i].begin <= longest) continue;
    if (is_in(words[i].text, kEndsSentence))
      words[i].end = words[i].begin + longest;
    else if (is_in(words[i - 1].text, kEndsSentence))
      words[i].begin = words[i].end - longest;
  }
}

}  // namespace

WhisperWords::WhisperWords(WhisperDecoder& decoder, const std::string& language)
    : decoder_(&decoder), at_(lacks_spaces(language) ? WordsAt::characters : WordsAt::spaces_and_marks) {}

Result<std::vector<WhisperWords::Word>> WhisperWords::align(const std::vector<int32_t>& ids,
                                                            const WhisperWindow& window,
                                                            const Hooks& hooks) const {
  std::vector<Word> words;
  const uint32_t frames = window.frames / decoder_->tokens().speech.timestamp_frames;
  if (ids.empty() || frames == 0) return words;
  MOTE_TAKE(const WhisperAlignment found, decoder_->align(window.number, ids, frames, hooks));
  // The marks behind the text are where its last word ends.
  const std::vector<uint32_t> begins =
      warp_tokens(found.costs, static_cast<uint32_t>(ids.size()) + 1, frames);
  MOTE_TAKE(const std::vector<TokenWord> parts, words_of_tokens(decoder_->model(), ids, at_));
  const mote_sound_info& sound = decoder_->sound();
  const double step =
      static_cast<double>(sound.hop) * decoder_->tokens().speech.timestamp_frames / sound.rate;
  for (const TokenWord& part : parts) {
    double sum = 0;
    for (uint32_t i = 0; i < part.count; ++i) sum += found.probabilities[part.first + i];
    words.push_back({part.text, part.count, begins[part.first] * step, begins[part.first + part.count] * step,
                     sum / part.count});
  }
  return words;
}

/// Gives a passage its words, of which the first and the last are cut where they are too long, or the
/// passage's own times are moved to them.
void WhisperWords::take(Passage& passage, std::vector<SaidWord> words, double median) {
  if (words.empty()) return;
  const double longest = 2 * median;
  SaidWord &first = words.front(), &last = words.back();
  const bool two = words.size() > 1;
  if (first.end - last_said_ > 4 * median &&
      (first.end - first.begin > longest || (two && words[1].end - first.begin > 2 * longest))) {
    if (two && words[1].end - words[1].begin > longest)
      first.end = words[1].begin = std::max(words[1].end / 2, words[1].end - longest);
    first.begin = std::max(0.0, first.end - longest);
  }
  if (passage.begin < first.end && passage.begin - kPartOfSecond > first.begin)
    first.begin = std::max(0.0, std::min(first.end - median, passage.begin));
  else
    passage.begin = first.begin;
  if (passage.end > last.begin && passage.end + kPartOfSecond < last.end)
    last.end = std::max(last.begin + median, passage.end);
  else
    passage.end = last.end;
  last_said_ = passage.end;
  passage.words = std::move(words);
}

Status WhisperWords::add(std::vector<Passage>& passages, const WhisperWindow& window, const Hooks& hooks) {
  if (passages.empty()) return {};
  const WhisperTokens& tokens = decoder_->tokens();
  const auto is_text = [&](int32_t id) { return id < tokens.stop; };
  std::vector<int32_t> ids;
  for (const Passage& passage : passages)
    std::copy_if(passage.ids.begin(), passage.ids.end(), std::back_inserter(ids), is_text);
  MOTE_TAKE(std::vector<Word> words, align(ids, window, hooks));
  const double median = median_duration(words);
  if (median > 0) cut_at_sentences(words, 2 * median);
  if (!words.empty()) merge_marks(words);
  const double begin = static_cast<double>(window.first) * decoder_->sound().hop / decoder_->sound().rate;
  size_t next = 0;
  for (Passage& passage : passages) {
    const auto wanted = std::count_if(passage.ids.begin(), passage.ids.end(), is_text);
    std::vector<SaidWord> of_passage;
    for (int64_t taken = 0; next < words.size() && taken < wanted; ++next) {
      const Word& word = words[next];
      if (!word.text.empty())
        of_passage.push_back(
            {word.text, rounded(begin + word.begin), rounded(begin + word.end), word.probability});
      taken += word.tokens;
    }
    take(passage, std::move(of_passage), median);
  }
  last_said_ = end_of_words(passages);
  return {};
}

double end_of_words(const std::vector<Passage>& passages) {
  for (auto passage = passages.rbegin(); passage != passages.rend(); ++passage)
    if (!passage->words.empty()) return passage->words.back().end;
  return passages.empty() ? 0 : passages.back().end;
}

}  // namespace mote::host
