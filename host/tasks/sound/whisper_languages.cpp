// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_languages.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mote::host {
namespace {

std::string code_of(const std::string& named) {
  std::string name = trimmed(named);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::pair<std::string_view, std::string_view> kCodes[] = {
#define SPEECH_LANGUAGE(language, code) {language, code},
#include "host/base/speech_languages.inc"
#undef SPEECH_LANGUAGE
  };
  for (const auto& [language, code] : kCodes)
    if (name == language) return std::string(code);
  return name;
}

}  // namespace

SpokenLanguage language_at(const Model& model, uint32_t number) {
  SpokenLanguage language;
  const char* code = mote_model_language(model.get(), number, &language.id);
  if (code != nullptr) language.code = code;
  return language;
}

Result<SpokenLanguage> find_language(const Model& model, const std::string& named) {
  const std::string code = code_of(named);
  const uint32_t count = model.task_info().languages;
  if (count == 0) {
    if (code != "en") return failed("this model knows English alone, not the language '{}'", named);
    return SpokenLanguage{};
  }
  std::string known;
  for (uint32_t i = 0; i < count; ++i) {
    SpokenLanguage language = language_at(model, i);
    if (language.code == code) return language;
    known += (i == 0 ? "" : ", ") + language.code;
  }
  return failed("this model does not know the language '{}'; it knows {}", named, known);
}

}  // namespace mote::host
