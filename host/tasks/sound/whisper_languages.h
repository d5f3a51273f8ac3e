// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "host/tasks/model.h"
#include "host/tasks/status.h"

namespace mote::host {

struct SpokenLanguage {
  std::string code;
  int32_t id = -1;  // of its token; -1: the model has none, since it knows English alone
};

/// Returns a language of the model by its code or its English name, in any case. Fails with the languages
/// that the model knows.
Result<SpokenLanguage> find_language(const Model& model, const std::string& named);

/// Returns the model's language of this number.
SpokenLanguage language_at(const Model& model, uint32_t number);

}  // namespace mote::host
