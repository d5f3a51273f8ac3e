// SPDX-License-Identifier: Apache-2.0
//
// Text in, text out: what run and chat do with prompts of every kind, with an interrupt, a closed terminal
// and a full disk. The model is the golden llama with a small tokenizer and a long context: it answers
// nonsense, endlessly.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "tests/support/pair_tokenizer.h"
#include "tests/tools/command.h"
#include "tests/tools/cpu_seconds.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

std::string text_model() {
  const std::filesystem::path folder = scratch() / "text";
  const std::string path = (scratch() / "text.mote").string();
  if (std::filesystem::exists(path)) return path;
  using Options = std::filesystem::copy_options;
  std::filesystem::copy(golden("llama"), folder, Options::recursive);
  std::filesystem::copy(golden("../tokenizers/small/tokenizer.json"), folder);
  json config = json::parse(read_text(folder / "config.json"));
  config["max_position_embeddings"] = 32768;
  write_text(folder / "config.json", config.dump());
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32 --chat-format llama2"));
  return path;
}

std::string write_prompt(const std::string& text) {
  const std::string path = (scratch() / "prompt.txt").string();
  write_text(path, text);
  return path;
}

/// A mote process on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(std::vector<std::string> arguments, const char* isa = nullptr) {
    arguments.insert(arguments.begin(), binary());
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      if (isa != nullptr) setenv("MOTE_ISA", isa, 1);
      execv(words[0], words.data());
      _exit(127);
    }
    TEST_ASSERT_TRUE(child_ > 0);
  }
  ~Terminal() {
    hang_up();
    if (!waited_) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) {
    TEST_ASSERT_EQUAL_SIZE_T(text.size(), static_cast<size_t>(write(terminal_, text.data(), text.size())));
  }
  /// Reads on until `part` appears; false when the program or the patience ends before.
  bool shows(const std::string& part) {
    size_t found = 0;
    if (!reads_until([&] { return (found = seen_.find(part)) != std::string::npos; })) return false;
    seen_.erase(0, found + part.size());
    return true;
  }
  /// Reads on until anything appears.
  bool shows_more() {
    return reads_until([&] { return !seen_.empty(); });
  }
  /// Waits until the process has computed for `seconds`; false when it ends before.
  bool computes(double seconds) {
    int status = 0;
    while (cpu_seconds(child_) < seconds && !waited_) {
      waited_ = waitpid(child_, &status, WNOHANG) == child_;
      usleep(5'000);
    }
    return !waited_;
  }
  void hang_up() {
    if (terminal_ >= 0) close(terminal_);
    terminal_ = -1;
  }
  /// The process ends by itself before long.
  bool ends(int* status) {
    for (int tries = 0; tries < 600; ++tries) {
      if (waitpid(child_, status, WNOHANG) == child_) return waited_ = true;
      usleep(100'000);
    }
    return false;
  }

 private:
  template <class Done>
  bool reads_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      pollfd ready{terminal_, POLLIN, 0};
      if (poll(&ready, 1, 100) <= 0) continue;
      char bytes[4096];
      const ssize_t n = read(terminal_, bytes, sizeof bytes);
      if (n <= 0) return false;
      seen_.append(bytes, static_cast<size_t>(n));
    }
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  bool waited_ = false;
  std::string seen_;
};

void assert_ends(Terminal& terminal) {
  int status = 0;
  TEST_ASSERT_TRUE(terminal.ends(&status));
  TEST_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// After Ctrl-C: the prompt is there again, and the conversation can be ended.
void assert_goes_on(Terminal& terminal, const char* answered) {
  TEST_ASSERT_TRUE(terminal.shows("stopped"));
  TEST_ASSERT_TRUE(terminal.shows(answered));
  TEST_ASSERT_TRUE(terminal.shows("> "));
  terminal.type("/exit\n");
  assert_ends(terminal);
}

}  // namespace

TEST_CASE("run: a prompt is the same from an argument, a file and standard input") {
  const std::string command = "run " + text_model() + " --json -n 12 ";
  const std::string path = write_prompt("the cat sat on the mat");
  const json argument = assert_json(run(command + "-p 'the cat sat on the mat'"));
  TEST_ASSERT_TRUE(argument.at("prompt_ids").size() > 3);
  TEST_ASSERT_TRUE(!argument.at("text").get<std::string>().empty());
  for (const char* key : {"prompt_ids", "output_ids", "text"}) {
    CAPTURE(key);
    TEST_ASSERT_TRUE(assert_json(run(command + "--file " + path)).at(key) == argument.at(key));
    const json piped = assert_json(run(command + "<" + path));
    TEST_ASSERT_TRUE(piped.at(key) == argument.at(key));
  }
}

