// SPDX-License-Identifier: Apache-2.0
//
// Guesses by a second model: the same answers in fewer runs of the model that answers.
#include "host/tasks/speculation.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using mote::host::GuessPrice;
using mote::host::GuessSource;
using nlohmann::json;

namespace {

const char* const kSampling[] = {"", " --temp 0.3 --seed 3", " --temp 1 --top-k 20 --seed 8",
                                 " --repeat-penalty 1.3", " --ignore-stop --temp 2 --top-p 0.9"};

std::string run_llama() { return "run " + converted("llama", "q8g32") + " --ids 5,17,80,3,44 --json -n 60"; }

std::string draft(const char* name, const char* type) { return " --draft " + converted(name, type); }

}  // namespace

TEST_CASE("run: answers are the same with a draft and without, for every kind of sampling") {
  for (const char* sampling : kSampling) {
    CAPTURE(sampling);
    const json off = assert_json(run(run_llama() + sampling + " --speculate off"));
    for (const std::string& how : {draft("llama", "q4"), draft("llama", "q4") + " --speculate draft",
                                   draft("mistral", "f32") + " --speculate draft --speculate-max 3",
                                   draft("llama", "f32") + " --speculate draft --speculate-max 32"}) {
      CAPTURE(how);
      const json on = assert_json(run(run_llama() + sampling + how));
      TEST_ASSERT_TRUE(on.at("output_ids") == off.at("output_ids"));
      TEST_ASSERT_TRUE(on.at("finish") == off.at("finish"));
      TEST_ASSERT_FALSE(on.at("speculation").contains("off"));
    }
  }
}

TEST_CASE("run: guesses of the model itself stand, those of another one mostly do not") {
  const auto guesses = [](const std::string& options) {
    return assert_json(run(run_llama() + " --ignore-stop --speculate draft" + options)).at("speculation");
  };
  const json own = guesses(draft("llama", "q8g32")), other = guesses(draft("mistral", "f32"));
  TEST_ASSERT_GREATER_THAN(40, own.at("drafted").get<int>());
  TEST_ASSERT_GREATER_THAN(own.at("drafted").get<int>() * 3, own.at("stood").get<int>() * 4);
  TEST_ASSERT_LESS_THAN(20, own.at("runs").get<int>());
  TEST_ASSERT_GREATER_THAN(40, other.at("drafted").get<int>());
  TEST_ASSERT_LESS_THAN(other.at("drafted").get<int>() / 2, other.at("stood").get<int>());
}

TEST_CASE("run: a draft's memory is counted with the model's") {
  const json off = assert_json(run(run_llama() + " --speculate lookup" + draft("llama", "q4")));
  const json on = assert_json(run(run_llama() + " --speculate draft" + draft("llama", "q4")));
  TEST_ASSERT_EQUAL_INT(0, off.at("draft_bytes").get<int>());
  TEST_ASSERT_GREATER_THAN(0, on.at("draft_bytes").get<int>());
  TEST_ASSERT_EQUAL_INT(off.at("arena_bytes").get<int>() + on.at("draft_bytes").get<int>(),
                        on.at("arena_bytes").get<int>());
}

TEST_CASE("run: a draft follows an answer beyond its own context, and one whose context slides") {
  const std::string long_answer = "run " + converted("llama", "q8g32") +
                                  " --ids 5,17,80,3,44 --json --ignore-stop -n 150 --context-full slide";
  const json off = assert_json(run(long_answer + " --speculate off --context 48"));
  const json on = assert_json(run(long_answer + " --speculate draft --context 48" + draft("llama", "q8g32")));
  TEST_ASSERT_TRUE(on.at("output_ids") == off.at("output_ids"));
  TEST_ASSERT_GREATER_THAN(50, on.at("speculation").at("stood").get<int>());
}

