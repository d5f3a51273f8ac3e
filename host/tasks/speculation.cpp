// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/speculation.h"

#include <algorithm>
#include <utility>

#include "host/tasks/session.h"

namespace mote::host {
namespace {

constexpr double kKeeps = 0.95;      // of what is known, when there is something new
constexpr double kRowShare = 0.15;   // of a run's price that a further row costs, before it is measured
constexpr double kLeastGain = 1.03;  // below it guesses are left out
constexpr double kNewPrice = 0.2;    // weight of a run in the price of its number of rows
constexpr double kLongestRun = 3;    // times its price
constexpr double kFirstRun = 1.5;    // the same of the first run of so many rows
constexpr uint32_t kProbeRuns = 32;  // without a second model's guesses, until one shows what they are worth

double renewed(double known, double value, double weight) { return known + weight * (value - known); }

}  // namespace

mote_speculation_counts counts_since(const mote_speculation_counts& now,
                                     const mote_speculation_counts& before) {
  mote_speculation_counts since = {};
  since.runs = now.runs - before.runs;
  since.rows = now.rows - before.rows;
  since.guessed = now.guessed - before.guessed;
  since.stood = now.stood - before.stood;
  since.right = now.right - before.right;
  since.wrong = now.wrong - before.wrong;
  return since;
}

void GuessPrice::took(uint64_t rows, double ms, double right, double wrong, GuessSource source) {
  if (right + wrong > 0) {
    Share& share = shares_[static_cast<size_t>(source)];
    share.right = share.right * kKeeps + right;
    share.wrong = share.wrong * kKeeps + wrong;
  }
  if (rows == 0 || rows >= ms_.size() || ms <= 0) return;
  const double expected = price(static_cast<uint32_t>(rows));
  double& known = ms_[rows];
  const bool first = known == 0;
  // What holds a run up, such as another program, is no price. The first run of all has nothing to compare.
  const bool compared = std::any_of(ms_.begin(), ms_.end(), [](double other) { return other != 0; });
  const double bounded = compared ? std::min(ms, kLongestRun * expected) : ms;
  known =
      first ? std::min(bounded, compared ? kFirstRun * expected : ms) : renewed(known, bounded, kNewPrice);
}

double GuessPrice::price(uint32_t rows) const {
  if (ms_[rows] != 0) return ms_[rows];
  uint32_t below = rows, above = rows;
  while (below > 0 && ms_[below] == 0) --below;
  while (above < ms_.size() && ms_[above] == 0) ++above;
  const bool has_above = above < ms_.size();
  if (below == 0 && !has_above) return 1 + kRowShare * (rows - 1);  // nothing is known but ratios
  if (below == 0) return ms_[above] * (1 + kRowShare * (rows - 1)) / (1 + kRowShare * (above - 1));
  if (!has_above) return ms_[below] * (1 + kRowShare * (rows - 1)) / (1 + kRowShare * (below - 1));
  const double share = static_cast<double>(rows - below) / (above - below);
  return ms_[below] + share * (ms_[above] - ms_[below]);
}

double GuessPrice::gain(uint32_t n, GuessSource source, double each_ms) const {
  const double p = share_right(source);
  double tokens = 1, power = 1;
  for (uint32_t i = 0; i < n; ++i) tokens += power *= p;
  return tokens * price(1) / (price(1 + n) + n * each_ms);
}

uint32_t GuessPrice::best(GuessSource source, double each_ms) const {
  double most = kLeastGain;
  uint32_t best = 0;
  for (uint32_t n = 1; n <= most_; ++n) {
    const double gained = gain(n, source, each_ms);
    if (gained > most) most = gained, best = n;
  }
  return best;
}

Result<Speculation> Speculation::begin(const SpeculationOptions& options) {
  Speculation speculation(options);
  mote_speculation_options own = mote_speculation_options_default();
  own.most = options.most;
  own.match = options.mode == Speculate::draft ? 0 : options.match;
  const size_t bytes = mote_speculation_bytes(&own);
  if (bytes == 0)
    return failed("guesses are 1 to {} with a token, matching tokens 1 to 16", MOTE_MOST_GUESSES);
  speculation.memory_.reset(std::malloc(bytes));
  if (speculation.memory_ == nullptr) return Status{MOTE_OUT_OF_MEMORY, "not enough memory for guesses"};
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_speculation_init(speculation.memory_.get(), bytes, &own, &speculation.guesses_, &error),
                error, "guesses"));
  if (options.mode == Speculate::automatic)
    mote_speculation_limit(speculation.guesses_, speculation.price_.best());
  return speculation;
}

