// SPDX-License-Identifier: Apache-2.0
//
// Cross encoders in tests/written whose two texts go through a chat template, some of them decoders that are
// asked for a logit (scripts/make_written_rerankers).
#include <algorithm>

#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const fs::path kRerankers = fs::path(MOTE_SOURCE_DIR) / "tests" / "written";

json written_reranker(const std::string& name) {
  return json::parse(read_text((kRerankers / name / "written.json").string()));
}

std::string lines_of(const json& written) {
  std::string lines;
  for (const json& line : written.at("lines")) lines += line.get<std::string>() + "\n";
  const std::string path = (scratch() / "reranked.txt").string();
  write_text(path, lines);
  return path;
}

/// Converts it in f32; some keys of one of its files are changed first.
Outcome convert_changed(const std::string& name, const std::string& file, const json& changes) {
  const fs::path folder = scratch() / ("changed_" + name);
  fs::remove_all(folder);
  fs::copy(kRerankers / name, folder, fs::copy_options::recursive);
  json keys = json::parse(read_text((folder / file).string()));
  keys.update(changes);
  write_text((folder / file).string(), keys.dump());
  return run("convert " + folder.string() + " --type f32 -o " + (folder / "out.mote").string());
}

}  // namespace

TEST("embed: rerankers that read a pair through their chat template give sentence-transformers' scores") {
  for (const char* name : {"reranker_yes_no", "reranker_instruction", "reranker_yes", "reranker_label"}) {
    CAPTURE(name);
    const json written = written_reranker(name);
    const std::string model = (scratch() / (std::string(name) + ".mote")).string();
    assert_works(run("convert " + (kRerankers / name).string() + " --type f32 -o " + model));
    // The last line is cut as the original cuts it: before the texts that end the prompt.
    const Outcome outcome = run("embed " + model + " --truncate --json --rerank '" +
                                written.at("query").get<std::string>() + "' --file " + lines_of(written));
    std::istringstream scores(assert_works(outcome));
    TEST_ASSERT_TRUE(contains(outcome.err, "200 of"));
    size_t count = 0;
    for (std::string line; std::getline(scores, line); ++count) {
      const json score = json::parse(line);
      const double expected = written.at("scores")[score.at("line").get<size_t>() - 1];
      CAPTURE(line, expected);
      // Scores are differences of logits, whose roundings grow with their size.
      const double bound = 1e-5 * std::max(1.0, std::abs(expected));
      TEST_ASSERT_TRUE(std::abs(score.at("score").get<double>() - expected) < bound);
    }
    TEST_ASSERT_EQUAL_SIZE_T(written.at("lines").size(), count);
  }
}

TEST(
    "convert: a score of logits that the model has not, and pairs without a template for them, are refused") {
  assert_fails(convert_changed("reranker_yes_no", "1_LogitScore/config.json", {{"true_token_id", 400}}), 1,
               "the logit of token 400");
  assert_fails(convert_changed("reranker_yes_no", "1_LogitScore/config.json", {{"true_token_id", nullptr}}),
               1, "true_token_id is missing");
  const fs::path folder = scratch() / "changed_reranker_label";
  assert_works(convert_changed("reranker_label", "config.json", json::object()));
  const std::string command = "convert " + folder.string() + " -o " + (folder / "other.mote").string();
  write_text((folder / "chat_template.jinja").string(),
             "{{ messages[0].content | trim }}{{ messages[1].content }}");
  assert_fails(run(command), 1, "changes texts of a pair");
  write_text((folder / "chat_template.jinja").string(), "{{ messages[0].content }}");
  assert_fails(run(command), 1, "leaves out the query or the document");
  fs::remove(folder / "chat_template.jinja");
  assert_fails(run(command), 1, "no chat template");
}
