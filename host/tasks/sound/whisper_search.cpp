// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/tasks/sound/whisper_rules.h"

namespace mote::host {
namespace {

/// Takes the text out that is the likeliest for its length.
SaidText take_likeliest(std::vector<SaidText>& texts) {
  const auto score = [](const SaidText& text) {
    return text.sum / static_cast<double>(std::max<size_t>(1, text.ids.size()));
  };
  size_t best = 0;
  for (size_t i = 1; i < texts.size(); ++i)
    if (score(texts[i]) > score(texts[best])) best = i;
  return std::move(texts[best]);
}

class DrawnTexts : public WhisperSearch {
 public:
  DrawnTexts(uint32_t count, double temperature, int32_t stop, std::mt19937_64& random)
      : temperature_(temperature), stop_(stop), random_(&random) {
    going_.resize(count);
  }

  void consider(uint32_t text, std::span<const float> logits) override {
    const int32_t id = choose(logits);
    SaidText& said = going_[text];
    said.sum += static_cast<double>(logits[static_cast<size_t>(id)]) - log_sum_exp(logits);
    if (id == stop_) return ended_.push_back(std::move(said));
    said.ids.push_back(id);
    from_.push_back(text);
  }

  std::vector<uint32_t> advance() override {
    std::vector<SaidText> left;
    for (const uint32_t text : from_) left.push_back(std::move(going_[text]));
    going_ = std::move(left);
    return std::exchange(from_, {});
  }

  SaidText best() override {
    for (SaidText& text : going_) ended_.push_back(std::move(text));
    return take_likeliest(ended_);
  }

 private:
  int32_t choose(std::span<const float> logits) {
    const auto best = std::max_element(logits.begin(), logits.end());
    if (temperature_ == 0.0) return static_cast<int32_t>(best - logits.begin());
    const auto weight = [&](float logit) {
      return std::exp(static_cast<double>(logit - *best) / temperature_);
    };
    double sum = 0;
    for (const float logit : logits) sum += weight(logit);
    double left = std::uniform_real_distribution<double>(0.0, sum)(*random_);
    for (size_t i = 0; i < logits.size(); ++i) {
      left -= weight(logits[i]);
      if (left < 0) return static_cast<int32_t>(i);
    }
    return static_cast<int32_t>(best - logits.begin());
  }

  double temperature_;
  int32_t stop_;
  std::mt19937_64* random_;
  std::vector<SaidText> ended_;
  std::vector<uint32_t> from_;  // texts that go on, of this step
};

class SearchedTexts : public WhisperSearch {
 public:
  SearchedTexts(uint32_t count, int32_t stop) : count_(count), stop_(stop) { going_.resize(1); }

  /// Adds the text's continuations by its likeliest tokens: one more than texts are kept, since one may end
  /// it.
  void consider(uint32_t text, std::span<const float> logits) override {
    const double all = log_sum_exp(logits);
    std::vector<int32_t> ids(logits.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
    const auto logit = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
    const auto most = ids.begin() + static_cast<ptrdiff_t>(std::min<size_t>(count_ + 1, ids.size()));
    std::partial_sort(ids.begin(), most, ids.end(), [&](int32_t a, int32_t b) {
      return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
    });
    for (auto id = ids.begin(); id != most; ++id) {
      if (logit(*id) == -INFINITY) break;
      next_.push_back({text, *id, going_[text].sum + static_cast<double>(logit(*id)) - all});
    }
  }

  std::vector<uint32_t> advance() override {
    std::stable_sort(next_.begin(), next_.end(), [](const Next& a, const Next& b) { return a.sum > b.sum; });
    std::vector<SaidText> kept;
    std::vector<uint32_t> from;
    for (const Next& next : next_) {
      if (kept.size() == count_) break;
      SaidText said{going_[next.text].ids, next.sum};
      if (next.id == stop_) {
        if (ended_.size() < count_) ended_.push_back(std::move(said));
        continue;
      }
      said.ids.push_back(next.id);
      kept.push_back(std::move(said));
      from.push_back(next.text);
    }
    next_.clear();
    going_ = std::move(kept);
    if (ended_.size() == count_) from.clear();
    if (from.empty()) unended_ = std::exchange(going_, {});
    return from;
  }

  /// Fills up the texts that ended with the likeliest that did not.
  SaidText best() override {
    if (!going_.empty()) unended_ = std::move(going_);
    std::stable_sort(unended_.begin(), unended_.end(),
                     [](const SaidText& a, const SaidText& b) { return a.sum > b.sum; });
    for (SaidText& text : unended_)
      if (ended_.size() < count_) ended_.push_back(std::move(text));
    return take_likeliest(ended_);
  }

 private:
  struct Next {
    uint32_t text;
    int32_t id;
    double sum;
  };

  uint32_t count_;
  int32_t stop_;
  std::vector<Next> next_;
  std::vector<SaidText> ended_, unended_;
};

}  // namespace

std::unique_ptr<WhisperSearch> drawn_texts(uint32_t count, double temperature, int32_t stop,
                                           std::mt19937_64& random) {
  return std::make_unique<DrawnTexts>(temperature == 0.0 ? 1 : count, temperature, stop, random);
}

std::unique_ptr<WhisperSearch> searched_texts(uint32_t count, int32_t stop) {
  return std::make_unique<SearchedTexts>(count, stop);
}

}  // namespace mote::host
