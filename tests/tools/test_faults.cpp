// SPDX-License-Identifier: Apache-2.0
//
// What commands make of system calls that fail and of files that change under them: one message, exit 1, and
// no file that was not there before.
#include <cstring>

#include "tests/tools/faults.h"

using namespace mote::testing;

namespace {

constexpr int kFailed = 1;

struct Fault {
  const char* call;
  int error;
};

constexpr Fault kOutputFaults[] = {
    {"pwrite", ENOSPC}, {"pwrite", EIO}, {"fsync", EIO}, {"fsync_directory", EIO}, {"rename", EACCES}};

/// An empty folder of its own.
std::filesystem::path fresh_folder() {
  static int count = 0;
  const std::filesystem::path folder = scratch() / ("faults" + std::to_string(++count));
  std::filesystem::create_directory(folder);
  return folder;
}

/// Runs a command that writes a file, with each fault, with and without nameless files.
void assert_nothing_left(const std::string& command) {
  for (const Fault& each : kOutputFaults) {
    for (const std::string& nameless : naming_faults()) {
      CAPTURE(command, each.call, each.error, nameless);
      const std::filesystem::path folder = fresh_folder();
      const std::string faults = fault(each.call, each.error) + nameless;
      const Outcome outcome = run(command + (folder / "out").string(), with_faults(faults));
      assert_fails(outcome, kFailed, (folder / "out").string() + ": " + std::strerror(each.error));
      TEST_ASSERT_TRUE(names_in(folder).empty());
    }
  }
}

/// A copy of a golden model's directory.
std::string copy_of_llama() {
  const std::filesystem::path folder = fresh_folder() / "model";
  std::filesystem::copy(golden("llama"), folder, std::filesystem::copy_options::recursive);
  return folder.string();
}

std::string copy_of(const std::string& model) {
  const std::filesystem::path path = fresh_folder() / "copy.mote";
  std::filesystem::copy_file(model, path);
  return path.string();
}

}  // namespace

TEST_CASE("faults: a conversion that cannot write leaves nothing", "[native]") {
  assert_nothing_left("convert " + golden("llama") + " --type q8 -o ");
}

TEST_CASE("faults: an encoder's conversion, which writes a second file, leaves neither", "[native]") {
  assert_nothing_left("convert " + golden("bert") + " --type q8 -o ");
}

TEST_CASE("faults: a state that cannot be saved leaves nothing", "[native]") {
  assert_nothing_left("run " + converted("llama", "f32") + " --ids 1,2,3 -n 2 --save-state ");
}

TEST_CASE("faults: a conversion that cannot write keeps the file that was there", "[native]") {
  for (const Fault& each : kOutputFaults) {
    if (std::strcmp(each.call, "fsync_directory") == 0) continue;  // the new file is in its place by then
    const std::filesystem::path folder = fresh_folder();
    write_text(folder / "out", "old");
    const Outcome outcome = run("convert " + golden("llama") + " -o " + (folder / "out").string(),
                                with_faults(fault(each.call, each.error)));
    assert_fails(outcome, kFailed, std::strerror(each.error));
    TEST_ASSERT_EQUAL_STRING("old", read_text(folder / "out"));
    TEST_ASSERT_EQUAL_SIZE_T(1, names_in(folder).size());
  }
}

TEST_CASE("faults: a file that cannot be mapped is named", "[native]") {
  const std::string model = copy_of(converted("llama", "f32"));
  const std::string no_memory = with_faults(fault("mmap", ENOMEM));
  for (const std::string command : {"run --ids 1 ", "inspect ", "verify ", "bench "}) {
    CAPTURE(command);
    assert_fails(run(command + model, no_memory), kFailed, model + ": " + std::strerror(ENOMEM));
  }
  const std::string source = copy_of_llama();
  const std::filesystem::path folder = fresh_folder();
  assert_fails(run("convert " + source + " -o " + (folder / "out").string(), no_memory), kFailed,
               source + "/config.json: " + std::strerror(ENOMEM));
  TEST_ASSERT_TRUE(names_in(folder).empty());
}

TEST_CASE("faults: an arena that there is no memory for is said with its size", "[native]") {
  const Outcome outcome =
      run("run --threads 1 --ids 1 " + converted("llama", "f32"), with_faults(fault("arena", ENOMEM)));
  assert_fails(outcome, kFailed, "not enough memory: the session needs");
}

TEST_CASE("faults: a model that is cut short while it runs is a failure with its name", "[native]") {
  std::string ids = "1";
  for (int i = 0; i < 60; ++i) ids += ",2";
  for (const std::string command : {"run --threads 1 --ids ", "run --threads 3 --ids "}) {
    const std::string model = copy_of(converted("llama", "f32"));
    assert_fails(run(command + ids + " " + model, with_faults("mmap:cut")), kFailed,
                 model + ": cut short while it was in use");
  }
}

TEST_CASE("faults: a source that is cut short while it is converted is a failure that leaves nothing",
          "[native]") {
  for (const std::string& nameless : naming_faults()) {
    const std::string source = copy_of_llama();
    const std::filesystem::path folder = fresh_folder();
    // The first file of weights to be mapped is the fourth file, after two configurations and the index.
    const Outcome outcome =
        run("convert " + source + " -o " + (folder / "out").string(), with_faults("mmap:cut:4" + nameless));
    assert_fails(outcome, kFailed, ".safetensors: cut short while it was in use");
    TEST_ASSERT_TRUE(contains(outcome.err, source + "/model-0000"));
    TEST_ASSERT_TRUE(names_in(folder).empty());
  }
}
