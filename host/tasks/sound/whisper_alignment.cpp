// SPDX-License-Identifier: Apache-2.0
//
// Where the tokens of a window's text are said: the decoder reads the text once more, while the heads that
// look there are watched.
#include <algorithm>
#include <cmath>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/sound/time_warp.h"
#include "host/tasks/sound/whisper.h"

namespace mote::host {
namespace {

constexpr size_t kMostShares = size_t{8} << 20;  // that are held at once

/// Takes the shares of heads, which come one after the other with all rows of a run.
class WatchedShares {
 public:
  WatchedShares(size_t heads, uint32_t rows, uint32_t frames)
      : rows_(rows), frames_(frames), values_(heads * rows * frames) {}

  void begin_run(uint32_t first_row) {
    first_row_ = first_row;
    head_ = SIZE_MAX;
  }
  static void take(void* user, const mote_attention_row* row) {
    static_cast<WatchedShares*>(user)->add(*row);
  }
  /// Returns those of a head, [rows, frames].
  std::span<float> of_head(size_t head) {
    const size_t size = size_t{rows_} * frames_;
    return std::span(values_).subspan(head * size, size);
  }

 private:
  /// Adds a row's, of the sound's frames alone, as the original looks at them.
  void add(const mote_attention_row& row) {
    if (row.row == 0) ++head_;
    const std::span<float> to = of_head(head_).subspan(size_t{first_row_ + row.row} * frames_, frames_);
    const uint32_t count = std::min(frames_, row.keys);
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += static_cast<double>(row.probabilities[i]);
    for (uint32_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(static_cast<double>(row.probabilities[i]) / sum);
  }

  uint32_t rows_, frames_;
  std::vector<float> values_;
  uint32_t first_row_ = 0;
  size_t head_ = SIZE_MAX;
};

/// Watches heads of a session as long as it exists.
class Watch {
 public:
  explicit Watch(Session& session) : session_(&session), room_(mote_watched_heads_room(session.get())) {}
  ~Watch() { mote_session_watch_heads(session_->get(), nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Status begin(std::span<const mote_watched_head> heads, WatchedShares& shares, std::string_view name) {
    mote_error error = {};
    return from_core(
        mote_session_watch_heads(session_->get(), heads.data(), static_cast<uint32_t>(heads.size()),
                                 WatchedShares::take, &shares, room_.data(),
                                 static_cast<uint32_t>(room_.size()), &error),
        error, name);
  }

 private:
  Session* session_;
  std::vector<float> room_;
};

}  // namespace

/// Returns the heads that the file names, or else, as the original has it, those of the upper half of the
/// layers, by layers.
std::vector<mote_watched_head> WhisperDecoder::alignment_heads() const {
  std::vector<mote_watched_head> heads;
  const mote_speech_info& speech = tokens_.speech;
  for (uint32_t i = 0; i < speech.alignment_head_count; ++i)
    heads.push_back({speech.alignment_heads[2 * i], speech.alignment_heads[2 * i + 1]});
  if (heads.empty()) {
    uint32_t layers = 0;
    while (mote_model_source_heads(model_->get(), layers) != 0) ++layers;
    for (uint32_t layer = layers / 2; layer < layers; ++layer)
      for (uint32_t head = 0; head < mote_model_source_heads(model_->get(), layer); ++head)
        heads.push_back({layer, head});
  }
  std::stable_sort(heads.begin(), heads.end(),
                   [](const auto& a, const auto& b) { return a.layer < b.layer; });
  return heads;
}

/// Computes a text's ids and takes the probabilities of those behind row `first`, unless they are known.
Status WhisperDecoder::run_watched(const NextIds& part, size_t first, size_t texts,
                                   const std::function<void(uint32_t)>& begin_run, WhisperAlignment& found,
                                   const Hooks& hooks) {
  MOTE_TRY(forget(part.window));
  const std::vector<int32_t>& ids = part.ids;
  const bool asks = found.probabilities.empty();
  const size_t most = asks ? size_t{kAlignedAtOnce} : ids.size();
  for (size_t begin = 0; begin < ids.size(); begin += most) {
    const size_t end = std::min(ids.size(), begin + most);
    std::vector<mote_row> rows;
    for (size_t i = begin; i < end; ++i)
      rows.push_back(
          {sequence_of(part.window), ids[i], 0, asks && i >= first && i < first + texts ? 1u : 0u});
    begin_run(static_cast<uint32_t>(begin));
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    MOTE_TRY(compute(session_, call, hooks, model_->name()));
    uint32_t output = 0;
    for (size_t i = begin; i < end; ++i) {
      if (rows[i - begin].wants_output == 0) continue;
      const std::span<const float> of_text(logits(output++), static_cast<size_t>(tokens_.stop));
      const auto id = static_cast<size_t>(ids[i + 1]);
      found.probabilities.push_back(std::exp(static_cast<double>(of_text[id]) - log_sum_exp(of_text)));
    }
  }
  return {};
}

Result<WhisperAlignment> WhisperDecoder::align(uint32_t window, const std::vector<int32_t>& texts,
                                               uint32_t frames, const Hooks& hooks) {
  NextIds part{window, begin_};
  std::vector<int32_t>& ids = part.ids;
  std::erase(ids, tokens_.speech.no_timestamps);
  // The original names the task behind every language.
  if (ids.size() == 2 && tokens_.speech.transcribe >= 0) ids.push_back(tokens_.speech.transcribe);
  if (tokens_.speech.no_timestamps >= 0) ids.push_back(tokens_.speech.no_timestamps);
  const size_t first = ids.size() - 1;
  ids.insert(ids.end(), texts.begin(), texts.end());
  ids.push_back(tokens_.stop);
  if (ids.size() > context_)
    return failed("{}: a window's text has {} tokens, too many to find its words", model_->name(),
                  texts.size());
  const auto rows = static_cast<uint32_t>(ids.size());
  const std::vector<mote_watched_head> heads = alignment_heads();
  const size_t at_once = std::max<size_t>(1, kMostShares / (size_t{rows} * frames));
  WhisperAlignment found;
  found.costs.resize((texts.size() + 1) * frames);
  for (size_t begin = 0; begin < heads.size(); begin += at_once) {
    const std::span<const mote_watched_head> some =
        std::span(heads).subspan(begin, std::min(at_once, heads.size() - begin));
    WatchedShares shares(some.size(), rows, frames);
    Watch watch(session_);
    MOTE_TRY(watch.begin(some, shares, model_->name()));
    MOTE_TRY(run_watched(
        part, first, texts.size(), [&](uint32_t row) { shares.begin_run(row); }, found, hooks));
    for (size_t head = 0; head < some.size(); ++head) {
      normalize_shares(shares.of_head(head), rows, frames);
      const std::span<const float> of_texts =
          shares.of_head(head).subspan(first * frames, found.costs.size());
      for (size_t i = 0; i < of_texts.size(); ++i) found.costs[i] += of_texts[i];
    }
  }
  for (float& cost : found.costs) cost = -cost / static_cast<float>(heads.size());
  return found;
}

}  // namespace mote::host
