// SPDX-License-Identifier: Apache-2.0
//
// The whole pipeline: what it writes opens, runs and proves itself; what it refuses leaves nothing behind.
#include "converter/convert.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <set>

#include "converter/readers/safetensors.h"
#include "converter/source.h"
#include "host/base/error.h"
#include "mote/mote.h"
#include "schema/block_formats.h"
#include "schema/f16.h"
#include "schema/mote_generated.h"
#include "tests/support/families.h"
#include "tests/support/files.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/models" / name;
}

std::set<std::string> names_in(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename().string());
  return names;
}

/// A converted file under the runtime.
class Opened {
 public:
  explicit Opened(const std::filesystem::path& path) : file_(path), storage_(mote_model_bytes() / 8 + 1) {
    mote_error error{};
    const mote_status status =
        mote_model_open(file_.bytes().data(), file_.bytes().size(), MOTE_OPEN_CHECK_HASHES, storage_.data(),
                        storage_.size() * 8, &model_, &error);
    TEST_ASSERT_EQUAL_STRING("", status == MOTE_OK ? "" : error.text);
  }
  const mote_model* model() const { return model_; }
  const file::Model* root() const { return file::GetSizePrefixedModel(file_.bytes().data()); }
  const std::byte* segment() const {
    return file_.bytes().data() + file_.bytes().size() - root()->segment_bytes();
  }
  const file::Tensor* tensor(const std::string& name) const {
    for (const file::Tensor* tensor : *root()->tensors()) {
      if (tensor->name()->str() == name) return tensor;
    }
    return nullptr;
  }
  mote_self_test self_test(mote_isa isa) const {
    mote_session_options options = mote_session_options_default(model_);
    options.isa = isa;
    const size_t bytes = mote_session_bytes(model_, &options);
    std::vector<std::byte> memory(bytes + MOTE_ALIGNMENT);
    void* arena = memory.data();
    size_t space = memory.size();
    arena = std::align(MOTE_ALIGNMENT, bytes, arena, space);
    mote_session* session = nullptr;
    mote_error error{};
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_init(model_, &options, arena, bytes, &session, &error));
    mote_self_test result{};
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_self_test(session, &result, &error));
    return result;
  }

 private:
  MappedFile file_;
  std::vector<uint64_t> storage_;
  mote_model* model_ = nullptr;
};

std::string convert_error(const TinyLlama& model, const std::string& type = "") {
  const TempDirectory directory;
  model.write(directory / "model");
  const std::string message = message_of<Error>([&] {
    convert::convert(directory / "model", directory / "out.mote", {type, {}});
  });
  TEST_ASSERT_TRUE(names_in(directory.path()) == std::set<std::string>{"model"});
  return message;
}

}  // namespace

TEST("convert: every golden model in every type opens and passes its own test on every kernel family") {
  for (const char* name : {"llama", "llama_bias", "llama_rope_llama3", "llama_rope_yarn", "llama_rope_linear",
                           "mistral", "qwen2", "qwen3", "gpt2"}) {
    for (const std::string& type : type_names()) {
      const TempDirectory directory;
      const std::filesystem::path output = directory / "out.mote";
      const ConvertReport report = convert::convert(golden(name), output, {type, {}});
      TEST_ASSERT_EQUAL_STRING(name, report.name);
      TEST_ASSERT_EQUAL_STRING(type, report.type);
      TEST_ASSERT_EQUAL_UINT64(std::filesystem::file_size(output), report.file_bytes);
      TEST_ASSERT_TRUE(names_in(directory.path()) == std::set<std::string>{"out.mote"});
      const Opened opened(output);
      TEST_ASSERT_EQUAL_FLOAT(0.0f, opened.self_test(MOTE_ISA_REF).largest_difference);
      for (const mote_isa isa : ::test::all_families()) {
        const mote_self_test result = opened.self_test(isa);
        CAPTURE(name, type, mote_isa_name(isa));
        TEST_ASSERT_EQUAL_UINT32(result.ids, result.equal_ids);
      }
    }
  }
}

TEST("convert: the same source gives the same bytes, and another type another hash") {
  const TempDirectory directory;
  convert::convert(golden("qwen2"), directory / "a.mote", {"q4", {}});
  convert::convert(golden("qwen2"), directory / "b.mote", {"q4", {}});
  convert::convert(golden("qwen2"), directory / "c.mote", {"q8", {}});
  TEST_ASSERT_TRUE(read_text(directory / "a.mote") == read_text(directory / "b.mote"));
  const uint64_t hash = Opened(directory / "a.mote").root()->content_hash();
  TEST_ASSERT_NOT_EQUAL(0u, hash);
  TEST_ASSERT_NOT_EQUAL(hash, Opened(directory / "c.mote").root()->content_hash());
}

