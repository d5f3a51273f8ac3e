// SPDX-License-Identifier: Apache-2.0
//
// Texts appended to the sequences of a session by any calls, each row's outputs compared with those that the
// text has alone, in one call of one thread.
#pragma once

#include "tests/support/every_golden.h"

namespace test {

/// A platform of so many threads whose work one thread does, the last of it first: what depends on how work
/// is parted shows, and costs no waiting.
inline mote_platform serial_platform(uint32_t threads) {
  mote_platform platform = mote_platform_default();
  platform.threads = threads;
  platform.parallel_for = [](void*, mote_task task, void* context, uint32_t count) {
    for (uint32_t index = count; index-- > 0;) task(context, index);
  };
  return platform;
}

/// Row `position` of a text, appended to a sequence.
struct Place {
  uint32_t sequence, text, position;
};
using Places = std::vector<Place>;

/// Rows first to end - 1 of a text.
inline Places part_of(uint32_t sequence, uint32_t text, uint32_t first, uint32_t end) {
  Places places;
  for (; first < end; ++first) places.push_back({sequence, text, first});
  return places;
}

/// The rows of the parts one after the other, or in turns as long as each has some.
inline Places one_by_one(const std::vector<Places>& parts) {
  Places all;
  for (const Places& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
inline Places in_turns(const std::vector<Places>& parts) {
  Places all;
  size_t longest = 0;
  for (const Places& part : parts) longest = std::max(longest, part.size());
  for (size_t i = 0; i < longest; ++i) {
    for (const Places& part : parts)
      if (i < part.size()) all.push_back(part[i]);
  }
  return all;
}

/// A program that appends, of a model in one cache type, and what it makes of each of some texts.
class AppendedTexts {
 public:
  /// The last text is the first one up to its middle, with the first one's source.
  static constexpr uint32_t kTexts = 4, kBranch = 3, kMostRows = 37;

  AppendedTexts(const OpenModel& model, uint32_t program, mote_kv_dtype cache)
      : model_(model), number_(program), cache_(cache) {
    mote_model_get_program(model.get(), program, &info_);
    rows_ = std::min({kMostRows, model.info().context, info_.context});
    for (uint32_t p = 0; p < mote_model_programs(model.get()); ++p) {
      const mote::file::Program& other = *model.get()->root->programs()->Get(p);
      if (!mote::is_whole(other)) continue;
      sources_.push_back(p);
      for (uint32_t text = 0; text < kTexts; ++text)
        source_rows_ = std::max(source_rows_, source_length(p, text));
    }
    for (uint32_t text = 0; text < kTexts; ++text) {
      const OpenSession session(model, options(1, rows_, mote_platform_default()));
      encode(session.get(), {text});
      expected_.push_back(append(session.get(), part_of(0, text, 0, rows_), rows_));
    }
  }

  /// Rows that a text has, and up to where the last one is as the first.
  uint32_t rows() const { return rows_; }
  uint32_t middle() const { return rows_ / 2; }

  mote_session_options options(uint32_t batch, uint32_t chunk, const mote_platform& platform) const {
    mote_session_options options = mote_session_options_default(model_.get());
    options.batch = batch;
    options.chunk = options.logit_rows = std::max({chunk, batch, source_rows_});
    options.kv_dtype = cache_;
    options.platform = platform;
    return options;
  }

  /// Gives sequence i the source of text texts[i], if the model's tokens have sources.
  void encode(mote_session* session, const std::vector<uint32_t>& texts) const {
    for (const uint32_t program : sources_) {
      for (uint32_t sequence = 0; sequence < texts.size(); ++sequence) {
        const uint32_t text = texts[sequence] == kBranch ? 0 : texts[sequence];
        Places places = part_of(sequence, text, 0, source_length(program, text));
        compute(session, program, places.data(), static_cast<uint32_t>(places.size()), false);
      }
    }
  }

  /// Appends the rows, at most `chunk` in a call; their outputs.
  std::vector<std::vector<float>> append(mote_session* session, const Places& places, uint32_t chunk) const {
    std::vector<std::vector<float>> outputs;
    for (size_t done = 0; done < places.size();) {
      const auto count = static_cast<uint32_t>(std::min<size_t>(chunk, places.size() - done));
      compute(session, number_, &places[done], count, true);
      for (uint32_t row = 0; row < count; ++row) {
        const float* values = mote_session_output(session, row);
        if (values == nullptr) FAIL("no row " << row << " of outputs");
        outputs.emplace_back(values, values + info_.output_width);
      }
      done += count;
    }
    return outputs;
  }

  /// Appends the rows; each must have the bits that it has alone.
  void check(mote_session* session, const Places& places, uint32_t chunk) const {
    const auto outputs = append(session, places, chunk);
    for (size_t i = 0; i < places.size(); ++i) {
      const auto [sequence, text, position] = places[i];
      const std::vector<float>& alone = expected_[text][position];
      const bool same = std::memcmp(alone.data(), outputs[i].data(), alone.size() * sizeof(float)) == 0;
      if (same) continue;
      CAPTURE(i, sequence, text, position);
      FAIL("other bits than alone");
    }
  }

 private:
  /// Sources of different lengths, where the program takes such.
  uint32_t source_length(uint32_t program, uint32_t text) const {
    mote_program_info info;
    mote_model_get_program(model_.get(), program, &info);
    const uint32_t least = mote::least_tokens(*model_.get()->root->programs()->Get(program));
    return std::clamp(5 + 6 * text, least, std::max(least, info.context));
  }

  void compute(mote_session* session, uint32_t program, const Place* places, uint32_t count,
               bool wanted) const {
    mote_program_info info;
    mote_model_get_program(model_.get(), program, &info);
    std::vector<mote_row> rows;
    std::vector<float> values;
    for (uint32_t i = 0; i < count; ++i) {
      const auto [sequence, own, position] = places[i];
      const uint32_t text = own == kBranch && position < middle() ? 0 : own;
      rows.push_back(
          {sequence, info.ids != 0 ? id_of(text, position, model_.info().vocab) : 0, 0, wanted ? 1u : 0u});
      add_values(text, position, info.input_width, &values);
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = count;
    call.program = program;
    if (info.input_width != 0) call.values = values.data();
    mote_error error{};
    const mote_status status = mote_compute(session, &call, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }

  const OpenModel& model_;
  uint32_t number_;
  mote_kv_dtype cache_;
  mote_program_info info_{};
  uint32_t rows_ = 0, source_rows_ = 0;                    // of a text, of the longest source
  std::vector<uint32_t> sources_;                          // programs
  std::vector<std::vector<std::vector<float>>> expected_;  // [text][position]
};

}  // namespace test
