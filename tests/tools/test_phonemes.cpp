// SPDX-License-Identifier: Apache-2.0
//
// Texts as clauses, and as phonemes by a program in the place of espeak-ng, which prints a clause a line as
// that does.
#include "host/tasks/sound/phonemes.h"

#include <sys/stat.h>

#include <cstdlib>

#include "tests/tools/command.h"

using namespace mote::testing;
using mote::host::clauses_of;
using mote::host::end_of_clause;
using mote::host::phonemes_of;
namespace fs = std::filesystem;

namespace {

/// Puts a program in the place of espeak-ng while it lives.
class Espeak {
 public:
  explicit Espeak(const std::string& script) : before_(std::getenv("PATH")) {
    const fs::path folder = scratch() / "espeak";
    fs::create_directories(folder);
    write_text(folder / "espeak-ng", "#!/bin/sh\n" + script);
    fs::permissions(folder / "espeak-ng", fs::perms::owner_all);
    ::setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
  }
  ~Espeak() { ::setenv("PATH", before_.c_str(), 1); }
  Espeak(const Espeak&) = delete;
  Espeak& operator=(const Espeak&) = delete;

 private:
  std::string before_;
};

/// The text, which is the last argument, a clause a line; "e.g." ends none.
constexpr const char* kClauses =
    "for text; do :; done\n"
    "printf '%s\\n' \"$text\" | sed -E 's/e\\.g\\. /e_g_/g; s/([,;:.?!])+ */\\n/g' | sed -E '/^$/d; s/^ */ "
    "/; s/fr/(fr)fr(en)/'\n";

std::vector<std::string> sentences(const char* voice, const std::string& text) {
  auto result = phonemes_of(voice, text);
  INFO(result.status().text());
  REQUIRE(result.ok());
  return *result;
}

}  // namespace

TEST("a text is cut behind marks that a blank, a bracket or a quotation mark follows", "[speak]") {
  using Parts = std::vector<std::string_view>;
  REQUIRE(clauses_of("One, two. Three") == Parts{"One, ", "two. ", "Three"});
  REQUIRE(clauses_of("3.14, a:b") == Parts{"3.14, ", "a:b"});
  REQUIRE(clauses_of("\"Yes!\" (no.) so") == Parts{"\"Yes!\" ", "(no.) ", "so"});
  REQUIRE(clauses_of("what?! ok...  end") == Parts{"what?! ", "ok...  ", "end"});
  REQUIRE(clauses_of("\u65E5\u3002\u8A9E") == Parts{"\u65E5\u3002", "\u8A9E"});
  REQUIRE(clauses_of("").empty());
}

TEST("the first of the marks at a clause's end is said", "[speak]") {
  for (const auto& [clause, mark] : {std::pair{"a, ", ","},
                                     {"a?! ", "?"},
                                     {"a.\" ", "."},
                                     {"a... ", ""},
                                     {"a", ""},
                                     {"a\u2014 ", ";"},
                                     {"a\uFF1F", "?"},
                                     {"", ""},
                                     {"...", ""}}) {
    CAPTURE(clause);
    REQUIRE(end_of_clause(clause) == mark);
  }
}

TEST("clauses become sentences with their marks; signs of another language are left out", "[speak]") {
  const Espeak espeak(kClauses);
  using Texts = std::vector<std::string>;
  REQUIRE(sentences("en-us", "one, two. three") == Texts{"one, two.", "three"});
  REQUIRE(sentences("en-us", "a; b: c! d?") == Texts{"a; b: c!", "d?"});
  REQUIRE(sentences("en-us", "i fr o.") == Texts{"i fr o."});
  REQUIRE(sentences("en-us", "   ").empty());
}

TEST("a mark at which espeak-ng ends no clause ends none", "[speak]") {
  const Espeak espeak(kClauses);
  REQUIRE(sentences("en-us", "see e.g. this, then go. end") ==
          std::vector<std::string>{"see e_g_this, then go.", "end"});
}

TEST("what stands against phonemes is said", "[speak]") {
  const auto said = [](const std::string& voice, const std::string& text) {
    const auto result = phonemes_of(voice, text);
    REQUIRE(!result.ok());
    return result.status().text();
  };
  CHECK(contains(said("../x", "a"), "'../x' is no name of a voice"));
  CHECK(contains(said("en-us", std::string(100001, 'a')), "100001 bytes is too long"));
  CHECK(contains(said("en-us", std::string("a\0b", 3)), "a byte of 0"));
  {
    const Espeak espeak("exit 1\n");
    CHECK(contains(said("xx", "a"), "espeak-ng has no voice 'xx'"));
  }
  const Espeak endless("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n");
  CHECK(contains(said("en-us", "a"), "espeak-ng makes more than"));
}