TEST("convert: the report has every tensor, its bits and its error, and the arena by context") {
  const TempDirectory directory;
  TinyLlama().write(directory / "model");
  std::vector<double> shares;
  const ConvertReport report =
      convert::convert(directory / "model", directory / "out.mote",
                       {"q4", [&](const std::string&, double share) { shares.push_back(share); }});
  TEST_ASSERT_EQUAL_STRING("llama", report.architecture);
  TEST_ASSERT_EQUAL_UINT64(1 + 1 + 2 * 6 + 2, report.tensors.size());
  for (const TensorReport& tensor : report.tensors) {
    const bool matrix = tensor.rows > 1;
    const bool table = tensor.name == "embedding" || tensor.name == "head";
    TEST_ASSERT_EQUAL_STRING(!matrix ? "f32" : table ? "q8g32" : "q4g32", tensor.type);
    TEST_ASSERT_LESS_THAN(!matrix ? 1e-9 : table ? 0.01 : 0.12, tensor.relative_error);
    TEST_ASSERT_GREATER_OR_EQUAL(4.5, tensor.bits_per_weight);
  }
  TEST_ASSERT_EQUAL_UINT32(64, report.memory.back().context);
  TEST_ASSERT_GREATER_THAN(0u, report.memory.back().arena_bytes);
  TEST_ASSERT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  TEST_ASSERT_EQUAL(1.0, shares.back());
}

TEST("convert: a file has LongRoPE's short factors up to the old context, or on request the long ones") {
  const TempDirectory directory;
  const std::filesystem::path output = directory / "out.mote";
  const auto context_of = [&] { return Opened(output).root()->context(); };
  ConvertOptions options;
  options.type = "f32";
  const ConvertReport near = convert::convert(golden("phi3_longrope"), output, options);
  TEST_ASSERT_EQUAL_UINT32(16, context_of());
  options.long_context = true;
  const ConvertReport far = convert::convert(golden("phi3_longrope"), output, options);
  TEST_ASSERT_EQUAL_UINT32(52, context_of());
  TEST_ASSERT_TRUE(near.notes.back().find("16 of 52 tokens") != std::string::npos);
  TEST_ASSERT_TRUE(far.notes.back().find("up to 16 tokens") != std::string::npos);
  TEST_ASSERT_TRUE(message_of<Error>([&] {
                     convert::convert(golden("llama"), output, options);
                   }).find("--long-context") != std::string::npos);
}

TEST("convert: a head that the config ties and the file does not is kept, and said") {
  const TempDirectory directory;
  const auto report_of = [&](const char* name) {
    return convert::convert(golden(name), directory / "out.mote", {"f32", {}});
  };
  const auto has_head = [](const ConvertReport& report) {
    return std::any_of(report.tensors.begin(), report.tensors.end(),
                       [](const TensorReport& tensor) { return tensor.name == "head"; });
  };
  const ConvertReport two = report_of("llama_two_heads"), one = report_of("llama_head_only");
  TEST_ASSERT_TRUE(has_head(two) && !has_head(one));
  TEST_ASSERT_TRUE(one.notes.empty());
  TEST_ASSERT_EQUAL_UINT64(1, two.notes.size());
  TEST_ASSERT_TRUE(two.notes[0].find("ties lm_head.weight to model.embed_tokens.weight") !=
                   std::string::npos);
}

TEST("convert: f32 weights come back bit for bit from their panels, transposed ones too") {
  const TempDirectory directory;
  convert::convert(golden("gpt2"), directory / "out.mote", {"f32", {}});
  const Opened opened(directory / "out.mote");
  const SafetensorsFile source(golden("gpt2") / "model.safetensors");
  const std::vector<float> conv = source.f32("transformer.h.1.mlp.c_fc.weight");  // [in, out]
  const file::Tensor* tensor = opened.tensor("layer.1.up");
  TEST_ASSERT_TRUE(tensor->rows() == 76 && tensor->cols() == 40);
  const float* packed = reinterpret_cast<const float*>(opened.segment() + tensor->offset());
  for (size_t n = 0; n < 76; ++n) {
    for (size_t k = 0; k < 40; ++k) {
      const float value = packed[(n / 16 * 40 + k) * 16 + n % 16];
      if (value != conv[k * 76 + n]) TEST_ASSERT_EQUAL_FLOAT(conv[k * 76 + n], value);
    }
  }
  const std::vector<float> positions = source.f32("transformer.wpe.weight");
  TEST_ASSERT_EQUAL_MEMORY(positions.data(), opened.segment() + opened.tensor("positions")->offset(),
                           positions.size() * 4);
}

