// SPDX-License-Identifier: Apache-2.0
//
// The commands for firmware: what a model takes on a target, and what export-c writes for a build.
#include <fmt/format.h>

#include "tests/tools/command.h"

using namespace mote::testing;

namespace {

std::string for_firmware() {
  const std::string path = (scratch() / "firmware.mote").string();
  if (!std::filesystem::exists(path))
    assert_works(
        run("convert " MOTE_SOURCE_DIR "/models/commands -o " + path + " --type q4 --target cortex-m4"));
  return path;
}

struct Exported {
  std::string out, err, config;
};

Exported exported(const std::string& options) {
  const std::filesystem::path folder = scratch() / "exported";
  const Outcome outcome = run("export-c " + for_firmware() + " -o " + folder.string() + " " + options);
  assert_works(outcome);
  return {outcome.out, outcome.err, read_text(folder / "mote_config.h")};
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("convert --target prints one table of memory, that of the firmware") {
  const std::string path = (scratch() / "target.mote").string();
  const std::string host = assert_works(run("convert " + golden("mistral") + " -o " + path));
  TEST_ASSERT_TRUE(contains(host, "RAM with one thread"));
  TEST_ASSERT_FALSE(contains(host, "RAM at most"));
  const std::string firmware =
      assert_works(run("convert " + golden("mistral") + " -o " + path + " --target cortex-m4"));
  TEST_ASSERT_FALSE(contains(firmware, "RAM with one thread"));
  TEST_ASSERT_EQUAL_SIZE_T(1, count(firmware, "RAM at most"));
  TEST_ASSERT_TRUE(contains(firmware, "pages of up to 128 positions"));
  TEST_ASSERT_TRUE(contains(firmware, "export-c"));
}

TEST_CASE("export-c writes the options that it was given, and the arena that they take") {
  const std::string defaults = exported("").config;
  TEST_ASSERT_TRUE(contains(defaults,
                            "#define MOTE_CONFIG_CONTEXT 96\n#define MOTE_CONFIG_CHUNK 4\n"
                            "#define MOTE_CONFIG_TEXT_BYTES 64\n"));
  const Exported other = exported("--context 32 --chunk 2 --text-bytes 16");
  TEST_ASSERT_TRUE(contains(other.config,
                            "#define MOTE_CONFIG_CONTEXT 32\n#define MOTE_CONFIG_CHUNK 2\n"
                            "#define MOTE_CONFIG_TEXT_BYTES 16\n"));
  const auto arena = [](const std::string& config) {
    const std::string name = "#define MOTE_CONFIG_ARENA_BYTES ";
    return std::stoul(config.substr(config.find(name) + name.size()));
  };
  TEST_ASSERT_TRUE(arena(other.config) < arena(defaults));
  TEST_ASSERT_TRUE(contains(
      other.out, fmt::format("an arena of at most {} bytes for a context of 32", arena(other.config))));
}

TEST_CASE("export-c writes a grammar beside the model, and refuses one of another vocabulary") {
  const std::string table = (scratch() / "commands.mgr").string();
  const std::string schema = MOTE_SOURCE_DIR "/models/commands/schema.json";
  assert_works(run("grammar " + schema + " -o " + table + " --whitespace none --model " + for_firmware()));
  const auto bytes = std::filesystem::file_size(table);
  const Exported with = exported("--incbin --grammar " + table);
  TEST_ASSERT_TRUE(contains(with.config, "#define MOTE_PART_GRAMMAR 1\n"));
  TEST_ASSERT_TRUE(contains(with.config, fmt::format("#define MOTE_CONFIG_GRAMMAR_BYTES {} ", bytes)));
  TEST_ASSERT_TRUE(contains(with.out, fmt::format("grammar: {} bytes of flash, ", bytes)));
  TEST_ASSERT_TRUE(std::filesystem::exists(scratch() / "exported/vocabulary.bin"));
  TEST_ASSERT_EQUAL_STRING(read_text(table).c_str(), read_text(scratch() / "exported/grammar.mgr").c_str());
  TEST_ASSERT_TRUE(contains(read_text(scratch() / "exported/grammar.S"), ".global firmware_grammar\n"));
  exported("--grammar " + table);
  TEST_ASSERT_TRUE(contains(read_text(scratch() / "exported/grammar.c"), "firmware_grammar["));
  TEST_ASSERT_TRUE(contains(exported("").config, "#define MOTE_PART_GRAMMAR 0\n"));
  const std::string other = (scratch() / "other.mote").string();
  assert_works(run("convert " + golden("llama") + " -o " + other));
  TEST_ASSERT_TRUE(
      run("export-c " + other + " -o " + (scratch() / "other").string() + " --grammar " + table).code != 0);
}

TEST_CASE("export-c says to which context the pages of its keys and values would last") {
  TEST_ASSERT_TRUE(
      contains(exported("--context 129").err,
               "keys and values lie in pages: for a context of 129 they take as much as for one of 256"));
  TEST_ASSERT_TRUE(
      contains(exported("--context 33").err, "for a context of 33 they take as much as for one of 48"));
  TEST_ASSERT_FALSE(contains(exported("--context 128").err, "pages"));
}
