// SPDX-License-Identifier: Apache-2.0
//
// ONNX files: what is read of them, and that a graph which computes something else than its config says is
// refused where it does. Those of tests/golden/models are converted and run by the golden tests.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/readers/readers.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(MOTE_SOURCE_DIR) / "tests/golden/models";
const fs::path kData = fs::path(MOTE_SOURCE_DIR) / "tests/converter/data";

/// A copy of a golden folder whose graph can be changed in places.
class OnnxFolder {
 public:
  explicit OnnxFolder(const std::string& model, const std::string& file = "model.onnx")
      : file_(file), bytes_(read_text(kModels / model / file)) {
    for (const auto& entry : fs::directory_iterator(kModels / model)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".json") || name.ends_with(".onnx"))
        write_text(directory_ / name, read_text(entry.path()));
    }
  }

  /// Text or bytes by others of the same length, the first or all; what is not there is a wrong test.
  void replace(const std::string& from, const std::string& to, bool all = false) {
    TEST_ASSERT_EQUAL_UINT64(from.size(), to.size());
    size_t count = 0;
    for (size_t at = bytes_.find(from); at != std::string::npos; at = bytes_.find(from, at + to.size())) {
      bytes_.replace(at, from.size(), to);
      ++count;
      if (!all) break;
    }
    TEST_ASSERT_TRUE(count != 0);
  }
  void replace(float from, float to) { replace(bytes_of(from), bytes_of(to)); }
  void cut(size_t bytes) { bytes_.resize(bytes); }
  size_t size() const { return bytes_.size(); }
  void set_config(const std::string& key, const nlohmann::json& value) {
    nlohmann::json config = nlohmann::json::parse(read_text(directory_ / "config.json"));
    config[key] = value;
    write_text(directory_ / "config.json", config.dump());
  }

  Source read() const {
    write_text(directory_ / file_, bytes_);
    return read_source(directory_.path());
  }
  std::string error() const {
    return message_of<Error>([&] { read(); });
  }
  /// With a file of tests/converter/data in the graph's place.
  Source read_other(const std::string& name) const {
    fs::remove(directory_ / file_);  // what was read of it stays mapped
    fs::copy_file(kData / name, directory_ / file_);
    return read_source(directory_.path());
  }
  fs::path path() const { return directory_.path(); }

 private:
  static std::string bytes_of(float value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

  TempDirectory directory_;
  std::string file_, bytes_;
};

std::vector<float> row_of(const SourceTensor& tensor, uint64_t row) {
  std::vector<float> values(tensor.cols());
  read_row(tensor, row, values);
  return values;
}

void check_contains(const std::string& text, const std::string& part) {
  INFO(text);
  TEST_ASSERT_TRUE(text.find(part) != std::string::npos);
}

}  // namespace

TEST("onnx: weights that lost their names get them back, as rows of outputs", "[onnx]") {
  for (const char* model : {"bert", "whisper"}) {
    const std::string file = std::string(model) == "bert" ? "model.onnx" : "encoder_model.onnx";
    const Source onnx = OnnxFolder(std::string(model) + "_onnx", file).read();
    const Source original = read_source(kModels / model);
    for (const auto& [name, tensor] : original.tensors) {
      INFO(name);
      REQUIRE(onnx.tensors.count(name) == 1);
      const SourceTensor& same = onnx.tensors.at(name);
      REQUIRE(same.shape == tensor.shape);
      for (uint64_t row = 0; row < tensor.rows(); ++row) REQUIRE(row_of(same, row) == row_of(tensor, row));
    }
  }
}

TEST("onnx: an encoder and its decoder are read together, whichever of them is named", "[onnx]") {
  const OnnxFolder folder("whisper_onnx", "encoder_model.onnx");
  const size_t tensors = folder.read().tensors.size();
  for (const char* file : {"encoder_model.onnx", "decoder_model_merged.onnx"})
    TEST_ASSERT_EQUAL_UINT64(tensors, read_source(folder.path() / file).tensors.size());
  fs::create_directory(folder.path() / "onnx");
  fs::rename(folder.path() / "encoder_model.onnx", folder.path() / "onnx/encoder_model.onnx");
  check_contains(message_of<Error>([&] { read_source(folder.path()); }), "onnx/decoder_model_merged.onnx");
  fs::rename(folder.path() / "decoder_model_merged.onnx", folder.path() / "onnx/decoder_model_merged.onnx");
  TEST_ASSERT_EQUAL_UINT64(tensors, read_source(folder.path()).tensors.size());
}

