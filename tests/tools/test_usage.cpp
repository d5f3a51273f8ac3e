// SPDX-License-Identifier: Apache-2.0
//
// What mote says to those who get it wrong, and how it exits.
#include "tests/tools/command.h"

using namespace mote::testing;

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

std::string llama_file() { return converted("llama", "f32"); }

}  // namespace

TEST_CASE("usage: help and version are printed and are no failure") {
  TEST_ASSERT_TRUE(contains(assert_works(run("--help")), "convert"));
  TEST_ASSERT_TRUE(contains(assert_works(run("--version")), "mote 0.1"));
  TEST_ASSERT_TRUE(contains(assert_works(run("run --help")), "--ids"));
}

TEST_CASE("usage: no command, an unknown one and an unknown option are wrong usage") {
  assert_fails(run(""), kUsage, "no command");
  assert_fails(run("convrt"), kUsage, "did you mean 'convert'?");
  assert_fails(run("run x.mote --ids 1 --tempo 3"), kUsage, "--tempo");
  assert_fails(run("run x.mote --ids 1 --threads none"), kUsage, "--threads");
  assert_fails(run("run x.mote --ids 1 --kv f64"), kUsage, "--kv");
  assert_fails(run("run --ids 1"), kUsage, "FILE");
}

TEST_CASE("usage: words that a command does not take are named one by one, with the nearest option") {
  assert_fails(run("run x.mote --ids 1 --beams 5"), kUsage, "mote run has no option --beams");
  assert_fails(run("run x.mote --ids 1 --tokns 5"), kUsage, "no option --tokns, did you mean '--tokens'?");
  assert_fails(run("run x.mote y.mote --ids 1"), kUsage, "mote run does not take 'y.mote' there");
}

TEST_CASE("usage: an empty file of a state is called empty") {
  const std::string state = (scratch() / "empty.state").string();
  write_text(state, "");
  assert_fails(run("run " + llama_file() + " --ids 1 -n 1 --load-state " + state), kFailed,
               "empty.state is empty: it is no saved session");
}

TEST_CASE("usage: a misspelt type is answered with the nearest name and leaves no file") {
  const std::string out = (scratch() / "misspelt.mote").string();
  assert_fails(run("convert " + golden("llama") + " -o " + out + " --type q4g23"), kUsage,
               "did you mean 'q4g32'?");
  assert_fails(run("convert " + golden("llama") + " -o " + out + " --type float"), kUsage, "--list");
  TEST_ASSERT_FALSE(std::filesystem::exists(out));
}

TEST_CASE("usage: convert needs a source and an output") {
  assert_fails(run("convert"), kUsage, "SRC");
  assert_fails(run("convert " + golden("llama")), kUsage, "--output");
}

TEST_CASE("usage: a missing source or model is named") {
  assert_fails(run("convert /nowhere/model -o " + (scratch() / "x.mote").string()), kFailed,
               "/nowhere/model");
  for (const char* command : {"run --ids 1", "bench", "inspect", "verify", "eval --ids --perplexity x",
                              "forward --input a --output b"}) {
    CAPTURE(command);
    assert_fails(run(std::string(command) + " /nowhere/a.mote"), kFailed, "/nowhere/a.mote");
  }
}

TEST_CASE("usage: an empty, a foreign and a cut file are refused with their path") {
  const std::string whole = read_text(llama_file());
  const std::string path = (scratch() / "cut.mote").string();
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{7}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(size);
    write_text(path, whole.substr(0, size));
    assert_fails(run("run " + path + " --ids 1"), kFailed, path);
  }
  write_text(path, "a text that somebody took for a model, and long enough to be one by its size alone");
  assert_fails(run("inspect " + path), kFailed, path);
}

TEST_CASE("usage: bad ids are refused before any work") {
  const std::string model = llama_file();
  assert_fails(run("run " + model + " --ids 1,two,3"), kUsage, "'two' is not a token id");
  assert_fails(run("run " + model + " --ids 1,-2"), kUsage, "'-2'");
  assert_fails(run("run " + model + " --ids 99999999999"), kUsage, "'99999999999'");
  assert_fails(run("run " + model + " --ids ''"), kUsage, "--ids");
  assert_fails(run("run " + model + " --ids 1,100"), kFailed, "id 100 at index 1");
  assert_fails(run("run " + model), kFailed, "--ids");  // standard input is a text
  assert_fails(run("run " + model + " -p Hello --ids 1"), kUsage, "--ids");
}

