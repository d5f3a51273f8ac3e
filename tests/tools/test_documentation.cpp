// SPDX-License-Identifier: Apache-2.0
//
// docs/cli.md names the options that the program has, and no others; links between documents lead somewhere;
// the page on performance stays short.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tools/command.h"

using namespace mote::testing;

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

/// The commands that `mote --help` lists.
std::set<std::string> commands_of_help() {
  const std::string help = assert_works(run("--help"));
  static const std::regex kCommand("\n  ([a-z][a-z0-9-]*) ");
  const std::string commands = help.substr(help.find("Subcommands:"));
  std::set<std::string> names;
  for (auto at = std::sregex_iterator(commands.begin(), commands.end(), kCommand);
       at != std::sregex_iterator(); ++at) {
    names.insert((*at)[1]);
  }
  TEST_ASSERT_TRUE(names.count("export-c") == 1);
  return names;
}

/// Those that have a section.
std::set<std::string> documented_commands(const std::string& document) {
  static const std::regex kHeading("\n## `mote ([a-z][a-z0-9-]*)`\n");
  std::set<std::string> names;
  for (auto at = std::sregex_iterator(document.begin(), document.end(), kHeading);
       at != std::sregex_iterator(); ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

std::string list(const std::set<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += name + " ";
  return line;
}

/// The documents of the project: those at its root, of docs with its folders, and of the bundled model.
std::vector<std::filesystem::path> documents() {
  const std::filesystem::path root = MOTE_SOURCE_DIR;
  std::vector<std::filesystem::path> found;
  const auto take = [&](const std::filesystem::path& path) {
    if (path.extension() == ".md") found.push_back(path);
  };
  for (const auto& entry : std::filesystem::directory_iterator(root)) take(entry.path());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) take(entry.path());
  take(root / "models/commands/README.md");
  return found;
}

/// The text without fenced and inline code, whose brackets are no links.
std::string without_code(const std::string& text) {
  std::string prose;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '`') {
      prose += text[at++];
      continue;
    }
    const size_t begin = std::min(text.find_first_not_of('`', at), text.size());
    const size_t end = text.find(text.substr(at, begin - at), begin);
    at = end == std::string::npos ? begin : end + (begin - at);
  }
  return prose;
}

/// What "](...)" leads to, in order.
std::vector<std::string> links(const std::string& text) {
  static const std::regex kLink("\\]\\(([^)\\s]+)\\)");
  const std::string prose = without_code(text);
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(prose.begin(), prose.end(), kLink); at != std::sregex_iterator();
       ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

/// The anchors of a document's headings, as GitHub makes them: lower case, blanks as hyphens, no punctuation.
std::set<std::string> anchors(const std::string& text) {
  static const std::regex kHeading("(^|\n)#+ ([^\n]*)");
  std::set<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kHeading); at != std::sregex_iterator();
       ++at) {
    std::string anchor;
    for (const char c : (*at)[2].str()) {
      if (c == ' ') anchor += '-';
      if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    found.insert(anchor);
  }
  return found;
}

/// The links of a document in `folder` that lead to no file, or to no heading of a document.
std::set<std::string> broken_links(const std::filesystem::path& folder, const std::string& text) {
  std::set<std::string> broken;
  for (const std::string& link : links(text)) {
    if (link.find("://") != std::string::npos) continue;
    const size_t hash = std::min(link.find('#'), link.size());
    const std::filesystem::path target = folder / link.substr(0, hash);
    const bool same = hash == 0;
    bool found = same || std::filesystem::exists(target);
    if (found && hash != link.size()) {
      found = anchors(same ? text : read_text(target.string())).count(link.substr(hash + 1)) == 1;
    }
    if (!found) broken.insert(link);
  }
  return broken;
}

}  // namespace

TEST_CASE("documentation: docs/cli.md has every command with the options of its --help, and no other") {
  const std::string document = read_text(std::string(MOTE_SOURCE_DIR) + "/docs/cli.md");
  std::set<std::string> shared = options_in(section(document, "COMMAND"));
  TEST_ASSERT_TRUE(shared.count("--help") == 1);
  const std::set<std::string> names = commands_of_help();
  TEST_ASSERT_TRUE(names == documented_commands(document));
  for (const std::string& name : names) {
    CAPTURE(name);
    static const std::regex kOtherProgram("`[a-z]+ [^`|]*\\| mote ");
    static const std::regex kFfmpeg("ffmpeg [^`\n]*");
    const std::string own = std::regex_replace(section(document, name), kFfmpeg, "");
    std::set<std::string> documented = options_in(std::regex_replace(own, kOtherProgram, "`mote "));
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

TEST_CASE("documentation: the README's list of models is convert --list") {
  const std::string document = read_text(std::string(MOTE_SOURCE_DIR) + "/README.md");
  const size_t begin = document.find("\n- **decoders** ");
  const std::string models = document.substr(begin, document.find("\n\n", begin) - begin);
  // A kind is "- **kind** (commands): names"; its lines after the first are indented.
  std::map<std::string, std::string> documented;
  static const std::regex kKind("\n- \\*\\*([^*]+)\\*\\* \\([^)]*\\): ((?:[^\n]|\n  )*)");
  for (auto at = std::sregex_iterator(models.begin(), models.end(), kKind); at != std::sregex_iterator(); ++at)
    documented[(*at)[1]] = std::regex_replace((*at)[2].str(), std::regex("\n  "), " ");
  std::istringstream list(assert_works(run("convert --list")));
  std::map<std::string, std::string> listed;
  for (std::string line; std::getline(list, line) && line.rfind("types: ", 0) != 0;) {
    CAPTURE(line);
    const size_t colon = line.find(": ");
    REQUIRE(colon != std::string::npos);
    listed[line.substr(0, colon)] = line.substr(colon + 2);
  }
  TEST_ASSERT_TRUE(documented == listed);
}

TEST_CASE("documentation: links to files and headings that are not there are found") {
  const std::string text =
      "# One: two\n[a](cli.md) [b](gone.md) [c](cli.md#mote-run) [d](cli.md#gone) [e](#one-two) [f](#gone)\n"
      "[g](https://example.org/gone.md) `[h](code.md)` [i](lab) ![j](gone.svg)\n```c\nk[0](x);\n```\n";
  const std::filesystem::path folder = std::filesystem::path(MOTE_SOURCE_DIR) / "docs";
  TEST_ASSERT_TRUE(broken_links(folder, text) ==
                   (std::set<std::string>{"gone.md", "cli.md#gone", "#gone", "gone.svg"}));
}

TEST_CASE("documentation: every relative link leads to a file and a heading that exist") {
  size_t checked = 0;
  for (const std::filesystem::path& document : documents()) {
    const std::string text = read_text(document.string());
    checked += links(text).size();
    const std::set<std::string> broken = broken_links(document.parent_path(), text);
    CAPTURE(document.string(), list(broken));
    TEST_ASSERT_TRUE(broken.empty());
  }
  TEST_ASSERT_TRUE(checked > 100);
}

TEST_CASE("documentation: docs/performance.md has at most 120 lines") {
  const std::string text = read_text(std::string(MOTE_SOURCE_DIR) + "/docs/performance.md");
  TEST_ASSERT_TRUE(std::count(text.begin(), text.end(), '\n') <= 120);
}