TEST("onnx: quantized convolutions and matrices of a pair keep their integers", "[onnx]") {
  const OnnxFolder folder("whisper_onnx", "encoder_model.onnx");
  const Source original = folder.read();
  for (const char* side : {"encoder", "decoder"})
    fs::copy_file(kData / fmt::format("whisper_{}_quantized.onnx", side),
                  folder.path() / fmt::format("{}_model_quantized.onnx", side));
  const Source source = read_source(folder.path() / "encoder_model_quantized.onnx");
  TEST_ASSERT_EQUAL_UINT64(1, source.notes.size());
  for (const char* name :
       {"model.encoder.conv2.weight", "model.encoder.layers.1.fc1.weight",
        "model.decoder.layers.0.encoder_attn.k_proj.weight", "model.decoder.embed_tokens.weight"}) {
    INFO(name);
    const SourceTensor &packed = source.tensors.at(name), &plain = original.tensors.at(name);
    REQUIRE(packed.shape == plain.shape);
    float least = 0.0f, most = 0.0f;
    for (uint64_t row = 0; row < plain.rows(); ++row) {
      for (const float value : row_of(plain, row)) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    const float step = (most - least) / 255.0f;
    for (uint64_t row = 0; row < plain.rows(); ++row) {
      const std::vector<float> values = row_of(packed, row), wanted = row_of(plain, row);
      for (size_t i = 0; i < values.size(); ++i) REQUIRE(std::abs(values[i] - wanted[i]) <= 1.01f * step);
    }
  }
}

TEST("onnx: a file is read with the config beside it, or beside its folder onnx", "[onnx]") {
  const OnnxFolder folder("bert_onnx");
  folder.read();
  TEST_ASSERT_TRUE(read_source(folder.path() / "model.onnx").tensors.size() > 10);
  fs::create_directory(folder.path() / "onnx");
  fs::rename(folder.path() / "model.onnx", folder.path() / "onnx/model.onnx");
  TEST_ASSERT_TRUE(read_source(folder.path() / "onnx/model.onnx").tensors.size() > 10);
  TEST_ASSERT_TRUE(read_source(folder.path()).tensors.size() > 10);
}

TEST("onnx: dynamically quantized weights keep their integers", "[onnx]") {
  const OnnxFolder folder("bert_onnx");
  const Source original = folder.read();
  const Source source = folder.read_other("bert_quantized.onnx");
  TEST_ASSERT_EQUAL_UINT64(1, source.notes.size());
  const std::string name = "encoder.layer.1.intermediate.dense.weight";
  const SourceTensor &packed = source.tensors.at(name), &plain = original.tensors.at(name);
  for (uint64_t row = 0; row < plain.rows(); ++row) {
    const std::vector<float> values = row_of(packed, row), wanted = row_of(plain, row);
    QuantRow exact;
    REQUIRE(has_exact_type(packed.type));
    read_exact_row(packed, row, exact);
    for (size_t i = 0; i < values.size(); ++i) {
      REQUIRE(values[i] == exact.row_scale * static_cast<float>(exact.q[i]));
      REQUIRE(std::abs(values[i] - wanted[i]) <= 0.5001f * exact.row_scale);
    }
  }
}

TEST("onnx: a graph in half precision has the config's numbers as near as that can be", "[onnx]") {
  OnnxFolder folder("bert_onnx");
  const Source original = folder.read();
  const Source source = folder.read_other("bert_half.onnx");
  for (const auto& [name, tensor] : original.tensors) {
    INFO(name);
    const std::vector<float> values = row_of(source.tensors.at(name), 0), wanted = row_of(tensor, 0);
    for (size_t i = 0; i < values.size(); ++i)
      REQUIRE(std::abs(values[i] - wanted[i]) <= 0x1p-11f * std::abs(wanted[i]) + 0x1p-24f);
  }
  folder.set_config("num_attention_heads", 2);  // which changes the scale too
  check_contains(message_of<Error>([&] { read_source(folder.path()); }), "heads");
}

TEST("onnx: a graph that differs from its config is refused with the operator and the node", "[onnx]") {
  const auto differs = [](const char* model, const auto& change, const std::string& expected) {
    OnnxFolder folder(model);
    change(folder);
    check_contains(folder.error(), expected);
  };
  differs(
      "bert_onnx", [](auto& f) { f.replace(1e-12f, 1e-5f); }, "(Add): epsilon is 1e-05, the config's 1e-12");
  differs(
      "bert_onnx", [](auto& f) { f.set_config("layer_norm_eps", 1e-6); }, "(Add): epsilon is 1e-12");
  differs(
      "bert_onnx", [](auto& f) { f.replace(std::sqrt(8.0f), 3.0f); },
      "(MatMul): scores are multiplied by 0.333");
  differs(
      "bert_onnx",
      [](auto& f) {
        f.replace(
            "\x22\x03"
            "Erf",
            "\x22\x03"
            "Exp");
      },
      "/encoder/layer.0/act_fn/Mul_");
  differs(
      "bert_onnx", [](auto& f) { f.set_config("hidden_act", "relu"); }, "activation of encoder.layer.1");
  differs(
      "bert_onnx", [](auto& f) { f.set_config("num_attention_heads", 2); }, "heads");
  differs(
      "bert_onnx", [](auto& f) { f.set_config("num_hidden_layers", 1); },
      "where the config implies encoder.layer.0.");
  differs(
      "bert_onnx", [](auto& f) { f.replace(std::numeric_limits<float>::lowest(), -10.0f); },
      "the mask leaves in row");
  differs(
      "bert_onnx",
      [](auto& f) {
        f.replace(
            "\x22\x04"
            "Tanh",
            "\x22\x04"
            "Sinh");
      },
      "node /pooler/activation/Tanh_");
  differs(
      "gpt2_onnx", [](auto& f) { f.replace(0.044715f, 0.05f); }, "(Mul): the activation of transformer.h.0");
  differs(
      "gpt2_onnx", [](auto& f) { f.set_config("scale_attn_weights", false); }, "scores are multiplied by");
  differs(
      "vit_classifier_onnx", [](auto& f) { f.set_config("patch_size", 4); }, "");
  differs(
      "vit_classifier_onnx", [](auto& f) { f.set_config("qkv_bias", false); }, "a bias that the config");
}

TEST("onnx: an encoder or a decoder that differs from its config is refused with the node", "[onnx]") {
  const auto differs = [](const char* file, const auto& change, const std::string& expected) {
    OnnxFolder folder("whisper_onnx", file);
    change(folder);
    check_contains(folder.error(), expected);
  };
  const auto config = [&](const char* key, const nlohmann::json& value, const std::string& expected) {
    differs(
        "encoder_model.onnx", [&](auto& f) { f.set_config(key, value); }, expected);
  };
  config("activation_function", "relu", "the activation of model.encoder.layers.1.fc1");
  config("encoder_layers", 1, "(Add): model.encoder.embed_positions.weight should be added");
  config("decoder_layers", 1, "that the config does not imply");
  config("encoder_attention_heads", 2, "heads");
  config("num_mel_bins", 8, "(Conv)");
  config("max_source_positions", 20, "(Add): shapes that do not fit");
  config("model_type", "bart", "the input input_features is not supported");
  differs(
      "encoder_model.onnx", [](auto& f) { f.replace("strides@\x02", "strides@\x01"); }, "encoder_model.onnx");
  differs(
      "decoder_model_merged.onnx", [](auto& f) { f.replace(std::numeric_limits<float>::lowest(), -10.0f); },
      "the mask leaves in row");
}

TEST("onnx: what is of another shape is refused by name", "[onnx]") {
  OnnxFolder folder("bert_onnx");
  write_text(folder.path() / "config.json", R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 32,
      "intermediate_size": 76, "num_hidden_layers": 2, "num_attention_heads": 4})");
  check_contains(folder.error(), "RoPE are not");
}

