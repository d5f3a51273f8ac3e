// SPDX-License-Identifier: Apache-2.0
//
// Every golden model that converts, found by listing their folder: a new one is in all tests that walk them.
// MOTE_TEST_SHARE=N in the environment has each test walk every N-th, a test others than the next one, which
// is for builds that take a hundred times as long.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "host/base/error.h"
#include "runtime/file/model.h"
#include "tests/support/test_model.h"

namespace test {

/// N of a run whose tests walk every N-th golden model, 1 where they walk all.
inline size_t golden_share() {
  const char* text = std::getenv("MOTE_TEST_SHARE");
  return text == nullptr ? 1 : std::max(1ul, std::strtoul(text, nullptr, 10));
}

/// The folders of the golden models that a test walks, in order.
inline std::vector<std::string> every_golden() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  const size_t share = golden_share();
  size_t number = std::hash<std::string>{}(Catch::getResultCapture().getCurrentTestName());
  const auto left_out = [&](const std::string&) { return number++ % share != 0; };
  names.erase(std::remove_if(names.begin(), names.end(), left_out), names.end());
  return names;
}

/// The files of a golden model: one, or one of each tower.
inline std::vector<AlignedBytes> golden_files(const std::string& name, const std::string& type) {
  std::vector<AlignedBytes> files;
  const std::vector<std::string> two = golden_names("multimodal");
  const bool also_towers = std::find(two.begin(), two.end(), name) != two.end();
  for (const std::string tower : {"", "vision", "audio", "text"}) {
    mote::convert::ConvertOptions options;
    options.type = type;
    options.tower = tower;
    try {
      files.push_back(kept_conversion(name + "." + type + ".every" + tower, golden_folder() / name, options));
    } catch (const mote::convert::Error&) {
      continue;  // of two towers none is taken without its name
    }
    if (tower.empty() && !also_towers) break;
  }
  return files;
}

/// f(model) for each file of each golden model in that type; every one has a file.
template <class F>
void each_golden(const std::string& type, F f) {
  for (const std::string& name : every_golden()) {
    CAPTURE(name, type);
    const std::vector<AlignedBytes> files = golden_files(name, type);
    REQUIRE(!files.empty());
    for (const AlignedBytes& file : files) f(OpenModel(file, 0));
  }
}

/// Requires that a walk over all golden models met more than `count` of a kind.
inline void require_met_more(uint32_t count, uint64_t met) {
  if (golden_share() == 1) REQUIRE(met > count);
}

/// The types of caches that the model takes: those whose columns fit its heads. One stands for all where it
/// has no cache.
inline std::vector<mote_kv_dtype> cache_types(const OpenModel& model) {
  std::vector<mote_kv_dtype> types;
  for (const mote_kv_dtype type : {MOTE_KV_F32, MOTE_KV_F16, MOTE_KV_BF16, MOTE_KV_I8}) {
    const uint32_t side_by_side = type == MOTE_KV_I8 ? 4 : type == MOTE_KV_BF16 ? 2 : 1;
    bool fits = true;
    for (const auto* state : *model.get()->root->states()) {
      const bool other = state->key_dim() % side_by_side != 0 || state->value_dim() % side_by_side != 0;
      fits = fits && (mote::is_fixed(*state) || !other);
    }
    mote_session_options options = mote_session_options_default(model.get());
    options.kv_dtype = type;
    const bool taken = mote_session_bytes(model.get(), &options) != 0;
    REQUIRE(taken == fits);
    if (taken) types.push_back(type);
    if (!mote::has_kv(*model.get()->root)) break;
  }
  return types;
}

/// The number of a thing by what it is of, of any bits.
inline uint32_t mixed(uint32_t a, uint32_t b) {
  uint32_t x = a * 2654435761u ^ (b + 1) * 2246822519u;
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ x >> 13;
}

/// What row `position` of a text is: an id, and floats from -1 to 1.
inline int32_t id_of(uint32_t text, uint32_t position, uint32_t vocab) {
  return static_cast<int32_t>(mixed(text, position) % vocab);
}
inline void add_values(uint32_t text, uint32_t position, uint32_t width, std::vector<float>* values) {
  for (uint32_t i = 0; i < width; ++i)
    values->push_back(static_cast<float>(mixed(mixed(text, position), i) % 2001) / 1000.0f - 1.0f);
}

}  // namespace test
