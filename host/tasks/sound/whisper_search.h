// SPDX-License-Identifier: Apache-2.0
//
// Texts that Whisper's decoder writes side by side, and which of them stands (openai/whisper, decoding.py).
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace mote::host {

/// A text so far, and the sum of its tokens' log-probabilities. The token that ends it is no part of `ids`.
struct SaidText {
  std::vector<int32_t> ids;
  double sum = 0;
};

class WhisperSearch {
 public:
  virtual ~WhisperSearch() = default;

  /// Returns the texts that go on, at first one or several empty ones.
  const std::vector<SaidText>& going() const { return going_; }
  /// Takes the logits of the next token of a text, minus infinity for those that may not follow. Each text
  /// that goes on is given once in a step, in order.
  virtual void consider(uint32_t text, std::span<const float> logits) = 0;
  /// Ends a step: chooses the texts that go on, and returns which of the earlier ones each continues.
  virtual std::vector<uint32_t> advance() = 0;
  /// Returns the text that stands; called once.
  virtual SaidText best() = 0;

 protected:
  std::vector<SaidText> going_;
};

/// Draws `count` texts at a temperature; one takes the likeliest token at temperature 0. The likeliest text
/// for its length stands.
std::unique_ptr<WhisperSearch> drawn_texts(uint32_t count, double temperature, int32_t stop,
                                           std::mt19937_64& random);

/// Keeps the `count` likeliest texts of each step until as many have ended.
std::unique_ptr<WhisperSearch> searched_texts(uint32_t count, int32_t stop);

}  // namespace mote::host