mote_speculation_counts Speculation::counts() const {
  mote_speculation_counts counts = {};
  mote_speculation_get_counts(guesses_, &counts);
  return counts;
}

void Speculation::reported(double ms) {
  const mote_speculation_counts now = counts();
  if (now.runs != before_.runs) source_ = std::exchange(next_source_, GuessSource::looked_up);
  const bool ran_once = now.runs == before_.runs + 1;
  price_.took(ran_once ? now.rows - before_.rows : 0, ms, static_cast<double>(now.right - before_.right),
              static_cast<double>(now.wrong - before_.wrong), source_);
  runs_next_ = now.stood == before_.stood;
  before_ = now;
  if (options_.mode == Speculate::automatic) mote_speculation_limit(guesses_, price_.best());
}

void Speculation::begin_search(std::span<const int32_t> before) {
  mote_speculation_precede(guesses_, before.data(), static_cast<uint32_t>(before.size()));
  before_ = counts();
  run_rows_ = 0;
}

void Speculation::stepped() {
  const mote_speculation_counts now = counts();
  if (now.runs == before_.runs) return;
  price_.took(run_rows_, run_time_.restart(), static_cast<double>(now.right - before_.right),
              static_cast<double>(now.wrong - before_.wrong));
  run_rows_ = now.rows - before_.rows;
  before_ = now;
  if (options_.mode == Speculate::automatic) mote_speculation_limit(guesses_, price_.best());
}

std::vector<int32_t> Speculation::look_up(const Session& session, int32_t last) {
  int32_t ids[MOTE_MOST_GUESSES];
  return {ids, ids + mote_speculation_look_up(guesses_, session.get(), last, ids)};
}

Result<uint32_t> Speculation::offer_forced(std::span<const int32_t> ids) {
  const uint32_t best = options_.mode == Speculate::automatic ? price_.best(GuessSource::forced) : 0;
  const auto count = static_cast<uint32_t>(std::min<size_t>(ids.size(), best));
  MOTE_TRY(offer(ids.first(count), GuessSource::forced));
  return count;
}

uint32_t Speculation::drafts_wanted(const Session& session, int32_t last, double each_ms) {
  if (options_.mode == Speculate::draft) return options_.most;
  if (options_.mode != Speculate::automatic) return 0;
  uint32_t drafts = price_.best(GuessSource::drafted, each_ms);
  if (drafts == 0 && ++runs_undrafted_ >= kProbeRuns) drafts = 1;
  int32_t known[MOTE_MOST_GUESSES];
  const uint32_t found = mote_speculation_look_up(guesses_, session.get(), last, known);
  const uint32_t looked_up = std::min(found, price_.best());
  const double gain = looked_up == 0 ? 0 : price_.gain(looked_up, GuessSource::looked_up);
  if (gain > price_.gain(drafts, GuessSource::drafted, each_ms)) return 0;
  if (drafts != 0) runs_undrafted_ = 0;
  return drafts;
}

Status Speculation::offer(std::span<const int32_t> ids, GuessSource source) {
  if (ids.empty()) return {};
  const auto count = static_cast<uint32_t>(ids.size());
  mote_error error = {};
  MOTE_TRY(from_core(mote_speculation_offer(guesses_, ids.data(), count, &error), error, "guesses"));
  mote_speculation_limit(guesses_, count);
  next_source_ = source;
  return {};
}

}  // namespace mote::host