TEST("convert: what cannot be converted is said by name and leaves nothing behind") {
  TinyLlama nan;
  nan.tensors["model.layers.1.mlp.down_proj.weight"].values[48 * 3 + 7] = NAN;
  for (const std::string& type : type_names()) {
    TEST_ASSERT_TRUE(
        contains(convert_error(nan, type), "model.layers.1.mlp.down_proj.weight holds nan at [3, 7]"));
  }
  TinyLlama large;
  large.tensors["lm_head.weight"].values[32] = -70000.0f;
  TEST_ASSERT_TRUE(contains(convert_error(large, "f16"),
                            "lm_head.weight holds -70000 at [1, 0], too large for f16; use --type f32"));
  TEST_ASSERT_EQUAL_STRING("", [&] {
    const TempDirectory directory;
    large.write(directory / "model");
    return message_of<Error>([&] {
      convert::convert(directory / "model", directory / "out.mote", {"f32", {}});
    });
  }());
  TinyLlama architecture;
  architecture.config["model_type"] = "reformer";
  TEST_ASSERT_TRUE(contains(convert_error(architecture), "model_type \"reformer\" is not supported"));
  TinyLlama key;
  key.config["sliding_window"] = 50;
  TEST_ASSERT_TRUE(contains(convert_error(key), "sliding_window"));
  TEST_ASSERT_TRUE(contains(convert_error(TinyLlama(), "q4g31"), "did you mean 'q4g32'?"));
  TinyLlama overflowing;  // every weight is finite, the model's logits are not
  for (float& value : overflowing.tensors["lm_head.weight"].values) value = 3e38f;
  TEST_ASSERT_TRUE(contains(convert_error(overflowing, "f32"), "self test"));
}

TEST("convert: a q8c matmul is as wide as its int32 sum allows, and no wider", "[values]") {
  for (const uint64_t columns : {kMaxColumnsQ8c, kMaxColumnsQ8c + 1}) {
    TinyLlama model;
    model.config["num_hidden_layers"] = 1;
    model.config["hidden_size"] = 4;
    model.config["num_attention_heads"] = model.config["num_key_value_heads"] = 1;
    model.config["intermediate_size"] = columns;
    for (auto tensor = model.tensors.begin(); tensor != model.tensors.end();) {
      const bool layer_1 = tensor->first.starts_with("model.layers.1.");
      tensor = layer_1 ? model.tensors.erase(tensor) : std::next(tensor);
    }
    const std::string layer = "model.layers.0.";
    for (const char* name : {"q", "k", "v", "o"})
      model.add(layer + "self_attn." + name + "_proj.weight", {4, 4});
    for (const char* name : {"gate", "up"}) model.add(layer + "mlp." + name + "_proj.weight", {columns, 4});
    model.add(layer + "mlp.down_proj.weight", {4, columns});
    for (const char* name : {"input", "post_attention"}) model.add(layer + name + "_layernorm.weight", {4});
    model.add("model.norm.weight", {4});
    for (const char* name : {"model.embed_tokens", "lm_head"})
      model.add(name + std::string(".weight"), {50, 4});
    if (columns == kMaxColumnsQ8c) {
      const TempDirectory directory;
      model.write(directory / "model");
      convert::convert(directory / "model", directory / "out.mote", {"q8c", {}});
    } else {
      TEST_ASSERT_TRUE(
          contains(convert_error(model, "q8c"), "weight of 131009 columns, q8c has at most 131008"));
    }
  }
}

TEST("convert: places that cannot be written are said, the source is not overwritten") {
  const TempDirectory directory;
  const auto error = [&](const std::filesystem::path& target) {
    return message_of<Error>([&] { convert::convert(golden("llama"), target, {"f32", {}}); });
  };
  TEST_ASSERT_TRUE(contains(error(directory / "none" / "out.mote"), "No such file or directory"));
  TEST_ASSERT_TRUE(contains(error(directory.path()), "it is a directory"));
  TEST_ASSERT_TRUE(contains(
      message_of<Error>([&] { convert::convert(directory / "none", directory / "o", {}); }), "none"));
  TEST_ASSERT_TRUE(names_in(directory.path()).empty());
}

TEST("convert: a full disk is said and an older file survives it") {
  const TempDirectory directory;
  const std::filesystem::path output = directory / "out.mote";
  mote::testing::write_text(output, "older");
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit small{20000, old_limit.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = message_of<Error>([&] {
    convert::convert(golden("llama"), output, {"f32", {}});
  });
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  TEST_ASSERT_TRUE(contains(message, "out.mote: File too large"));
  TEST_ASSERT_TRUE(names_in(directory.path()) == std::set<std::string>{"out.mote"});
  TEST_ASSERT_EQUAL_STRING("older", read_text(output));
}
