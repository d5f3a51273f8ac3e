// SPDX-License-Identifier: Apache-2.0
//
// Runs mote as a user would: arguments in, exit code and both streams out.
#pragma once

#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/files.h"
#include "tests/support/kept_files.h"
#include "tests/support/unity_style.h"

namespace mote::testing {

struct Outcome {
  int code;  // of the exit, -1 after a signal
  std::string out, err;
};

inline const TempDirectory& scratch() {
  static const TempDirectory directory;
  return directory;
}

/// This build's mote, or the program that MOTE_TEST_BINARY names: a script that emulates another processor.
/// Tests tagged [native] need the former: they preload a library, limit memory or name what it is built with.
inline std::string binary() {
  const char* other = getenv("MOTE_TEST_BINARY");
  return other != nullptr ? other : MOTE_BINARY;
}

/// `arguments` are words for the shell, perhaps with a "<file"; `before` comes before the command, such as
/// "MOTE_ISA=ref". Standard output goes to `out`, a file of its own if empty.
inline Outcome run(const std::string& arguments, const std::string& before = "",
                   const std::string& out = "") {
  const std::string out_path = out.empty() ? (scratch() / "stdout").string() : out;
  const std::string err_path = (scratch() / "stderr").string();
  const std::string line =
      before + " </dev/null '" + binary() + "' " + arguments + " >" + out_path + " 2>" + err_path;
  const int status = ::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.empty() ? read_text(out_path) : "",
          read_text(err_path)};
}

/// A failure: exit code, nothing that looks like a result, one line "mote: ..." that holds `part`.
inline void assert_fails(const Outcome& outcome, int code, const std::string& part) {
  CAPTURE(outcome.err, outcome.out);
  TEST_ASSERT_EQUAL_INT(code, outcome.code);
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(outcome.err.rfind("mote: ", 0)));
  TEST_ASSERT_EQUAL_UINT64(outcome.err.size() - 1, outcome.err.find('\n'));
  TEST_ASSERT_TRUE(contains(outcome.err, part));
}

inline std::string assert_works(const Outcome& outcome) {
  CAPTURE(outcome.err, outcome.out);
  TEST_ASSERT_EQUAL_INT(0, outcome.code);
  return outcome.out;
}

inline nlohmann::json assert_json(const Outcome& outcome) {
  return nlohmann::json::parse(assert_works(outcome));
}

inline std::string golden(const std::string& name) { return MOTE_SOURCE_DIR "/tests/golden/models/" + name; }

/// How far outputs may be from the golden ones.
inline double tolerance(const std::string& name) {
  return nlohmann::json::parse(read_text(golden(name) + "/golden.json")).at("tolerance").get<double>();
}

/// An entry of tokenizer.json's added_tokens that stands for itself.
inline nlohmann::json special_token(size_t id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// A golden model, converted once for each type. Nothing changes the file.
inline std::string converted(const std::string& name, const std::string& type) {
  return ::test::kept_file(
      "by_command_" + name + "." + type + ".mote", [&](const std::filesystem::path& path) {
        assert_works(run("convert " + golden(name) + " -o " + path.string() + " --type " + type));
      });
}

}  // namespace mote::testing
