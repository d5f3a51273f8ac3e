// SPDX-License-Identifier: Apache-2.0
//
// SmolLM2 as a person uses it: text in, text out, by the command line.
#include <nlohmann/json.hpp>

#include "tests/support/realdata.h"
#include "tests/support/test_model.h"
#include "tests/tools/command.h"

namespace {

const char* const kTextGguf = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// The converted model's path in quotes.
std::string model_file() {
  const std::filesystem::path path = test::temporary_folder() / "smollm2.mote";
  if (!std::filesystem::exists(path)) {
    mote::testing::assert_works(mote::testing::run("convert '" + test::fetched_model(kTextGguf).string() +
                                                   "' -o '" + path.string() + "'"));
  }
  return "'" + path.string() + "'";
}

nlohmann::json json_of(const std::string& command) {
  return nlohmann::json::parse(mote::testing::assert_works(mote::testing::run(command)));
}

}  // namespace

TEST("SmolLM2 knows the capital of France") {
  SKIP_WITHOUT(test::fetched_model(kTextGguf));
  const auto answer =
      json_of("chat " + model_file() +
              " -p 'What is the capital of France?' -n 60 --context 512 --repeat-penalty 1.1 --json");
  const std::string text = answer.at("text");
  CAPTURE(text);
  TEST_ASSERT_TRUE(text.find("Paris") != std::string::npos);
}

TEST("a saved prompt goes on as the prompt itself does") {
  SKIP_WITHOUT(test::fetched_model(kTextGguf));
  const std::string options = " -n 12 --context 256 --json";
  const std::string state = "'" + (test::temporary_folder() / "state").string() + "'";
  const auto whole = json_of("run " + model_file() + " -p 'Once upon a time, there was a fox who'" + options);
  json_of("run " + model_file() + " -p 'Once upon a time,' --save-state " + state + options);
  const auto rest =
      json_of("run " + model_file() + " -p ' there was a fox who' --load-state " + state + options);
  TEST_ASSERT_EQUAL_STRING(whole.at("text").get<std::string>(), rest.at("text").get<std::string>());
}

TEST("SmolLM2's perplexity on wikitext-2 is at most 25.10") {
  SKIP_WITHOUT(test::fetched_model(kTextGguf));
  const std::filesystem::path text = test::realdata("wikitext2/test.txt");
  SKIP_WITHOUT(text);
  const auto score = json_of("eval " + model_file() + " --perplexity '" + text.string() +
                             "' --window 512 --limit 16384 --json");
  const double perplexity = score.at("perplexity");
  WARN("perplexity " << perplexity << " over " << score.at("tokens") << " tokens");
  TEST_ASSERT_LESS_OR_EQUAL(25.10, perplexity);
}
