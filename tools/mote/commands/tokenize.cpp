// SPDX-License-Identifier: Apache-2.0
//
// mote tokenize: the ids that a text becomes.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/base/error.h"
#include "host/tasks/text.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct TokenizeArguments {
  std::string file;
  std::optional<std::string> prompt, path, pair;
  bool no_special = false, literal = false, json = false;
};

/// Offsets in characters, as other tools count.
nlohmann::json to_json(const host::TokenList& tokens, const std::string& text,
                       const std::optional<std::string>& pair) {
  const std::vector<uint32_t> first = host::character_counts(text),
                              second = host::character_counts(pair.value_or(""));
  nlohmann::json offsets = nlohmann::json::array(), types = nlohmann::json::array();
  nlohmann::json texts = nlohmann::json::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const mote_token_kind kind = tokens.kinds[i];
    const std::vector<uint32_t>& characters = kind.text == 1 ? second : first;
    offsets.push_back({characters[tokens.spans[i].begin], characters[tokens.spans[i].end]});
    types.push_back(kind.type);
    texts.push_back(kind.text == MOTE_NO_TEXT ? nlohmann::json() : nlohmann::json(kind.text));
  }
  return {{"ids", tokens.ids}, {"offsets", offsets}, {"types", types}, {"texts", texts}};
}

void tokenize_text(const TokenizeArguments& arguments) {
  if (!arguments.prompt && !arguments.path) usage_fail("give a text with -p or --file");
  const ModelFile file(arguments.file);
  if (file.info().tokens == 0) {
    convert::fail("{} has no tokenizer: convert it from a directory with tokenizer.json or a GGUF",
                  file.path());
  }
  const std::string text = arguments.prompt ? *arguments.prompt : read_text(*arguments.path);
  const uint32_t flags = (arguments.no_special ? 0u : uint32_t{MOTE_ADD_SPECIAL}) |
                         (arguments.literal ? 0u : uint32_t{MOTE_PARSE_SPECIAL});
  const host::TokenList tokens = take(host::list_tokens(file.host(), text, arguments.pair, flags));
  if (arguments.json) return print_json(to_json(tokens, text, arguments.pair));
  for (size_t i = 0; i < tokens.ids.size(); ++i) print("{}{}", i == 0 ? "" : " ", tokens.ids[i]);
  print("\n");
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
