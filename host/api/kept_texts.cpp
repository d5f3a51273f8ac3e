// SPDX-License-Identifier: Apache-2.0
#include "host/api/kept_texts.h"

namespace mote::api {

host::Status KeptTexts::take(mote_host& opened, const mote_platform& platform,
                             const std::vector<std::string>& given, const host::Hooks& hooks) {
  MOTE_TAKE(const host::Model* const tower, opened.text_tower());
  if (given.empty()) return host::failed("there are no texts to compare with");
  if (texts && words == given) return {};
  host::SessionChoices choices = opened.choices(platform);
  choices.backend = nullptr;  // of the other tower
  MOTE_TAKE(texts, host::ComparedTexts::make(*tower, choices, given, hooks));
  words = given;
  return {};
}

}  // namespace mote::api
