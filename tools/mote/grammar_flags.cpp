// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/grammar_flags.h"

#include "tools/mote/host_model.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {

void add_grammar_flags(Command command, GrammarFlags& flags, bool answers) {
  const auto text = [&](const char* name, std::optional<std::string>* into, const char* help,
                        const char* type) { command.option(name, into, help).type(type); };
  text("--json-schema", &flags.json_schema, "Keep answers to this JSON Schema, a file or its text", "SCHEMA");
  command.flag("--any-json", &flags.any_json, "Keep answers to a JSON object or array");
  text("--regex", &flags.regex, "Keep answers to this regular expression, which matches them whole", "RE");
  command.option("--choice", &flags.choices, "Keep answers to one of these texts; may be given again")
      .type("TEXT")
      .repeated();
  text("--gbnf", &flags.gbnf, "Keep answers to a grammar in llama.cpp's notation", "FILE");
  if (answers) text("--grammar", &flags.table, "Keep answers to tables that mote grammar compiled", "FILE");
  command
      .option("--whitespace", &flags.whitespace,
              "Of JSON: none, one blank behind , and : at most, or lines (default: one)")
      .type("WHICH")
      .one_of({"none", "one", "lines"});
  command.option("--digits", &flags.digits, "Most significant digits of a JSON number (default: 17)")
      .type("N")
      .range(1u, 100u);
  if (answers) {
    command.option("--after", &flags.after, "Leave the answer free up to this text, such as </think>")
        .type("TEXT");
    command.option("--after-within", &flags.after_within, "Write that text after so many tokens at most")
        .type("N")
        .range(1u, UINT32_MAX);
    command
        .option(
            "--trigger", &flags.triggers,
            "Behind this text, wherever it comes, keep to a schema, then be free again; may be given again")
        .type("TEXT=SCHEMA")
        .repeated();
  }
  command.option("--grammar-depth", &flags.depth, "Most levels of a grammar in each other (default: 32)")
      .type("N")
      .range(1u, 200u);
  command.option("--grammar-states", &flags.states, "Most states of a grammar (default: 65535)")
      .type("N")
      .range(1u, 65535u);
  command.option("--grammar-seconds", &flags.seconds, "Longest time to compile a grammar (default: 1)")
      .type("S")
      .above_zero(3600.0f);
}

void add_grammar_options(const GrammarFlags& flags, nlohmann::ordered_json& options) {
  const auto add = [&](const char* key, const auto& value) {
    if (value) options[key] = *value;
  };
  add("json-schema", flags.json_schema);
  add("regex", flags.regex);
  add("gbnf", flags.gbnf);
  add("grammar", flags.table);
  add("digits", flags.digits);
  add("after-within", flags.after_within);
  add("grammar-depth", flags.depth);
  add("grammar-states", flags.states);
  add("grammar-seconds", flags.seconds);
  if (flags.any_json) options["any-json"] = true;
  if (flags.heal) options["heal"] = true;
  if (!flags.choices.empty()) options["choice"] = flags.choices;
  if (!flags.triggers.empty()) options["trigger"] = flags.triggers;
  if (flags.whitespace != "one") options["whitespace"] = flags.whitespace;
  if (!flags.after.empty()) options["after"] = flags.after;
}

void check_grammar(const GrammarFlags& flags) {
  if (!flags.has_source() && flags.triggers.empty()) {
    if (!flags.after.empty() && !flags.table) usage_fail("--after TEXT: and nothing that comes after it");
    return;
  }
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  add_grammar_options(flags, options);
  for (const char* key : {"heal", "after-within"}) options.erase(key);
  try {
    const HostResult compiled(mote_host_grammar(nullptr, text_of(options).c_str()));
  } catch (const HostFailure& failure) {
    usage_fail("{}", failure.what());
  }
}

}  // namespace mote::cli
