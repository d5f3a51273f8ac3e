// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_earlier.h"

#include <algorithm>
#include <utility>

namespace mote::host {
namespace {

constexpr double kResets = 0.5;  // a temperature above it

/// Appends the last ids of a list, at most so many.
void append_last(std::vector<int32_t>& to, const std::vector<int32_t>& ids, size_t most) {
  to.insert(to.end(), ids.end() - static_cast<ptrdiff_t>(std::min(ids.size(), most)), ids.end());
}

}  // namespace

Result<EarlierText> EarlierText::make(const WhisperDecoder& decoder, const WhisperOptions& options,
                                      const Hooks& hooks) {
  EarlierText earlier(options);
  earlier.room_ = decoder.most_earlier();
  MOTE_TAKE(earlier.hotwords_, decoder.ids_of(options.hotwords));
  MOTE_TAKE(std::vector<int32_t> prompt, decoder.ids_of(options.prompt));
  const bool any = !earlier.hotwords_.empty() || !prompt.empty();
  if (any && decoder.tokens().speech.previous < 0)
    return failed("this model has no token that begins earlier text, so it takes no prompt and no hotwords");
  // The original pushes a longer prompt out of later windows by the text behind it.
  if (options.carry_prompt && prompt.size() >= earlier.room_)
    return failed("the prompt has {} tokens; at most {} are carried", prompt.size(), earlier.room_ - 1);
  if (prompt.size() > earlier.room_)
    hooks.say("the prompt has {} tokens, of which the last {} are read", prompt.size(), earlier.room_);
  if (earlier.hotwords_.size() > earlier.room_) {
    hooks.say("the hotwords have {} tokens, of which the first {} are read", earlier.hotwords_.size(),
              earlier.room_);
    earlier.hotwords_.resize(earlier.room_);
  }
  (options.carry_prompt ? earlier.prompt_ : earlier.said_) = std::move(prompt);
  return earlier;
}

std::vector<int32_t> EarlierText::ids() const {
  std::vector<int32_t> ids = hotwords_;
  append_last(ids, prompt_, room_ - ids.size());
  append_last(ids, said_, room_ - ids.size());
  return ids;
}

void EarlierText::add(const std::vector<Passage>& passages, double temperature) {
  if (!options_->conditions || temperature > kResets) return said_.clear();
  for (const Passage& passage : passages) said_.insert(said_.end(), passage.ids.begin(), passage.ids.end());
  if (said_.size() > room_) said_.erase(said_.begin(), said_.end() - static_cast<ptrdiff_t>(room_));
}

}  // namespace mote::host
