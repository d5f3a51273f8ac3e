// SPDX-License-Identifier: Apache-2.0
//
// Numbers of threads: those asked for, those that mote bench --tune found, and what becomes of its file.
#include <fstream>

#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

std::string llama() { return converted("llama", "f32"); }

/// An empty folder for the user's cache, and the words that make a command use it.
struct Cache {
  TempDirectory folder;
  std::string before = "XDG_CACHE_HOME='" + folder.path().string() + "'";
  std::filesystem::path file = folder.path() / "mote" / "threads.json";

  Outcome run(const std::string& arguments) const { return mote::testing::run(arguments, before); }
  void write(const std::string& text) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
};

const char* const kRun = " --ids 1,2,3 -n 4 --ignore-stop --json";

}  // namespace

TEST_CASE("threads: those asked for, of which fewer may decode, give the same ids") {
  const Cache cache;
  const json one = assert_json(cache.run("run " + llama() + kRun + " --threads 1"));
  TEST_ASSERT_EQUAL_INT(1, one.at("decode_threads").get<int>());
  const json fewer = assert_json(cache.run("run " + llama() + kRun + " --threads 3 --decode-threads 2"));
  TEST_ASSERT_EQUAL_INT(3, fewer.at("threads").get<int>());
  TEST_ASSERT_EQUAL_INT(2, fewer.at("decode_threads").get<int>());
  TEST_ASSERT_TRUE(fewer.at("output_ids") == one.at("output_ids"));
  const json all = assert_json(cache.run("run " + llama() + kRun + " --threads 3"));
  TEST_ASSERT_EQUAL_INT(3, all.at("decode_threads").get<int>());
  assert_fails(cache.run("run " + llama() + kRun + " --threads 2 --decode-threads 3"), 2,
               "--decode-threads: 3 of 2 threads");
}

TEST_CASE("threads: what bench --tune finds becomes the default of that model alone") {
  const Cache cache;
  const json found =
      assert_json(cache.run("bench " + llama() + " --tune --prompt 8 --decode 2 --repeat 1 --json"));
  TEST_ASSERT_EQUAL_STRING(cache.file.string(), found.at("kept_in").get<std::string>());
  const int threads = found.at("threads").get<int>(), decode_threads = found.at("decode_threads").get<int>();
  TEST_ASSERT_TRUE(decode_threads >= 1 && decode_threads <= threads);
  TEST_ASSERT_EQUAL_INT(1, found.at("tried")[0].at("threads").get<int>());

  json kept = json::parse(read_text(cache.file.string()));
  for (auto& counts : kept.at("models")) counts = {1, 1};
  cache.write(kept.dump());
  const Outcome tuned = cache.run("run " + llama() + kRun);
  TEST_ASSERT_EQUAL_INT(1, assert_json(tuned).at("threads").get<int>());
  TEST_ASSERT_EQUAL_INT(
      2, assert_json(cache.run("run " + llama() + kRun + " --threads 2")).at("threads").get<int>());
  const Outcome other = cache.run("run " + converted("gpt2", "f32") + kRun);
  const Outcome untuned = Cache().run("run " + converted("gpt2", "f32") + kRun);
  TEST_ASSERT_TRUE(assert_json(other).at("threads") == assert_json(untuned).at("threads"));
  TEST_ASSERT_EQUAL_STRING("", other.err);

  const std::string text =
      assert_works(cache.run("bench " + llama() + " --tune --prompt 8 --decode 2 --repeat 1"));
  TEST_ASSERT_TRUE(contains(text, "fastest: --threads "));
}

TEST_CASE("threads: a damaged or stale file of bench --tune is ignored with a note, and written anew") {
  const Cache cache;
  const std::string tune = "bench " + llama() + " --tune --prompt 8 --decode 0 --repeat 1 --json";
  assert_works(cache.run(tune));
  const json kept = json::parse(read_text(cache.file.string()));
  json stale = kept, wrong = kept;
  stale["machine"] = "another, 64 cores, 64 of them big";
  for (auto& counts : wrong.at("models")) counts = {1, 100000};
  const std::pair<std::string, std::string> cases[] = {{"", "damaged"},
                                                       {"{\"version\": 1", "damaged"},
                                                       {"[1, 2]", "damaged"},
                                                       {"{\"version\": 1, \"machine\": 3}", "damaged"},
                                                       {stale.dump(), "other cores or kernels"},
                                                       {wrong.dump(), "damaged for this model"}};
  for (const auto& [text, part] : cases) {
    CAPTURE(text);
    cache.write(text);
    const Outcome outcome = cache.run("run " + llama() + kRun);
    assert_works(outcome);
    TEST_ASSERT_TRUE(contains(outcome.err, part));
    assert_works(cache.run(tune));
    TEST_ASSERT_EQUAL_STRING("", cache.run("run " + llama() + kRun).err);
  }
  assert_fails(run(tune, "env -u XDG_CACHE_HOME -u HOME"), 1, "to keep the result in");
}

TEST_CASE("bench: the last line has what a report takes") {
  const std::string text = assert_works(
      Cache().run("bench " + llama() + " --prompt 8 --decode 4 --repeat 1 --threads 2 --decode-threads 1"));
  const size_t at = text.find("to paste: mote ");
  TEST_ASSERT_TRUE(at != std::string::npos);
  const std::string line = text.substr(at);
  TEST_ASSERT_EQUAL_UINT64(line.size() - 1, line.find('\n'));
  for (const char* part : {"| 2 threads, 1 to decode |", "| prompt 8: ", "| decode 4: ", "GB/s"}) {
    TEST_ASSERT_TRUE(contains(line, part));
  }
}
