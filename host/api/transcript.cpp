// SPDX-License-Identifier: Apache-2.0
#include "host/api/transcript.h"

#include <cmath>
#include <utility>

#include "host/tasks/text.h"

namespace mote::api {
namespace {

using nlohmann::json;

/// Rounds seconds to milliseconds.
double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }

json passage_json(const host::Passage& passage) {
  return {{"text", passage.text}, {"begin", passage.begin}, {"start", passage.begin}, {"end", passage.end}};
}

/// Returns words, with times in milliseconds.
json words_json(const std::vector<host::SaidWord>& words) {
  json all = json::array();
  for (const host::SaidWord& word : words)
    all.push_back({{"word", word.text},
                   {"start", rounded(word.begin)},
                   {"end", rounded(word.end)},
                   {"probability", word.probability}});
  return all;
}

/// Returns a segment with what Whisper tells of it, as the original writes it.
json segment_json(const host::Passage& passage, size_t id, bool words) {
  json segment = passage_json(passage);
  segment["id"] = id;
  if (words) segment["words"] = words_json(passage.words);
  if (passage.ids.empty()) return segment;
  for (const char* time : {"begin", "start", "end"}) segment[time] = rounded(segment[time].get<double>());
  segment["tokens"] = passage.ids;
  segment["temperature"] = passage.temperature;
  segment["avg_logprob"] = passage.average_logprob;
  segment["compression_ratio"] = passage.compression;
  segment["no_speech_prob"] = passage.no_speech;
  return segment;
}

/// Joins words said without a pause to segments that fit a line of subtitles.
std::vector<host::Passage> joined(const std::vector<host::Passage>& words) {
  constexpr size_t kMostWords = 12;
  constexpr double kPauseSeconds = 1.0;
  std::vector<host::Passage> lines;
  size_t count = 0;
  for (const host::Passage& word : words) {
    if (!lines.empty() && count < kMostWords && word.begin - lines.back().end < kPauseSeconds) {
      lines.back().text += " " + word.text;
      lines.back().end = word.end;
      for (host::SaidWord said : word.words) {
        said.text = " " + said.text;
        lines.back().words.push_back(std::move(said));
      }
      ++count;
    } else {
      lines.push_back(word);
      count = 1;
    }
  }
  return lines;
}

}  // namespace

CollectedTranscript::CollectedTranscript(const host::Model& model, bool words, const mote_host_calls* calls)
    : calls_(calls),
      on_text_(on_token_of(calls)),
      with_words_(words),
      of_words_(model.task() == MOTE_TASK_TRANSCRIBE_WORDS),
      whole_(model) {}

void CollectedTranscript::tell(const host::Passage& segment) {
  if (calls_ != nullptr && calls_->segment != nullptr)
    calls_->segment(calls_->user, segment.text.data(), segment.text.size(), segment.begin, segment.end);
  segments_.push_back(segment_json(segment, segments_.size(), with_words_));
}

void CollectedTranscript::add(const host::Passage& passage) {
  whole_.add(passage);
  host::Passage shown = passage;
  shown.text = whole_.shown(passage.text);
  if (on_text_) on_text_(-1, shown.text);
  if (!of_words_) return tell(shown);
  pending_.push_back(passage);
  words_.push_back(passage_json({host::trimmed(passage.text), passage.begin, passage.end}));
}

void CollectedTranscript::end() {
  for (host::Passage& line : joined(pending_)) {
    line.text = whole_.shown(line.text);
    tell(line);
  }
  pending_.clear();
}

void CollectedTranscript::add(const host::Latency& latency) {
  const double mean = latency.stretches == 0 ? 0 : latency.sum / latency.stretches;
  latency_ = {{"stretches", latency.stretches}, {"mean", mean}, {"most", latency.most}};
}

nlohmann::json CollectedTranscript::json() const {
  nlohmann::json found = {{"text", text()}, {"segments", segments_}};
  if (of_words_) found["words"] = words_;
  if (!latency_.is_null()) found["latency"] = latency_;
  return found;
}

}  // namespace mote::api
