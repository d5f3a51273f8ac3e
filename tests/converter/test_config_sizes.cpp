// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <fstream>
#include <limits>

#include "tests/support/golden_configs.h"
#include "tests/support/unity_style.h"

using nlohmann::json;

namespace {

/// Lets the process hold `bytes` more than now while it lives. A sanitizer's own memory has no such limit.
class MemoryLimit {
 public:
  explicit MemoryLimit([[maybe_unused]] uint64_t bytes) {
    REQUIRE(getrlimit(RLIMIT_DATA, &before_) == 0);
#ifndef MOTE_SANITIZED
    std::ifstream status("/proc/self/statm");
    uint64_t pages[6] = {};
    for (uint64_t& count : pages) status >> count;
    const rlimit now{pages[5] * 4096 + bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_DATA, &now) == 0);
#endif
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST("any number of any config.json may be the largest that is read: memory stays within the weights' budget",
     "[values]") {
  std::vector<test::ConfiguredModel> models = test::read_configured_models();
  REQUIRE(models.size() > 100);
  const MemoryLimit limit(uint64_t{1} << 30);
  uint32_t refused = 0;
  std::string without_bound;
  for (test::ConfiguredModel& model : models) {
    for (const std::string& path : model.paths) {
      const json::json_pointer key(path);
      if (!model.config->at(key).is_number_integer()) continue;
      for (const uint32_t value : {mote::convert::kMaxSize, 1u << 15}) {
        json changed = *model.config;
        changed.at(key) = value;
        try {
          test::build_configured(model, std::move(changed));
        } catch (const mote::convert::Error&) {
          ++refused;
        } catch (const std::bad_alloc&) {
          without_bound += model.name + path + " ";
        }
      }
    }
  }
  TEST_ASSERT_EQUAL_STRING("", without_bound.c_str());
  TEST_ASSERT_TRUE(refused > 1000);
}

TEST("a number that is no width of the neck is refused whatever it is") {
  std::vector<test::ConfiguredModel> models = test::read_configured_models();
  const auto found = std::find_if(models.begin(), models.end(), [](const test::ConfiguredModel& model) {
    return model.config->contains("neck_hidden_sizes");
  });
  REQUIRE(found != models.end());
  for (const double width : {-1.0, 0.0, 0.5, 16777217.0, 4294967296.0, 1e30, -1e30}) {
    json changed = *found->config;
    changed["neck_hidden_sizes"][0] = width;
    try {
      test::build_configured(*found, std::move(changed));
      FAIL("was read");
    } catch (const mote::convert::Error& error) {
      TEST_ASSERT_TRUE(std::string(error.what()).find("neck_hidden_sizes: ") != std::string::npos);
    }
  }
}