TEST("onnx: weights in a file beside are read within its bounds", "[onnx]") {
  const TempDirectory directory;
  write_text(directory / "config.json", R"({"model_type": "bert", "hidden_size": 4, "num_attention_heads": 2,
      "num_hidden_layers": 1, "intermediate_size": 6, "vocab_size": 12, "max_position_embeddings": 8})");
  fs::copy_file(fs::path(MOTE_SOURCE_DIR) / "tests/fuzz/corpus/onnx/bert", directory / "model.onnx");
  const Source whole = read_source(directory.path());
  const std::string graph = read_text(kData / "bert_external.onnx");
  const std::string data = read_text(kData / "bert_external.data");
  fs::remove(directory / "model.onnx");  // which stays mapped
  write_text(directory / "model.onnx", graph);
  const auto error = [&] { return message_of<Error>([&] { read_source(directory.path()); }); };
  TEST_ASSERT_TRUE(!error().empty());
  write_text(directory / "bert_external.data", data);
  const Source apart = read_source(directory.path());
  for (const auto& [name, tensor] : whole.tensors)
    REQUIRE(row_of(apart.tensors.at(name), tensor.rows() - 1) == row_of(tensor, tensor.rows() - 1));
  fs::remove(directory / "bert_external.data");
  write_text(directory / "bert_external.data", data.substr(0, data.size() / 2));
  check_contains(error(), "it is cut, fetch it again");
  std::string elsewhere = graph;
  for (size_t at; (at = elsewhere.find("bert_external.data")) != std::string::npos;)
    elsewhere.replace(at, 18, "../../../etc/hosts");
  fs::remove(directory / "model.onnx");
  write_text(directory / "model.onnx", elsewhere);
  check_contains(error(), "must be one of the same directory");
}

TEST("onnx: cut files are refused with a message, wherever they end", "[onnx]") {
  const OnnxFolder whole("bert_onnx");
  for (size_t i = 1; i < 40; ++i) {
    OnnxFolder folder("bert_onnx");
    folder.cut(whole.size() * i / 40);
    INFO(i);
    TEST_ASSERT_TRUE(!folder.error().empty());
  }
}
