// SPDX-License-Identifier: Apache-2.0
//
// Guesses of a generation's next tokens, as many as pay.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/base/timer.h"
#include "host/tasks/status.h"
#include "mote/speculate.h"

namespace mote::host {

enum class Speculate {
  off,
  automatic,  // as many guesses as pay, of all sources
  lookup,     // always as many as were looked up
  draft       // always as many as a second model gives
};

/// Says that a second model's guesses are wanted.
inline bool drafts(Speculate mode) { return mode == Speculate::automatic || mode == Speculate::draft; }

/// The counts of a task's guesses, or the reason why it has none.
struct GuessReport {
  mote_speculation_counts counts = {};
  std::string off;  // why there were none; "": there may have been
};

struct SpeculationOptions {
  Speculate mode = Speculate::automatic;
  uint32_t most = 8;   // guesses with a token
  uint32_t match = 2;  // tokens that repeat before what follows them is a guess

  /// Returns the rows of logits that a session of such a generation has.
  uint32_t logit_rows() const { return mode == Speculate::off ? 1 : 1 + most; }
  bool operator==(const SpeculationOptions&) const = default;
};

/// Returns what `now` has more than `before`.
mote_speculation_counts counts_since(const mote_speculation_counts& now,
                                     const mote_speculation_counts& before);

/// Where guesses come from: each source is right as often as it is.
enum class GuessSource : uint8_t { looked_up, forced, drafted };
inline constexpr size_t kGuessSources = 3;

/// Chooses how many guesses a run computes: from a running price of runs of so many rows, and from the share
/// of guesses that were right, whether they were computed or not. n guesses, each right with probability p,
/// give 1 + p + ... + p^n tokens for the price of 1 + n rows.
class GuessPrice {
 public:
  explicit GuessPrice(uint32_t most) : most_(most) {}

  /// Takes up that a run of `rows` rows took so long, and how many guesses were right and wrong since.
  void took(uint64_t rows, double ms, double right, double wrong,
            GuessSource source = GuessSource::looked_up);
  /// Returns how many guesses of the source the next run is to compute, 0 where none pay. `each_ms`: of what
  /// making a guess takes.
  uint32_t best(GuessSource source = GuessSource::looked_up, double each_ms = 0) const;
  /// Returns how many times as many tokens a second come with n guesses as with none.
  double gain(uint32_t n, GuessSource source, double each_ms = 0) const;
  /// Returns the milliseconds that a run of so many rows takes, by those that were measured.
  double price(uint32_t rows) const;
  double share_right(GuessSource source = GuessSource::looked_up) const {
    const Share& share = shares_[static_cast<size_t>(source)];
    return share.right / (share.right + share.wrong);
  }

 private:
  uint32_t most_;
  struct Share {
    double right, wrong;  // recent ones
  };
  std::array<Share, kGuessSources> shares_{{{1, 1}, {6, 1}, {3, 1}}};  // by source
  std::array<double, 2 + MOTE_MOST_GUESSES> ms_{};                     // by rows; 0: not measured
};

class Session;

class Speculation {
 public:
  static Result<Speculation> begin(const SpeculationOptions& options);

  mote_speculation* get() const { return guesses_; }
  const SpeculationOptions& options() const { return options_; }
  mote_speculation_counts counts() const;
  /// Is called after each token, with the time since the one before; the next run then computes as many
  /// guesses as pay.
  void reported(double ms);
  /// Says that the next token takes a run: the last one's guesses are used up.
  bool runs_next() const { return runs_next_; }
  /// Offers the tokens that the answer is bound to go on with, as many as pay. Returns how many.
  Result<uint32_t> offer_forced(std::span<const int32_t> ids);
  /// Returns how many tokens of a second model, each of which takes so long, the next run is to have: none
  /// where those that can be looked up behind `last` pay more.
  uint32_t drafts_wanted(const Session& session, int32_t last, double each_ms);
  /// Is called after each step of a search: takes up what the last run took once another has begun.
  void stepped();
  /// Begins another search, in which guesses are looked up in `before` too, which must stay valid.
  void begin_search(std::span<const int32_t> before);
  // For tasks that compute the rows themselves.
  std::vector<int32_t> look_up(const Session& session, int32_t last);
  /// Returns how many guesses that were looked up the next run is to have.
  uint32_t most_looked_up() const {
    return options_.mode == Speculate::automatic ? price_.best() : options_.most;
  }
  void ran(uint64_t rows, double ms) { price_.took(rows, ms, 0, 0); }
  void compared(bool right, GuessSource source) { price_.took(0, 0, right, !right, source); }
  Status offer_drafted(std::span<const int32_t> ids) { return offer(ids, GuessSource::drafted); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  explicit Speculation(const SpeculationOptions& options) : options_(options), price_(options.most) {}

  Status offer(std::span<const int32_t> ids, GuessSource source);

  SpeculationOptions options_;
  std::unique_ptr<void, Free> memory_;
  mote_speculation* guesses_ = nullptr;
  GuessPrice price_;
  mote_speculation_counts before_ = {};
  GuessSource next_source_ = GuessSource::looked_up;  // of the next run's guesses
  GuessSource source_ = GuessSource::looked_up;       // of the last one's
  bool runs_next_ = true;
  Timer run_time_;               // of a search's last run
  uint64_t run_rows_ = 0;        // that it has; 0: none has begun
  uint32_t runs_undrafted_ = 0;  // since the last guess of the second model
};

}  // namespace mote::host
