// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/whisper_flags.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

constexpr uint32_t kMostTexts = 64, kMostWindows = 64;

template <class Number>
Number number_of(const char* option, std::string_view text, const char* wanted) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || last != end)
    usage_fail("{}: expected {}, not '{}'", option, wanted, text);
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) usage_fail("{}: expected {}, not '{}'", option, wanted, text);
  }
  return number;
}

/// Returns the numbers between commas.
template <class Number>
nlohmann::ordered_json list_of(const char* option, std::string_view text, const char* wanted) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    list.push_back(number_of<Number>(option, text.substr(0, comma), wanted));
    if (comma + 1 == text.size()) usage_fail("{}: nothing stands behind the last comma", option);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

nlohmann::ordered_json threshold(const char* option, const std::string& text) {
  if (text == "none") return nullptr;
  return number_of<double>(option, text, "a number or none");
}

}  // namespace

void add_whisper_flags(Command& command, WhisperFlags& flags) {
  command
      .option("--language", &flags.language,
              "What is spoken, by its code or English name; by default it is detected")
      .type("LANGUAGE");
  command.flag("--translate", &flags.translate, "Into English");
  command.option("--prompt", &flags.prompt, "Text as if it had been said before: names, spellings, style")
      .type("TEXT");
  command.flag("--carry-prompt", &flags.carries_prompt, "The prompt for every window, not the first alone");
  command.option("--hotwords", &flags.hotwords, "Words that are likely, for every window").type("TEXT");
  command.option("--beams", &flags.beams, "Texts that a beam search keeps at temperature 0")
      .type("N")
      .range(1u, kMostTexts);
  command
      .option("--best-of", &flags.best_of, "Texts drawn at other temperatures, of which the likeliest stands")
      .type("N")
      .range(1u, kMostTexts);
  command
      .option("--temperature", &flags.temperatures,
              "Temperatures that are tried until a text is no failure (0,0.2,0.4,0.6,0.8,1)")
      .type("LIST");
  command.flag("--no-condition", &flags.no_condition, "Without the earlier text in front of a window's");
  command
      .option("--batch", &flags.batch,
              "Windows that are decoded at once, faster: they end where it is quiet, and no earlier text "
              "stands in front of them")
      .type("N")
      .range(1u, kMostWindows);
  command.flag("--no-timestamps", &flags.no_timestamps, "For models that were tuned without times");
  command
      .option("--suppress", &flags.suppressed,
              "Ids of tokens that are never written; -1 stands for those of the file, its default")
      .type("IDS");
  command
      .option("--logprob-threshold", &flags.logprob,
              "Mean log-probability below which a text is a failure (-1), or none")
      .type("X");
  command
      .option("--compression-threshold", &flags.compression,
              "How much zlib may shorten a text that is no failure (2.4), or none")
      .type("X");
  command
      .option("--no-speech-threshold", &flags.no_speech,
              "Probability of silence above which an unlikely text is left out (0.6), or none")
      .type("X");
}

nlohmann::ordered_json whisper_options(const WhisperFlags& flags) {
  nlohmann::ordered_json options = {{"translate", flags.translate}};
  if (!flags.language.empty()) options["language"] = flags.language;
  if (!flags.prompt.empty()) options["prompt"] = flags.prompt;
  if (flags.carries_prompt && flags.prompt.empty()) usage_fail("--carry-prompt needs --prompt");
  if (flags.carries_prompt) options["carry-prompt"] = true;
  if (!flags.hotwords.empty()) options["hotwords"] = flags.hotwords;
  options["beams"] = flags.beams;
  options["best-of"] = flags.best_of;
  if (flags.temperatures && flags.temperatures->empty()) usage_fail("--temperature: the list is empty");
  if (flags.temperatures)
    options["temperature"] = list_of<double>("--temperature", *flags.temperatures, "numbers between commas");
  if (flags.batch) options["batch"] = *flags.batch;
  if (flags.no_condition) options["condition"] = false;
  if (flags.no_timestamps) options["timestamps"] = false;
  if (flags.suppressed)
    options["suppress"] = list_of<int32_t>("--suppress", *flags.suppressed, "ids between commas");
  if (flags.logprob) options["logprob-threshold"] = threshold("--logprob-threshold", *flags.logprob);
  if (flags.compression)
    options["compression-threshold"] = threshold("--compression-threshold", *flags.compression);
  if (flags.no_speech) options["no-speech-threshold"] = threshold("--no-speech-threshold", *flags.no_speech);
  return options;
}

}  // namespace mote::cli