TEST_CASE("run: prompts that are no proper text are read as they are") {
  using namespace std::string_literals;
  const std::string command = "run " + text_model() + " --json -n 4 --file ";
  for (const std::string& text :
       {"a\0b"s, "\0"s, "\xff\xfe\xc3"s, "a\xe2\x82"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80 b"s}) {
    const json result = assert_json(run(command + write_prompt(text)));
    TEST_ASSERT_TRUE(result.at("prompt_ids").size() >= 1);
    TEST_ASSERT_EQUAL_SIZE_T(4, result.at("output_ids").size());
  }
}

TEST_CASE("tokenize: two texts are put together, with types and places") {
  const std::filesystem::path folder = scratch() / "pair";
  const std::string path = (scratch() / "pair.mote").string();
  std::filesystem::copy(golden("llama"), folder, std::filesystem::copy_options::recursive);
  write_text(folder / "tokenizer.json", ::test::kPairTokenizer);
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32"));
  const Outcome output = run("tokenize " + path + " -p 'Who went?' --pair 'Caf\u00E9 \u4E2D' --json");
  assert_works(output);
  const json result = json::parse(output.out);
  CHECK(result["ids"] == json({2, 4, 5, 7, 3, 10, 13, 3}));
  CHECK(result["types"] == json({0, 0, 0, 0, 0, 1, 1, 1}));
  CHECK(result["texts"] == json({nullptr, 0, 0, 0, nullptr, 1, 1, nullptr}));
  CHECK(result["offsets"][6] == json({5, 6}));
  TEST_ASSERT_EQUAL_STRING("2 4 3\n", run("tokenize " + path + " -p who").out);
}

TEST_CASE("run: an empty prompt is what the tokenizer puts around texts") {
  const json result = assert_json(run("run " + text_model() + " --json -n 4 -p ''"));
  TEST_ASSERT_TRUE(result.at("prompt_ids") == json::array({1, 2}));
}

TEST_CASE("run and chat: a prompt of a megabyte is refused with its size, unless the context holds it") {
  std::string text;
  while (text.size() < (1u << 20)) text += "the cat sat. ";
  const std::string path = write_prompt(text);
  assert_fails(run("run " + text_model() + " -n 4 --file " + path), 1, "exceed the context of 4096");
  assert_fails(run("chat " + text_model() + " -n 4 --json <" + path), 1, "the context has 4096");
}

TEST_CASE("run: --stop ends the answer before a text") {
  const std::string command = "run " + text_model() + " --json -n 40 --ignore-stop -p 'the cat'";
  const std::string whole = assert_json(run(command)).at("text");
  const std::string stop = whole.substr(whole.size() / 2, 3);
  const json stopped = assert_json(run(command + " --stop '" + stop + "'"));
  TEST_ASSERT_EQUAL_STRING("stop", stopped.at("finish").get<std::string>());
  TEST_ASSERT_EQUAL_STRING(whole.substr(0, whole.find(stop)), stopped.at("text").get<std::string>());
}

TEST_CASE("run: a full context is said, and --context-full slide goes on") {
  const std::string command = "run " + text_model() + " --context 16 -n 40 --ignore-stop -p 'the cat'";
  const Outcome full = run(command);
  assert_works(full);
  TEST_ASSERT_TRUE(contains(full.err, "the context of 16 tokens is full"));
  TEST_ASSERT_EQUAL_STRING("context", assert_json(run(command + " --json")).at("finish").get<std::string>());
  const json slid = assert_json(run(command + " --json --context-full slide"));
  TEST_ASSERT_EQUAL_SIZE_T(40, slid.at("output_ids").size());
  TEST_ASSERT_EQUAL_STRING("length", slid.at("finish").get<std::string>());
}

TEST_CASE("run: a saved prompt goes on as the prompt itself does") {
  const std::string command = "run " + text_model() + " --json -n 12 ";
  const std::string state = (scratch() / "state").string();
  const json saved = assert_json(run(command + "-p 'the cat sat' --save-state " + state));
  const json loaded = assert_json(run(command + "-p '' --load-state " + state));
  TEST_ASSERT_TRUE(saved.at("output_ids") == loaded.at("output_ids"));
}

TEST_CASE("run: the repetition penalty sees a saved prompt as it sees the prompt itself") {
  const std::string command = "run " + converted("llama", "f32") + " --json --repeat-penalty 1.8 -n ";
  const std::string state = (scratch() / "penalized_state").string();
  const json whole = assert_json(run(command + "12 --ids 5,17,80,3,44,9,61,28"));
  const json saved = assert_json(run(command + "1 --ids 5,17,80,3,44 --save-state " + state));
  const json loaded = assert_json(run(command + "12 --ids 9,61,28 --load-state " + state));
  TEST_ASSERT_TRUE(whole.at("output_ids") == loaded.at("output_ids"));
  TEST_ASSERT_FALSE(
      assert_json(run("run " + converted("llama", "f32") + " --json -n 12 --ids 5,17,80,3,44,9,61,28"))
          .at("output_ids") == whole.at("output_ids"));
}

TEST_CASE("run: what generation_config.json says holds, is said, and gives way to the user's word") {
  const std::filesystem::path folder = scratch() / "with_rules";
  std::filesystem::copy(golden("llama"), folder);
  const std::string path = (folder / "out.mote").string(), ids = " --json -n 12 --ids 5,17,80,3,44,9,61,28";
  const auto converted_with = [&](const json& keys) {
    write_text(folder / "generation_config.json", keys.dump());
    const Outcome outcome = run("convert " + folder.string() + " -o " + path + " --type f32");
    return assert_works(outcome) + outcome.err;
  };
  const json plain = assert_json(run("run " + converted("llama", "f32") + ids)).at("output_ids");
  const int first = plain.at(0);
  const std::string said =
      converted_with({{"no_repeat_ngram_size", 1}, {"suppress_tokens", {first}}, {"max_time", 3}});
  TEST_ASSERT_TRUE(contains(said, "no_repeat_ngram_size 1") && contains(said, "max_time 3"));
  const Outcome ruled = run("run " + path + ids);
  std::vector<int> found = assert_json(ruled).at("output_ids");
  TEST_ASSERT_TRUE(contains(ruled.err, "no_repeat_ngram_size 1"));
  for (const int id : {5, 17, 80, 3, 44, 9, 61, 28}) found.push_back(id);
  TEST_ASSERT_TRUE(std::find(found.begin(), found.end(), first) == found.end());
  std::sort(found.begin(), found.end());
  TEST_ASSERT_TRUE(std::adjacent_find(found.begin(), found.end()) == found.end());
  converted_with({{"repetition_penalty", 50.0}});
  TEST_ASSERT_FALSE(assert_json(run("run " + path + ids)).at("output_ids") == plain);
  TEST_ASSERT_TRUE(assert_json(run("run " + path + ids + " --repeat-penalty 1")).at("output_ids") == plain);
}

TEST_CASE("run: a disk that is full while saving costs neither the message nor the earlier state") {
  const std::string command = "run " + text_model() + " --json -n 4 -p 'the cat sat' --save-state ";
  const std::string state = (scratch() / "kept_state").string();
  assert_works(run(command + state));
  const std::string before = read_text(state);
  // A limit on the size of files stands for the full disk.
  assert_fails(run(command + state, "trap '' XFSZ; ulimit -f 1;"), 1, "kept_state");
  TEST_ASSERT_TRUE(read_text(state) == before);
  assert_fails(run(command + "/dev/full"), 1, "/dev/full");
}

TEST_CASE("run: a pipe that closes ends it") {
  const std::string line =
      "'" + binary() + "' run " + text_model() +
      " -n 0 --ignore-stop --context-full slide -p 'the cat' 2>/dev/null | head -c 20 >/dev/null";
  TEST_ASSERT_EQUAL_INT(0, ::system(("timeout 60 sh -c \"" + line + "\"").c_str()));
}

TEST_CASE("chat: Ctrl-C stops the answer, and the conversation goes on") {
  SKIP_WITHOUT_TERMINALS();
  Terminal terminal({"chat", text_model(), "--context", "32768", "-n", "0", "--ignore-stop"});
  TEST_ASSERT_TRUE(terminal.shows("> "));
  terminal.type("the cat sat\n");
  TEST_ASSERT_TRUE(terminal.shows("the cat sat\r\n"));
  TEST_ASSERT_TRUE(terminal.shows_more());  // of the answer
  terminal.type("\x03");
  assert_goes_on(terminal, "tokens, ");
}

TEST_CASE("chat: Ctrl-C stops a prompt that is still being computed, and the conversation goes on") {
  SKIP_WITHOUT_TERMINALS();
  SKIP_WITHOUT_PROC();
  // A terminal's line has 4096 bytes at most: what is long is the system message.
  std::string system;
  while (system.size() < 32'000) system += "a b c d ";
  Terminal terminal(
      {"chat", text_model(), "--context", "32768", "-n", "2", "--threads", "1", "--system", system}, "ref");
  TEST_ASSERT_TRUE(terminal.shows("> "));
  terminal.type("the cat sat\n");
  TEST_ASSERT_TRUE(terminal.shows("the cat sat\r\n"));
  TEST_ASSERT_TRUE(terminal.computes(kBusy));
  terminal.type("\x03");
  assert_goes_on(terminal, "(0 tokens");
}

TEST_CASE("chat: Ctrl-C at the prompt drops the line, Ctrl-D ends") {
  SKIP_WITHOUT_TERMINALS();
  Terminal terminal({"chat", text_model(), "--context", "64", "-n", "2"});
  TEST_ASSERT_TRUE(terminal.shows("> "));
  terminal.type("half a li\x03");
  TEST_ASSERT_TRUE(terminal.shows("(/exit or Ctrl-D ends)"));
  TEST_ASSERT_TRUE(terminal.shows("> "));
  terminal.type("\x04");
  assert_ends(terminal);
}

TEST_CASE("chat: a terminal that closes ends the program, in an answer and at the prompt") {
  SKIP_WITHOUT_TERMINALS();
  for (const bool answering : {true, false}) {
    CAPTURE(answering);
    Terminal terminal({"chat", text_model(), "--context", "32768", "-n", "0", "--ignore-stop"});
    TEST_ASSERT_TRUE(terminal.shows("> "));
    if (answering) {
      terminal.type("the cat sat\n");
      TEST_ASSERT_TRUE(terminal.shows("the cat sat\r\n"));
    }
    terminal.hang_up();
    int status = 0;
    TEST_ASSERT_TRUE(terminal.ends(&status));
  }
}

TEST_CASE("chat: later turns reuse what the session holds") {
  const std::string path = write_prompt("the cat sat\non the mat\n");
  std::istringstream lines(
      assert_works(run("chat " + text_model() + " --json -n 6 --ignore-stop --context 512 <" + path)));
  std::string first, second;
  TEST_ASSERT_TRUE(std::getline(lines, first) && std::getline(lines, second));
  TEST_ASSERT_EQUAL_INT(0, json::parse(first).at("reused_tokens").get<int>());
  // The second turn renders the answer as text: it is the same tokens up to there at the least.
  TEST_ASSERT_TRUE(json::parse(second).at("reused_tokens") >= json::parse(first).at("prompt_tokens"));
}

TEST_CASE("run and chat: a template that is no format renders conversations, with variables and tools") {
  const std::filesystem::path folder = scratch() / "templated";
  const std::string path = (scratch() / "templated.mote").string();
  std::filesystem::copy(golden("llama"), folder, std::filesystem::copy_options::recursive);
  std::filesystem::copy(golden("../tokenizers/small/tokenizer.json"), folder);
  const std::string chat =
      "{% for m in messages %}{{ loop.index }}{{ m.content }}</s>{% endfor %}"
      "{% if tools %}{{ tools | length }} stop{% endif %}{% if loud %}!{% endif %}";
  write_text(folder / "tokenizer_config.json", json{{"chat_template", chat}, {"eos_token", "</s>"}}.dump());
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32"));
  const auto prompt_of = [&](const std::string& arguments) {
    return assert_json(run("run " + path + " -n 1 --json " + arguments)).at("prompt_ids");
  };
  const auto ids_of = [&](const std::string& text) {
    return assert_json(run("tokenize " + path + " --no-special --json -p '" + text + "'")).at("ids");
  };
  TEST_ASSERT_TRUE(prompt_of("--chat -p hello") == ids_of("1hello</s>"));
  TEST_ASSERT_TRUE(prompt_of("--chat -p hello --set loud=true") == ids_of("1hello</s>!"));
  const std::string conversation = write_prompt(
      R"({"messages": [{"role": "user", "content": "hello"}, {"role": "tool", "content": "the end"}], "tools": [{}, {}]})");
  TEST_ASSERT_TRUE(prompt_of("--messages " + conversation) == ids_of("1hello</s>2the end</s>2 stop"));
  const json turn = assert_json(run("chat " + path + " -n 1 --json -p hello"));
  TEST_ASSERT_EQUAL(ids_of("1hello</s>").size(), turn.at("prompt_tokens").get<size_t>());
  assert_fails(run("run " + path + " -p hello --set loud=true"), 2, "--set is for --chat and --messages");
  assert_fails(run("chat " + path + " -p hello --set loud"), 2, "expected NAME=JSON");
  assert_fails(run("run " + text_model() + " --messages " + conversation), 1, "keeps no chat template");
}
