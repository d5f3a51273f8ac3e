// SPDX-License-Identifier: Apache-2.0
//
// Guesses of a generation's next tokens, as many as pay.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "host/tasks/status.h"
#include "mote/speculate.h"

namespace mote::host {

enum class Speculate {
  off,
  automatic,  // as many guesses as pay
  lookup      // always as many as there are
};

struct SpeculationOptions {
  Speculate mode = Speculate::automatic;
  uint32_t most = 8;   // guesses with a token
  uint32_t match = 2;  // tokens that repeat before what follows them is a guess

  /// Returns the rows of logits that a session of such a generation has.
  uint32_t logit_rows() const { return mode == Speculate::off ? 1 : 1 + most; }
  bool operator==(const SpeculationOptions&) const = default;
};

/// Where guesses come from: each source is right as often as it is.
enum class GuessSource : uint8_t { looked_up, forced };

/// Chooses how many guesses a run computes: from a running price of runs of so many rows, and from the share
/// of guesses that were right, whether they were computed or not. n guesses, each right with probability p,
/// give 1 + p + ... + p^n tokens for the price of 1 + n rows.
class GuessPrice {
 public:
  explicit GuessPrice(uint32_t most) : most_(most) {}

  /// Takes up that a run of `rows` rows took so long, and how many guesses were right and wrong since.
  void took(uint64_t rows, double ms, double right, double wrong,
            GuessSource source = GuessSource::looked_up);
  /// Returns how many guesses of the source the next run is to compute, 0 where none pay.
  uint32_t best(GuessSource source = GuessSource::looked_up) const;
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
  std::array<Share, 2> shares_{{{1, 1}, {6, 1}}};   // by source
  std::array<double, 2 + MOTE_MOST_GUESSES> ms_{};  // by rows; 0: not measured
};

class Speculation {
 public:
  static Result<Speculation> begin(const SpeculationOptions& options);

  mote_speculation* get() const { return guesses_; }
  const SpeculationOptions& options() const { return options_; }
  mote_speculation_counts counts() const;
  /// Is called after each token, with the time since the one before; the next run then computes as many
  /// guesses as pay.
  void reported(double ms);
  /// Offers the tokens that the answer is bound to go on with, as many as pay.
  Status offer_forced(std::span<const int32_t> ids);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  explicit Speculation(const SpeculationOptions& options) : options_(options), price_(options.most) {}

  SpeculationOptions options_;
  std::unique_ptr<void, Free> memory_;
  mote_speculation* guesses_ = nullptr;
  GuessPrice price_;
  mote_speculation_counts before_ = {};
  GuessSource source_ = GuessSource::looked_up;  // of the next run's guesses
};

}  // namespace mote::host
