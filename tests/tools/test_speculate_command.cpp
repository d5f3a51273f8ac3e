// SPDX-License-Identifier: Apache-2.0
//
// Guesses of tokens as the command and hosts have them: the same answers, and no more of them than pay.
#include "host/tasks/speculation.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using mote::host::GuessPrice;
using nlohmann::json;

namespace {

std::string repeating() {
  std::string ids = " --ids 5";
  for (int i = 0; i < 24; ++i) ids += i % 4 == 0 ? ",17" : i % 4 == 1 ? ",80" : i % 4 == 2 ? ",3" : ",44";
  return ids;
}

}  // namespace

TEST_CASE("run: answers are the same with guesses and without, for every kind of sampling") {
  const std::string command = "run " + converted("llama", "q8g32") + repeating() + " --json -n 60";
  for (const char* sampling : {"", " --temp 0.3 --seed 3", " --temp 1 --top-k 20 --seed 8",
                               " --repeat-penalty 1.3", " --ignore-stop --temp 2 --top-p 0.9"}) {
    CAPTURE(sampling);
    const json off = assert_json(run(command + sampling + " --speculate off"));
    TEST_ASSERT_EQUAL_STRING("switched off", off.at("speculation").at("off").get<std::string>());
    TEST_ASSERT_EQUAL_INT(0, off.at("speculation").at("rows").get<int>());
    for (const char* how :
         {"", " --speculate auto", " --speculate lookup", " --speculate lookup --speculate-max 1",
          " --speculate lookup --speculate-max 32 --speculate-match 1"}) {
      CAPTURE(how);
      const json on = assert_json(run(command + sampling + how));
      TEST_ASSERT_TRUE(on.at("output_ids") == off.at("output_ids"));
      TEST_ASSERT_TRUE(on.at("finish") == off.at("finish"));
      const json& guesses = on.at("speculation");
      TEST_ASSERT_FALSE(guesses.contains("off"));
      TEST_ASSERT_TRUE(guesses.at("rows").get<int>() ==
                       guesses.at("runs").get<int>() + guesses.at("drafted").get<int>());
      TEST_ASSERT_TRUE(guesses.at("stood") <= guesses.at("drafted"));
    }
  }
}

TEST_CASE("run: a model whose states keep no earlier tokens says why it guesses none") {
  const json answer = assert_json(run("run " + converted("mamba", "f32") + repeating() + " --json -n 4"));
  TEST_ASSERT_TRUE(contains(answer.at("speculation").at("off").get<std::string>(), "keep no earlier tokens"));
}

TEST_CASE("run: wrong numbers of guesses are wrong usage") {
  const std::string command = "run " + converted("llama", "q8g32") + repeating();
  for (const char* wrong : {" --speculate some", " --speculate-max 0", " --speculate-max 33",
                            " --speculate-match 0", " --speculate-match 17"}) {
    CAPTURE(wrong);
    TEST_ASSERT_EQUAL_INT(2, run(command + wrong).code);
  }
}

TEST_CASE("guesses: none are computed where all are wrong, many where all are right and rows are cheap") {
  GuessPrice price(8);
  TEST_ASSERT_GREATER_THAN(0u, price.best());
  for (int i = 0; i < 100; ++i) price.took(1, 10, 0, 1);
  TEST_ASSERT_EQUAL_UINT32(0, price.best());
  for (int i = 0; i < 100; ++i) price.took(1, 10, 1, 0);
  TEST_ASSERT_EQUAL_UINT32(8, price.best());
}

TEST_CASE("guesses: what rows cost decides, as it was measured") {
  GuessPrice price(8);
  for (uint32_t rows = 1; rows <= 9; ++rows) {
    for (int i = 0; i < 60; ++i) price.took(rows, 10.0 * rows, 1, 0);
  }
  TEST_ASSERT_EQUAL_UINT32(0, price.best());  // as dear as that many runs
  for (int i = 0; i < 60; ++i) price.took(3, 12, 1, 0);
  TEST_ASSERT_EQUAL_UINT32(2, price.best());
  TEST_ASSERT_TRUE(price.price(3) < 12.1 && price.price(2) > 19.9);
}

TEST_CASE("guesses: a run that something held up is no price") {
  GuessPrice price(4);
  for (int i = 0; i < 60; ++i) price.took(1, 10, 1, 0);
  price.took(5, 2000, 4, 0);
  TEST_ASSERT_TRUE(price.price(5) < 30);
  TEST_ASSERT_GREATER_THAN(0u, price.best());
}
