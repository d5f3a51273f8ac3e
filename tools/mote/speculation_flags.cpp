// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speculation_flags.h"

#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {

void add_speculation_flags(Command command, SpeculationFlags& flags, bool drafts) {
  Option how = command.option(
      "--speculate", &flags.how,
      drafts
          ? "Guess tokens and keep those that are picked anyway: off, lookup, by what followed the last "
            "ones before, draft, by the model of --draft, or auto, as many of all as pay (default: auto). "
            "The answer is the same"
          : "Guess tokens and keep those that are picked anyway: off, lookup, by what followed the last ones "
            "in the source or before, or auto, as many as pay (default: auto). The text is the same");
  how.type("HOW");
  if (drafts) {
    how.one_of({"off", "auto", "lookup", "draft"});
    command
        .option("--draft", &flags.draft, "A smaller model with the same vocabulary, which guesses tokens too")
        .type("MODEL");
  } else {
    how.one_of({"off", "auto", "lookup"});
  }
  command.option("--speculate-max", &flags.most, "Most guesses with a token, 1 to 32 (default: 8)")
      .type("N")
      .range(1u, 32u);
  command
      .option("--speculate-match", &flags.match,
              "Tokens that repeat before what follows them is a guess, 1 to 16 (default: 2)")
      .type("N")
      .range(1u, 16u);
}

void add_speculation_options(const SpeculationFlags& flags, nlohmann::ordered_json& options) {
  if (flags.given()) options["speculate"] = flags.how.value_or("auto");
  options["speculate-max"] = flags.most;
  options["speculate-match"] = flags.match;
}

void add_draft(const SpeculationFlags& flags, nlohmann::json& opening) {
  if (!flags.draft.empty()) opening["draft"] = flags.draft;
  if (flags.draft.empty() && flags.how == "draft") usage_fail("--speculate draft needs --draft MODEL");
}

void tell_no_guesses(const SpeculationFlags& flags, const nlohmann::json& result) {
  if (!flags.given() || flags.how == "off") return;
  const auto found = result.find("speculation");
  if (found == result.end() || !found->contains("off")) return;
  note("no token was guessed: {}", found->at("off").get<std::string>());
}

}  // namespace mote::cli
