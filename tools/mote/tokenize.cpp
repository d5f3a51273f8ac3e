// SPDX-License-Identifier: Apache-2.0
//
// mote tokenize: the ids that a text becomes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "converter/error.h"
#include "tools/mote/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/text_encoder.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct Arguments {
  std::string file;
  std::optional<std::string> prompt, path;
  bool no_special = false, literal = false, json = false;
};

struct Tokens {
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;
};

std::string read_text(const std::string& path) {
  const convert::MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// Any word fits: the session's scratch is as large as the text.
Tokens tokenize(const ModelFile& file, const std::string& text, uint32_t flags) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  if (text.size() > kMostBytes) convert::fail("a text of {}; at most 1 GiB", human_bytes(text.size()));
  mote_session_options options = mote_session_options_default(file.model());
  options.context = options.chunk = 1;
  options.text_bytes = static_cast<uint32_t>(std::max<size_t>(text.size(), 1));
  Session session(file, options);
  Tokens tokens;
  uint32_t count = 0;
  mote_error error = {};
  // The first call counts.
  mote_status status =
      mote_tokenize(session.get(), text.data(), text.size(), flags, nullptr, 0, &count, nullptr, &error);
  if (status == MOTE_TOO_SMALL) {
    tokens.ids.resize(count);
    tokens.spans.resize(count);
    status = mote_tokenize(session.get(), text.data(), text.size(), flags, tokens.ids.data(), count, &count,
                           tokens.spans.data(), &error);
  }
  check(status, error, file.path());
  return tokens;
}

/// Offsets in characters, as other tools count.
nlohmann::json character_offsets(const std::string& text, const std::vector<mote_span>& spans) {
  const std::vector<uint32_t> character = character_counts(text);
  nlohmann::json offsets = nlohmann::json::array();
  for (const mote_span& span : spans) offsets.push_back({character[span.begin], character[span.end]});
  return offsets;
}

void tokenize_text(const Arguments& arguments) {
  if (!arguments.prompt && !arguments.path) usage_fail("give a text with -p or --file");
  const ModelFile file(arguments.file);
  if (file.info().tokens == 0) {
    convert::fail("{} has no tokenizer: convert it from a directory with tokenizer.json or a GGUF",
                  file.path());
  }
  const std::string text = arguments.prompt ? *arguments.prompt : read_text(*arguments.path);
  const uint32_t flags = (arguments.no_special ? 0u : uint32_t{MOTE_ADD_SPECIAL}) |
                         (arguments.literal ? 0u : uint32_t{MOTE_PARSE_SPECIAL});
  const Tokens tokens = tokenize(file, text, flags);
  if (arguments.json) {
    return print_json({{"ids", tokens.ids}, {"offsets", character_offsets(text, tokens.spans)}});
  }
  for (size_t i = 0; i < tokens.ids.size(); ++i) print("{}{}", i == 0 ? "" : " ", tokens.ids[i]);
  print("\n");
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("tokenize", "Print the token ids of a text");
  add_model_argument(*command, arguments->file);
  CLI::Option* prompt = command->add_option("-p,--prompt", arguments->prompt, "The text")->type_name("TEXT");
  command->add_option("--file", arguments->path, "A file with the text")->type_name("FILE")->excludes(prompt);
  command->add_flag("--no-special", arguments->no_special, "Add no tokens around the text");
  command->add_flag("--literal", arguments->literal,
                    "Read \"<|im_end|>\" and the like in the text as plain text");
  command->add_flag("--json", arguments->json, "One object: ids and offsets");
  command->callback([arguments] { tokenize_text(*arguments); });
}

}  // namespace mote::cli
