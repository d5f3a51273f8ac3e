// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/generation.h"

#include <fmt/format.h>

namespace mote::cli {

nlohmann::ordered_json options_of(const GenerationFlags& flags) {
  nlohmann::ordered_json options = {{"tokens", flags.tokens},
                                    {"greedy", flags.greedy},
                                    {"ignore-stop", flags.ignore_stop},
                                    {"seed", flags.seed}};
  add_speculation_options(flags.speculation, options);
  const auto add = [&](const char* key, const auto& value) {
    if (value) options[key] = *value;
  };
  add("temp", flags.temperature);
  add("top-k", flags.top_k);
  add("top-p", flags.top_p);
  add("min-p", flags.min_p);
  add("repeat-penalty", flags.repetition_penalty);
  if (!flags.stop_texts.empty()) options["stop"] = flags.stop_texts;
  return options;
}

void add_generation_flags(Command command, GenerationFlags& flags, uint32_t tokens, bool samples) {
  flags.tokens = tokens;
  command
      .option("-n,--tokens", &flags.tokens,
              fmt::format("Most tokens to generate (default: {}); 0: until the context is full", tokens))
      .type("N");
  Option greedy = command.flag("--greedy", &flags.greedy, "Always the likeliest token (the default)");
  Option temperature = command.option("--temp", &flags.temperature, "Sample at this temperature; 0 is greedy")
                           .type("T")
                           .range(0.0f, 1000.0f)
                           .excludes(greedy);
  command.option("--top-k", &flags.top_k, "Sample of the K likeliest tokens; 0: of all")
      .type("K")
      .needs(temperature);
  command.option("--top-p", &flags.top_p, "Sample of the likeliest tokens that make up this probability")
      .type("P")
      .above_zero(1.0f)
      .needs(temperature);
  command.option("--min-p", &flags.min_p, "Sample of tokens at least P times as likely as the likeliest")
      .type("P")
      .range(0.0f, 1.0f)
      .needs(temperature);
  Option seed = command.option("--seed", &flags.seed, "Seed of the random numbers (default: 0)").type("N");
  if (!samples) seed.needs(temperature);
  command
      .option("--repeat-penalty", &flags.repetition_penalty,
              "Make the last 256 tokens less likely (default: as the model's authors do); 1 does not")
      .type("X")
      .range(0.01f, 100.0f);
  command.option("--stop", &flags.stop_texts, "End the answer before this text; may be given again")
      .type("TEXT");
  command.flag("--ignore-stop", &flags.ignore_stop, "Go on after the model's stop ids");
  add_speculation_flags(command, flags.speculation);
}

void add_context_full_flag(Command command, std::string& what, const std::string& forgotten) {
  command
      .option("--context-full", &what,
              fmt::format("When the context is full: stop, or slide, which forgets {} (default: {})",
                          forgotten, what))
      .type("WHAT")
      .one_of({"stop", "slide"});
}

}  // namespace mote::cli
