// SPDX-License-Identifier: Apache-2.0
//
// mote tokenize: the ids that a text becomes.
#include <fmt/ranges.h>

#include <optional>

#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct TokenizeArguments {
  std::string file;
  std::optional<std::string> prompt, path, pair;
  bool no_special = false, literal = false, json = false;
};

void tokenize_text(const TokenizeArguments& arguments) {
  if (!arguments.prompt && !arguments.path) usage_fail("give a text with -p or --file");
  const HostModel model(arguments.file, {});
  if (model.info().tokens == 0) {
    convert::fail("{} has no tokenizer: convert it from a directory with tokenizer.json or a GGUF",
                  model.path());
  }
  const std::string text = arguments.prompt ? *arguments.prompt : read_text(*arguments.path);
  std::vector<mote_host_input> inputs{text_input(text)};
  if (arguments.pair) inputs.push_back(text_input(*arguments.pair));
  const nlohmann::json options = {
      {"no-special", arguments.no_special}, {"literal", arguments.literal}, {"offsets", arguments.json}};
  const HostResult tokens(
      mote_host_tokenize(model.get(), inputs.data(), inputs.size(), options.dump().c_str()));
  if (arguments.json) return print("{}\n", tokens.text_of_json());
  cli::print("{}\n", fmt::join(tokens.ids(), " "));
}

}  // namespace

void add_tokenize(CommandLine& line) {
  auto [command, arguments] = model_command(line, "tokenize", "Print the token ids of a text", tokenize_text);
  Option prompt = command.option("-p,--prompt", &arguments.prompt, "The text").type("TEXT");
  command.option("--file", &arguments.path, "A file with the text, - for standard input")
      .type("FILE")
      .excludes(prompt);
  command.option("--pair", &arguments.pair, "A second text, put behind the first the model's way")
      .type("TEXT");
  command.flag("--no-special", &arguments.no_special, "Add no tokens around the text");
  command.flag("--literal", &arguments.literal, "Read \"<|im_end|>\" and the like in the text as plain text");
  command.flag("--json", &arguments.json, "One object: ids, offsets, types and texts");
}

}  // namespace mote::cli
