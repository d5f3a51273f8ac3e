// SPDX-License-Identifier: Apache-2.0
//
// Packed checkpoints in tests/written with the quantization_config that tools write now
// (scripts/make_written_packed).
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "host/base/error.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/files.h"
#include "tests/support/written.h"

namespace {

namespace fs = std::filesystem;

/// The message of converting the checkpoint with other keys in its quantization_config.
std::string packed_error(const std::string& name, const nlohmann::json& changes) {
  const mote::testing::TempDirectory directory;
  const fs::path folder = directory / "model";
  fs::copy(test::written_folder() / name, folder);
  nlohmann::json config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
  config["quantization_config"].update(changes);
  std::ofstream(folder / "config.json") << config;
  return mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(folder, directory / "out.mote", {}); });
}

}  // namespace

TEST("written: packed checkpoints with the keys that tools write now give the dequantized weights' logits") {
  test::check_all_written("packed_", 14);
}

TEST("convert: matrices whose inputs a file rounds by several scales are multiplied one by one") {
  const auto roundings = [](const char* name) {
    mote::convert::ConvertOptions options;
    options.type = "f32";
    const auto file =
        test::kept_conversion(std::string("written_") + name, test::written_folder() / name, options);
    size_t count = 0;
    for (const auto* op : *mote::file::GetSizePrefixedModel(file.data())->programs()->Get(0)->ops())
      count += op->args_type() == mote::file::OpArgs::Round;
    return count;
  };
  TEST_ASSERT_EQUAL_UINT64(4, roundings("packed_fp8_static"));    // of q, k and v; o; gate and up; down
  TEST_ASSERT_EQUAL_UINT64(5, roundings("packed_float_static"));  // k has a scale of its own
}

TEST("convert: keys of a quantization_config that change numbers are refused by name") {
  const auto refused = [](const char* name, const nlohmann::json& changes, const char* key) {
    CAPTURE(name, key);
    TEST_ASSERT_TRUE(packed_error(name, changes).find(std::string("quantization_config.") + key) !=
                     std::string::npos);
  };
  refused("packed_gptq_dynamic", {{"dynamic", {{"+:.*up_proj", {{"bits", 4}}}}}}, "dynamic");
  refused("packed_gptq_dynamic", {{"dynamic", {{".*up_proj", {{"group_size", 32}}}}}}, "dynamic");
  refused("packed_gptq", {{"rotation", "hadamard"}}, "rotation");
  refused("packed_awq_gptqmodel", {{"version", "gemv"}}, "version");
  refused("packed_awq_gptqmodel", {{"format", "gemv_fast"}}, "format");
  refused("packed_fp8_transformers", {{"activation_scheme", "local"}}, "activation_scheme");
  refused("packed_fp8_transformers", {{"expert_dtype", "mxfp4"}}, "expert_dtype");
  refused("packed_bitnet_online", {{"use_rms_norm", true}}, "use_rms_norm");
}
