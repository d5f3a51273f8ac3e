// SPDX-License-Identifier: Apache-2.0
//
// The last texts that a worker's pictures or sounds were compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/api/model.h"
#include "host/tasks/compared_texts.h"

namespace mote::api {

struct KeptTexts {
  std::vector<std::string> words;
  std::optional<host::ComparedTexts> texts;

  /// Takes the vectors of the words, by the text tower that the model was opened with. Fails without words.
  host::Status take(mote_host& opened, const mote_platform& platform, const std::vector<std::string>& given,
                    const host::Hooks& hooks);
};

}  // namespace mote::api