TEST_CASE("usage: a text without a tokenizer points to --ids") {
  assert_fails(run("run " + llama_file() + " -p Hello"), kFailed, "--ids");
  assert_fails(run("eval " + llama_file() + " --perplexity text.txt"), kFailed, "--ids");
}

TEST_CASE("usage: sampling options that contradict each other are wrong usage") {
  assert_fails(run("run x.mote --ids 1 --greedy --temp 1"), kUsage, "--greedy");
  assert_fails(run("run x.mote --ids 1 --top-k 4"), kUsage, "--temp");
  assert_fails(run("run x.mote --ids 1 --temp -1"), kUsage, "--temp");
}

TEST_CASE("usage: a context too small or too large is said") {
  const std::string model = llama_file();
  assert_fails(run("run " + model + " --ids 1,2,3,4,5 --context 4"), kFailed, "context");
  assert_fails(run("run " + model + " --ids 1 --context 1000000000"), kFailed, "context of 1000000000");
  assert_fails(run("bench " + model + " --prompt 9000000 --decode 1"), kFailed, "context of 9000000");
}

TEST_CASE("usage: a full context ends the output with a note") {
  const Outcome outcome = run("run " + llama_file() + " --ids 1,2,3 --context 8 -n 0 --ignore-stop");
  TEST_ASSERT_EQUAL_INT(0, outcome.code);
  TEST_ASSERT_TRUE(contains(outcome.err, "context of 8 tokens is full"));
}

TEST_CASE("usage: an instruction set that is none or not here fails", "[native]") {
  assert_fails(run("run " + llama_file() + " --ids 1", "MOTE_ISA=avx3"), kFailed, "MOTE_ISA");
#if defined(__x86_64__)
  assert_fails(run("run " + llama_file() + " --ids 1", "MOTE_ISA=neon"), kFailed, "neon");
#endif
}

TEST_CASE("usage: output that cannot be written fails") {
  const std::string model = llama_file();
  for (const std::string command : {"--version", "--help"}) {
    assert_fails(run(command, "", "/dev/full"), kFailed, "standard output");
  }
  for (const std::string command :
       {"run --ids 1 -n 2 ", "run --json --ids 1 -n 2 ", "inspect --tensors ", "verify "}) {
    CAPTURE(command);
    assert_fails(run(command + model, "", "/dev/full"), kFailed, "standard output");
  }
  const Outcome forward = run("forward " + model + " --input " + golden("llama") +
                              "/golden.safetensors --output /nowhere/x.safetensors");
  assert_fails(forward, kFailed, "/nowhere/x.safetensors");
}

#ifndef MOTE_SANITIZED
TEST_CASE("usage: too little memory for the arena is said with what it takes", "[native]") {
  const std::string model = llama_file();
  bool said = false;
  // Somewhere between too little to load the program and enough for all of it.
  for (int mebibytes = 8; mebibytes < 256 && !said; mebibytes += 2) {
    const Outcome outcome = run("run " + model + " --threads 1 --ids 1 -n 1 --chunk 4096",
                                "ulimit -v " + std::to_string(1024 * mebibytes) + ";");
    if (outcome.code == 0) break;
    said = outcome.code == kFailed && contains(outcome.err, "not enough memory: the session needs");
  }
  TEST_ASSERT_TRUE(said);
}
#endif

TEST_CASE("usage: an empty word where no option takes it is refused") {
  assert_fails(run("run x.mote --rank \"\" --top 3"), kUsage, "argument 4 is empty");
  assert_fails(run("run x.mote \"\" --top"), kUsage, "argument 3 is empty");
  assert_fails(run("run \"\" -p x"), kUsage, "argument 2 is empty");
  assert_fails(run("run x.mote -p \"\""), kFailed, "x.mote");
}
