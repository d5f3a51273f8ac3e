// SPDX-License-Identifier: Apache-2.0
//
// Calls of mote/host.h in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mote/host.h"
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
