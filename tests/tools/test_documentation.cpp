// SPDX-License-Identifier: Apache-2.0
//
// docs/cli.md names the options that the program has, and no others.
#include <regex>
#include <set>

#include "tests/tools/command.h"

using namespace mote::test;

namespace {

/// Each "--name" and "-x" that stands as a word of its own.
std::set<std::string> options_in(const std::string& text) {
  static const std::regex kOption("(^|[\\s,`(|\\[])(--?[a-z][a-z-]*)");
  std::set<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kOption); at != std::sregex_iterator();
       ++at) {
    found.insert((*at)[2]);
  }
  return found;
}

/// The text from the heading "## `mote NAME`" to the next heading of that level.
std::string section(const std::string& document, const std::string& name) {
  const size_t begin = document.find("\n## `mote " + name + "`\n");
  if (begin == std::string::npos) return "";
  return document.substr(begin, document.find("\n## ", begin + 1) - begin);
}

std::string list(const std::set<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += name + " ";
  return line;
}

}  // namespace

TEST_CASE("documentation: docs/cli.md has the options of --help, command by command") {
  const std::string document = read_text(std::string(MOTE_SOURCE_DIR) + "/docs/cli.md");
  std::set<std::string> shared = options_in(section(document, "COMMAND"));
  TEST_ASSERT_TRUE(shared.count("--help") == 1);
  for (const std::string name : {"convert", "run", "chat", "embed", "classify", "forward", "bench", "inspect",
                                 "eval", "tokenize", "verify"}) {
    CAPTURE(name);
    const std::string text = section(document, name);
    TEST_ASSERT_FALSE(text.empty());
    std::set<std::string> documented = options_in(text);
    const std::set<std::string> real = options_in(assert_works(run(name + " --help")));
    // What all commands that make a session have is described once.
    const bool makes_session = real.count("--kv") == 1;
    for (const std::string& option : shared) {
      if (makes_session || option == "--help" || option == "-h") documented.insert(option);
    }
    CAPTURE(list(documented), list(real));
    TEST_ASSERT_TRUE(documented == real);
  }
}

TEST_CASE("documentation: docs/cli.md has every command") {
  const std::string document = read_text(std::string(MOTE_SOURCE_DIR) + "/docs/cli.md");
  const std::string help = assert_works(run("--help"));
  const std::regex command("\n  ([a-z]+) ");
  const std::string commands = help.substr(help.find("Subcommands:"));
  size_t count = 0;
  for (auto at = std::sregex_iterator(commands.begin(), commands.end(), command);
       at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[1];
    CAPTURE(name);
    TEST_ASSERT_FALSE(section(document, name).empty());
    ++count;
  }
  TEST_ASSERT_EQUAL_UINT64(11, count);
}
