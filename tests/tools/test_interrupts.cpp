// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C in every command: it ends the work soon, a second one ends the program at once, and nothing half
// written is left.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/cpu_seconds.h"
#include "tests/tools/faults.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

constexpr double kSoon = 3.0;  // seconds of CPU after an interrupt, where the work to its end takes minutes

/// A mote process in the background, its streams in files.
class Process {
 public:
  explicit Process(const std::string& arguments, const std::string& before = "") {
    const std::string line = "exec env " + before + " '" + binary() + "' " + arguments + " </dev/null >" +
                             path("out") + " 2>" + path("err");
    child_ = fork();
    if (child_ == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    TEST_ASSERT_TRUE(child_ > 0);
  }
  ~Process() {
    if (waited_) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void interrupt() const { kill(child_, SIGINT); }
  /// Waits until it has used so much CPU; false if it ends before.
  bool computes(double seconds) {
    while (cpu_seconds(child_) < seconds) {
      if (ended()) return false;
      usleep(5'000);
    }
    return true;
  }
  /// CPU seconds until it ended, counted from the start; a very large number if it used more than `most`.
  double ends_within(double most) {
    while (!ended()) {
      if (cpu_seconds(child_) > most) return 1e9;
      usleep(5'000);
    }
    return static_cast<double>(usage_.ru_utime.tv_sec) + static_cast<double>(usage_.ru_utime.tv_usec) / 1e6;
  }
  int status() const { return status_; }
  bool died_of(int signal) const { return WIFSIGNALED(status_) && WTERMSIG(status_) == signal; }
  std::string out() const { return read_text(path("out")); }
  std::string err() const { return read_text(path("err")); }

 private:
  static std::string path(const std::string& name) { return (scratch() / ("process." + name)).string(); }

  bool ended() {
    if (!waited_) waited_ = wait4(child_, &status_, WNOHANG, &usage_) == child_;
    return waited_;
  }

  pid_t child_ = -1;
  bool waited_ = false;
  int status_ = 0;
  struct rusage usage_ = {};
};

/// The golden llama with a context of 32768.
std::string long_model() {
  const std::filesystem::path folder = scratch() / "long";
  const std::string path = (scratch() / "long.mote").string();
  if (std::filesystem::exists(path)) return path;
  std::filesystem::copy(golden("llama"), folder, std::filesystem::copy_options::recursive);
  json config = json::parse(read_text(folder / "config.json"));
  config["max_position_embeddings"] = 32768;
  write_text(folder / "config.json", config.dump());
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32"));
  return path;
}

/// A prompt that takes the reference kernels a minute.
std::string long_run() {
  std::string ids = "3";
  for (int i = 1; i < 32'000; ++i) ids += ",3";
  return "run " + long_model() + " --threads 1 --context 32768 --json -n 4 --ids " + ids;
}

std::string encoder_file() {
  const std::filesystem::path folder = scratch() / "encoder";
  const std::string path = (scratch() / "encoder.mote").string();
  std::filesystem::copy(golden("bert"), folder, std::filesystem::copy_options::recursive);
  std::filesystem::copy(golden("../tokenizers/small/tokenizer.json"), folder);
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32 --pooling mean"));
  return path;
}

/// Whether the text is whole lines of JSON.
void assert_whole_lines(const std::string& text) {
  TEST_ASSERT_TRUE(text.empty() || text.back() == '\n');
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) TEST_ASSERT_TRUE(json::accept(line));
}

}  // namespace

TEST_CASE("interrupt: run stops in the middle of its prompt", "[native]") {
  SKIP_WITHOUT_PROC();
  Process process(long_run(), "MOTE_ISA=ref");
  TEST_ASSERT_TRUE(process.computes(kBusy));
  process.interrupt();
  TEST_ASSERT_TRUE(process.ends_within(kBusy + kSoon) < 1e9);
  CAPTURE(process.err());
  TEST_ASSERT_TRUE(WIFEXITED(process.status()) && WEXITSTATUS(process.status()) == 0);
  const json result = json::parse(process.out());
  TEST_ASSERT_EQUAL_STRING("cancelled", result.at("finish").get<std::string>());
  TEST_ASSERT_TRUE(result.at("output_ids").empty());
}

TEST_CASE("interrupt: a state is not saved of half a prompt", "[native]") {
  SKIP_WITHOUT_PROC();
  const std::filesystem::path folder = scratch() / "interrupted_state";
  std::filesystem::create_directory(folder);
  Process process(long_run() + " --save-state " + (folder / "state").string(), "MOTE_ISA=ref");
  TEST_ASSERT_TRUE(process.computes(kBusy));
  process.interrupt();
  TEST_ASSERT_TRUE(process.ends_within(kBusy + kSoon) < 1e9);
  TEST_ASSERT_TRUE(process.died_of(SIGINT));
  TEST_ASSERT_TRUE(names_in(folder).empty());
}

TEST_CASE("interrupt: the second one ends the program at once", "[native]") {
  const std::filesystem::path folder = scratch() / "interrupted_twice";
  std::filesystem::create_directory(folder);
  const std::string command = "run " + converted("llama", "f32") + " --ids 1,2,3 --save-state ";
  // The first comes while the state is written, which is not left half done; with it the work ends.
  Process once(command + (folder / "once").string() + " --json", with_faults("pwrite:int"));
  TEST_ASSERT_TRUE(once.ends_within(60) < 1e9);
  TEST_ASSERT_EQUAL_STRING("cancelled", json::parse(once.out()).at("finish").get<std::string>());
  TEST_ASSERT_EQUAL_SIZE_T(1, names_in(folder).size());
  for (const std::string& nameless : naming_faults()) {
    CAPTURE(nameless);
    Process twice(command + (folder / "twice").string(), with_faults("pwrite:int fsync:int" + nameless));
    TEST_ASSERT_TRUE(twice.ends_within(60) < 1e9);
    TEST_ASSERT_TRUE(twice.died_of(SIGINT));
    TEST_ASSERT_EQUAL_SIZE_T(1, names_in(folder).size());
  }
}

TEST_CASE("interrupt: embed ends after whole lines", "[native]") {
  SKIP_WITHOUT_PROC();
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "the cat sat on the mat " + std::to_string(i) + "\n";
  write_text(scratch() / "lines.txt", text);
  Process process("embed " + encoder_file() + " --threads 1 --file " + (scratch() / "lines.txt").string(),
                  "MOTE_ISA=ref");
  TEST_ASSERT_TRUE(process.computes(kBusy));
  process.interrupt();
  TEST_ASSERT_TRUE(process.ends_within(kBusy + kSoon) < 1e9);
  TEST_ASSERT_TRUE(process.died_of(SIGINT));
  assert_whole_lines(process.out());
}

TEST_CASE("interrupt: a conversion leaves nothing, with and without nameless files", "[native]") {
  for (const std::string& nameless : naming_faults()) {
    for (const std::string at : {"pwrite:int:1", "pwrite:int:2", "fsync:int", "rename:int"}) {
      CAPTURE(at, nameless);
      const std::filesystem::path folder = scratch() / "interrupted_convert";
      std::filesystem::remove_all(folder);
      std::filesystem::create_directory(folder);
      Process process("convert " + golden("llama") + " -o " + (folder / "out").string(),
                      with_faults(at + nameless));
      TEST_ASSERT_TRUE(process.ends_within(60) < 1e9);
      TEST_ASSERT_TRUE(process.died_of(SIGINT));
      TEST_ASSERT_TRUE(names_in(folder).empty());
    }
  }
}
