// SPDX-License-Identifier: Apache-2.0
//
// Calls of mote/host.h in tests.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mote/convert.h"
#include "mote/host.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

namespace mote::testing {

using nlohmann::json;

/// A result that is freed.
class Got {
 public:
  explicit Got(mote_host_result* result) : result_(result, mote_host_free) {}
  mote_status status() const { return mote_host_status(result_.get()); }
  std::string sentence() const { return mote_host_sentence(result_.get()); }
  json answer() const { return json::parse(mote_host_json(result_.get())); }
  std::vector<float> values() const {
    uint64_t count = 0;
    const float* values = mote_host_values(result_.get(), &count);
    return {values, values + count};
  }
  std::string bytes() const {
    uint64_t count = 0;
    const void* bytes = mote_host_bytes(result_.get(), &count);
    return {static_cast<const char*>(bytes), static_cast<size_t>(count)};
  }

 private:
  std::unique_ptr<mote_host_result, void (*)(mote_host_result*)> result_;
};

inline void assert_fails(const Got& got, mote_status status, const std::string& part) {
  INFO(got.sentence());
  TEST_ASSERT_EQUAL(status, got.status());
  TEST_ASSERT_TRUE(got.sentence().find(part) != std::string::npos);
  TEST_ASSERT_TRUE(got.answer().is_null());
}

inline json assert_ok(const Got& got) {
  INFO(got.sentence());
  TEST_ASSERT_EQUAL(MOTE_OK, got.status());
  return got.answer();
}

inline mote_host_input text(const char* words) {
  mote_host_input input = {};
  input.text = words;
  return input;
}

/// Returns a folder of this process for converted models, which goes with it.
inline const std::filesystem::path& models_folder() {
  static const TempDirectory made;
  return made.path();
}

/// A golden model with the small tokenizer and a long context, converted once.
inline std::string model_file(const std::string& name, const char* options) {
  const std::filesystem::path folder = models_folder() / "host" / name;
  const std::filesystem::path file = folder / "out.mote";
  if (std::filesystem::exists(file)) return file;
  const std::filesystem::path golden = std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden";
  std::filesystem::create_directories(folder.parent_path());
  std::filesystem::copy(golden / "models" / name, folder, std::filesystem::copy_options::recursive);
  std::filesystem::copy(golden / "tokenizers/small/tokenizer.json", folder,
                        std::filesystem::copy_options::overwrite_existing);
  std::ifstream in(folder / "config.json");
  nlohmann::json config = nlohmann::json::parse(in);
  if (name == "llama") config["max_position_embeddings"] = 2048;
  std::ofstream(folder / "config.json") << config;
  mote_convert_result* done = mote_convert(folder.c_str(), file.c_str(), options, nullptr);
  INFO(mote_convert_sentence(done));
  TEST_ASSERT_EQUAL(MOTE_OK, mote_convert_status(done));
  mote_convert_free(done);
  return file;
}
inline std::string decoder() { return model_file("llama", R"({"type": "q8", "chat-format": "zephyr"})"); }
inline std::string encoder() { return model_file("mpnet_sentence", R"({"type": "f32"})"); }

class Opened {
 public:
  explicit Opened(const std::string& path, const char* options = nullptr) {
    assert_ok(Got(mote_host_open(path.c_str(), options, &model_)));
  }
  ~Opened() { mote_host_close(model_); }
  mote_host* get() const { return model_; }

 private:
  mote_host* model_ = nullptr;
};

}  // namespace mote::testing