TEST_CASE("chat: answers with a draft are those without, turn by turn") {
  const std::string folder = (scratch() / "draft_chat").string();
  std::filesystem::copy(golden("llama"), folder, std::filesystem::copy_options::recursive);
  std::filesystem::copy(golden("../tokenizers/small/tokenizer.json"), folder + "/tokenizer.json");
  const std::string file = folder + "/out.mote", turns = folder + "/turns.txt";
  assert_works(run("convert " + folder + " -o " + file + " --type q8 --chat-format llama2"));
  write_text(turns, "the cat\nand the dog\n/new\nthe cat\n");
  const auto answers = [&](const std::string& options) {
    std::string ids;
    const std::string out =
        assert_works(run("chat " + file + " --json -n 24 --ignore-stop " + options + " <" + turns));
    for (size_t at = 0, end; at < out.size(); at = end + 1) {
      end = out.find('\n', at);
      if (end == std::string::npos) break;
      ids += json::parse(out.substr(at, end - at)).at("output_ids").dump();
    }
    return ids;
  };
  const std::string expected = answers("--speculate off");
  TEST_ASSERT_GREATER_THAN(72u, expected.size());
  TEST_ASSERT_EQUAL_STRING(expected, answers("--speculate draft --draft " + file));
  TEST_ASSERT_EQUAL_STRING(expected, answers("--temp 0 --draft " + file));
}

TEST_CASE(
    "run: a draft of another vocabulary is an error that names both files, one that drafts nothing too") {
  const Outcome other = run(run_llama() + draft("gpt2", "f32"));
  assert_fails(other, 1, "have different vocabularies");
  TEST_ASSERT_TRUE(contains(other.err, converted("llama", "q8g32")));
  TEST_ASSERT_TRUE(contains(other.err, converted("gpt2", "f32")));
  assert_fails(run(run_llama() + draft("mamba", "f32")), 1, "keep no earlier tokens");
  assert_fails(run(run_llama() + draft("bert", "f32")), 1, "is for another task");
  assert_fails(run(run_llama() + " --draft /nowhere/small.mote"), 1, "/nowhere/small.mote");
  assert_fails(run(run_llama() + " --speculate draft"), 2, "--speculate draft needs --draft");
}

TEST_CASE("run: a model that can have no guesses says so and makes no session of its draft") {
  const json answer = assert_json(
      run("run " + converted("mamba", "f32") + " --ids 5,17,80 --json -n 4" + draft("llama", "f32")));
  TEST_ASSERT_TRUE(contains(answer.at("speculation").at("off").get<std::string>(), "keep no earlier tokens"));
  TEST_ASSERT_EQUAL_INT(0, answer.at("draft_bytes").get<int>());
}

TEST_CASE("run: where guesses were asked for and there are none, a note says why") {
  const std::string mamba = "run " + converted("mamba", "f32") + " --ids 5,17,80 -n 4";
  const Outcome asked = run(mamba + draft("llama", "f32"));
  assert_works(asked);
  TEST_ASSERT_TRUE(contains(asked.err, "no token was guessed: ") &&
                   contains(asked.err, "keep no earlier tokens"));
  for (const std::string& not_asked : {mamba, mamba + " --speculate off"})
    TEST_ASSERT_FALSE(contains(run(not_asked).err, "no token was guessed"));
}

TEST_CASE("guesses: what a draft's tokens cost decides how many there are") {
  GuessPrice price(8);
  for (int i = 0; i < 60; ++i) price.took(1, 10, 0.9, 0.1, GuessSource::drafted);
  TEST_ASSERT_EQUAL_UINT32(0, price.best(GuessSource::drafted, 20));
  TEST_ASSERT_GREATER_THAN(2u, price.best(GuessSource::drafted, 0.5));
  TEST_ASSERT_TRUE(price.best(GuessSource::drafted, 3) <= price.best(GuessSource::drafted, 0.5));
  TEST_ASSERT_TRUE(price.gain(4, GuessSource::drafted, 0.5) > price.gain(4, GuessSource::drafted, 3));
  TEST_ASSERT_TRUE(price.gain(0, GuessSource::drafted, 3) == 1.0);
}
