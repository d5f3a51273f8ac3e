// SPDX-License-Identifier: Apache-2.0
//
// mote grammar: compiles a schema, an expression, a choice or a grammar to tables.
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "host/base/output_file.h"
#include "host/base/timer.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/grammar_flags.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct GrammarArguments {
  std::string source, target, model;
  GrammarFlags grammar;
  bool json = false;
};

/// Puts the source by position where its option would be.
void take_source(const GrammarArguments& arguments, GrammarFlags& flags) {
  if (arguments.source.empty()) return;
  (arguments.source.ends_with(".gbnf") ? flags.gbnf : flags.json_schema) = arguments.source;
}

void compile_grammar(const GrammarArguments& arguments) {
  GrammarFlags flags = arguments.grammar;
  if (arguments.source.empty() == !flags.has_source()) {
    usage_fail(
        "give a SOURCE, a schema or a .gbnf file, or one of --json-schema, --any-json, --regex, --choice and "
        "--gbnf");
  }
  take_source(arguments, flags);
  check_grammar(flags);
  convert::refuse_input(arguments.target, {arguments.source, arguments.model});
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  add_grammar_options(flags, options);
  const SessionFlags session;
  std::optional<HostModel> model;
  if (!arguments.model.empty()) model.emplace(arguments.model, session);
  const host::Timer timer;
  const HostResult compiled(mote_host_grammar(model ? model->get() : nullptr, text_of(options).c_str()));
  nlohmann::json found = compiled.json();
  found["ms"] = timer.ms();
  const std::string_view tables = compiled.text();
  convert::OutputFile output(arguments.target);
  output.write(std::as_bytes(std::span(tables)));
  output.commit();
  if (arguments.json) return print_json(found);
  note("{}: {} bytes, {} states of {} rules, {} masks{}", arguments.target, tables.size(),
       found.at("states").get<uint32_t>(), found.at("rules").get<uint32_t>(),
       found.at("masks").get<uint32_t>(), model ? "" : "; with --model it has those of a vocabulary");
}

}  // namespace

void add_grammar(CommandLine& line) {
  auto arguments = std::make_shared<GrammarArguments>();
  Command command =
      line.command("grammar", "Compile a schema, an expression or a grammar for answers of a shape");
  command
      .option("SOURCE", &arguments->source,
              "A file with a JSON Schema, or with a grammar if its name ends in .gbnf")
      .type("");
  command.option("-o,--output", &arguments->target, "The file to write").type("FILE.mgr").required();
  command.option("--model", &arguments->model, "Store masks for the vocabulary of this .mote file")
      .type("FILE");
  add_grammar_flags(command, arguments->grammar, false);
  command.flag("--json", &arguments->json, "Print one JSON object");
  command.callback([arguments] { compile_grammar(*arguments); });
}

}  // namespace mote::cli
