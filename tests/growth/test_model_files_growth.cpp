// SPDX-License-Identifier: Apache-2.0
//
// What reading ONNX files, adapters, packed weights and the smaller formats costs grows at most as they do.
#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "converter/lora.h"
#include "converter/onnx/onnx_model.h"
#include "converter/onnx/trace.h"
#include "converter/readers/packed_checkpoint.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "tests/support/checkpoint.h"
#include "tests/support/count_blocks.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/tiny_llama.h"

namespace {

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;
using test::check_growth;

/// Names of one length, whose beginnings are alike.
std::string layer_name(uint64_t number) { return fmt::format("layers.{:07}.extra", number); }

constexpr float kOne = 1.0f;
std::span<const std::byte> bytes_of_one() { return std::as_bytes(std::span(&kOne, 1)); }

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}
std::string wire_number(uint64_t field, uint64_t value) { return varint(field << 3) + varint(value); }
std::string wire_bytes(uint64_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

using Model = std::unique_ptr<OnnxModel>;

/// n products of x with weights of their own, y0 to y(n - 1).
Model products(uint64_t n) {
  auto model = std::make_unique<OnnxModel>();
  for (uint64_t i = 0; i < n; ++i) {
    const std::string weight = fmt::format("onnx::MatMul_{:07}", i);
    model->graph.initializers[weight] = {weight, OnnxType::f32, {1, 1}, bytes_of_one()};
    model->graph.nodes.push_back({"MatMul", "", "", {"x", weight}, {fmt::format("y{:07}", i)}, {}});
  }
  return model;
}

}  // namespace

// ---- ONNX ----

TEST("the work for an ONNX file grows as its nodes, attributes and initializers do") {
  check_growth(
      200,
      [](uint64_t n) {
        std::string graph, numbers;
        for (uint64_t i = 0; i < n; ++i) {
          const std::string name = layer_name(i);
          const std::string value =
              wire_bytes(1, "v") + wire_bytes(5, wire_number(2, 1) + wire_bytes(9, raw(1.0f)));
          graph +=
              wire_bytes(1, wire_bytes(1, name) + wire_bytes(2, "y" + name) + wire_bytes(4, "Add") +
                                wire_bytes(5, value) + wire_bytes(5, wire_bytes(1, "a") + wire_number(8, i)));
          graph += wire_bytes(5, wire_number(2, 1) + wire_bytes(8, name) + wire_bytes(9, raw(1.0f)));
          graph += wire_bytes(11, wire_bytes(1, "x" + name)) + wire_bytes(12, wire_bytes(1, "y" + name));
          numbers += wire_number(7, i % 100);
        }
        graph += wire_bytes(5, wire_number(1, n) + wire_number(2, 7) + wire_bytes(8, "numbers") + numbers);
        return wire_number(1, 8) + wire_bytes(7, graph);
      },
      [](const std::string& file) { parse_onnx(as_bytes(file), "file"); });
}

TEST("the work for the names of an ONNX file's weights grows as its operators do, whatever reads them") {
  const auto read_by = [](const char* op) {
    return [op](uint64_t n) {
      Model model = products(n);
      OnnxNode reader{op, "", "", {}, {"z"}, {}};
      for (uint64_t i = 0; i < n; ++i) reader.inputs.push_back(fmt::format("y{:07}", i));
      model->graph.nodes.push_back(reader);
      return model;
    };
  };
  for (const char* op : {"Concat", "Add", "Mul"})
    check_growth(100, read_by(op), [](const Model& model) { name_onnx_weights(*model); });
}

TEST("the work for ONNX operators that are written as others grows as their number does") {
  check_growth(
      100,
      [](uint64_t n) {
        Model model = products(n);
        auto& nodes = model->graph.nodes;
        for (uint64_t i = 0; i < n; ++i) {
          const std::string of = std::to_string(i), weight = fmt::format("onnx::MatMul_{:07}", i);
          nodes.push_back({"FusedMatMul", "", "com.microsoft", {"x", weight}, {"f" + of}, {}});
          nodes.push_back({"Cast", "", "", {"w" + of}, {"c" + of}, {}});
          nodes.push_back({"Mul", "", "", {"c" + of, weight}, {"m" + of}, {}});
          model->graph.initializers["w" + of] = {"w" + of, OnnxType::i8, {1, 1}, bytes_of_one().first(1)};
        }
        return model;
      },
      [](const Model& model) {
        expand_fused(*model);
        expand_casts(*model);
      });
}

TEST("the work for following an ONNX graph grows as its chain of operators does") {
  check_growth(
      100,
      [](uint64_t n) {
        Model model = products(n);
        auto& nodes = model->graph.nodes;
        for (uint64_t i = 0; i < n; ++i) {
          nodes[i].inputs[0] = i == 0 ? "x" : fmt::format("a{}", i - 1);
          nodes.push_back(nodes[i]);
          nodes.push_back(
              {"Add", "", "", {nodes[i].outputs[0], nodes[i].inputs[0]}, {fmt::format("a{}", i)}, {}});
          nodes.push_back({"Add",
                           "",
                           "",
                           {i == 0 ? "ids" : fmt::format("i{}", i - 1), "ids"},
                           {fmt::format("i{}", i)},
                           {}});
        }
        nodes.erase(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(n));
        model->graph.inputs = {{"x"}, {"ids"}};
        return model;
      },
      [](const Model& model) {
        auto rows = std::make_shared<TracedTensor>();
        rows->dims = {1, 1};
        rows->whole = 0;
        trace_onnx(model->graph, "graph", {{"x", rows}, {"ids", known_numbers({1}, {0.0f})}});
      });
}

// ---- Adapters ----

namespace {

struct AdapterCase {
  TempDirectory folder;
  Source source;
  json config = {{"peft_type", "LORA"}, {"r", 1}, {"lora_alpha", 2}};
  NamedTensors tensors;

  explicit AdapterCase(uint64_t n) {
    source.format = "hf";
    source.config_path = folder / "config.json";
    source.config = std::make_shared<const json>(TinyLlama().config);
    for (uint64_t i = 0; i < n; ++i) {
      source.tensors["model." + layer_name(i) + ".weight"] = {
          SourceType::f32, {1, 1}, bytes_of_one().data(), 4};
    }
  }
  void add(uint64_t number, const char* end) {
    tensors["base_model.model.model." + layer_name(number) + end] = {"F32", {1, 1}, bytes_of_one()};
  }
  void write() const {
    write_text(folder / "adapter_config.json", config.dump());
    write_safetensors(folder / "adapter_model.safetensors", tensors);
  }
};

void merge(const std::unique_ptr<AdapterCase>& one) { merge_adapter(one->source, one->folder.path(), 1.0f); }

}  // namespace

TEST("the work for an adapter grows as its tensors and the patterns of its ranks do") {
  check_growth(
      50,
      [](uint64_t n) {
        auto one = std::make_unique<AdapterCase>(n);
        for (uint64_t i = 0; i < n; ++i) {
          one->add(i, ".lora_A.weight");
          one->add(i, ".lora_B.weight");
          one->config["alpha_pattern"][layer_name(i)] = i;
          one->config["rank_pattern"][layer_name(i)] = 1;
        }
        one->write();
        return one;
      },
      merge);
}

TEST("the work for an adapter grows as the modules that it saves whole do, and as the rows that it trains") {
  check_growth(
      50,
      [](uint64_t n) {
        auto one = std::make_unique<AdapterCase>(n);
        for (uint64_t i = 0; i < n; ++i) {
          one->add(i, ".weight");
          one->config["modules_to_save"].push_back("none." + layer_name(i));
        }
        one->config["modules_to_save"].push_back("extra");
        one->add(0, ".token_adapter.trainable_tokens_delta");
        one->config["trainable_token_indices"] = {0};
        one->write();
        return one;
      },
      merge);
  check_growth(
      50,
      [](uint64_t n) {
        auto one = std::make_unique<AdapterCase>(n);
        for (uint64_t i = 0; i < n; ++i) {
          one->add(i, ".token_adapter.trainable_tokens_delta");
          one->config["trainable_token_indices"][layer_name(i)] = {0};
        }
        one->write();
        return one;
      },
      merge);
}

// ---- Packed weights ----

namespace {

struct PackedCase {
  std::vector<float> scales;
  std::vector<std::byte> zeros;
  Source source;
  NamedTensors packed;

  explicit PackedCase(uint64_t numbers) : scales(numbers, 1.0f), zeros(4 * numbers) {}
  void scale(const std::string& name, std::vector<uint64_t> shape) {
    source.tensors[name] = {SourceType::f32, std::move(shape), std::as_bytes(std::span(scales)).data(),
                            scales.size() * 4};
  }
  void integers(const std::string& name, uint64_t rows, uint64_t columns, const char* dtype = "I32") {
    packed[name] = {dtype, {rows, columns}, std::span(zeros).first(4 * rows * columns)};
  }
};

using PackedPointer = std::unique_ptr<PackedCase>;

void add_grouped(PackedCase& one, const std::string& name, PackedMethod method, uint64_t rows,
                 uint64_t columns) {
  const uint64_t groups = columns / 32;
  const bool gptq = method == PackedMethod::gptq;
  one.integers(name + ".qweight", gptq ? columns / 8 : columns, gptq ? rows : rows / 8);
  one.integers(name + ".qzeros", groups, rows / 8);
  one.scale(name + ".scales", {groups, rows});
}

void add_compressed(PackedCase& one, const std::string& name, uint64_t rows, uint64_t columns) {
  static std::map<std::pair<uint64_t, uint64_t>, std::array<uint64_t, 2>> kept;
  const auto& shape = kept[{rows, columns}] = {rows, columns};
  one.packed[name + ".weight_shape"] = {"I64", {2}, std::as_bytes(std::span(shape))};
  one.integers(name + ".weight_packed", rows, columns / 8);
  one.scale(name + ".weight_scale", {rows, columns / 32});
}

}  // namespace

TEST("the work for packed weights grows as their rows, their columns and their number do") {
  for (const PackedMethod method :
       {PackedMethod::gptq, PackedMethod::awq, PackedMethod::compressed_integers}) {
    CAPTURE(static_cast<int>(method));
    PackedFormat format;
    format.method = method;
    format.bits = 4;
    format.group = 32;
    const auto add = [&](PackedCase& one, const std::string& name, uint64_t rows, uint64_t columns) {
      if (method == PackedMethod::compressed_integers) return add_compressed(one, name, rows, columns);
      add_grouped(one, name, method, rows, columns);
    };
    const auto read = [&](const PackedPointer& one) { add_packed(one->source, format, one->packed); };
    const auto matrices = [&](uint64_t number, uint64_t rows, uint64_t columns) {
      auto one = std::make_unique<PackedCase>(rows * columns);
      for (uint64_t i = 0; i < number; ++i) add(*one, layer_name(i), rows, columns);
      return one;
    };
    check_growth(
        64, [&](uint64_t n) { return matrices(1, n, 32); }, read);
    check_growth(
        64, [&](uint64_t n) { return matrices(1, 8, n); }, read);
    check_growth(
        16, [&](uint64_t n) { return matrices(n, 8, 32); }, read);
  }
}

TEST("the work for BitNet's matrices grows as they and the modules that stay plain do") {
  check_growth(
      100,
      [](uint64_t n) {
        auto one = std::make_unique<PackedCase>(1);
        for (uint64_t i = 0; i < n; ++i) one->scale(layer_name(i) + ".weight", {1, 1});
        return one;
      },
      [](const PackedPointer& one) {
        PackedFormat format;
        for (uint64_t i = 0; i < one->source.tensors.size(); ++i)
          format.plain_modules.push_back(layer_name(i) + ".none");
        round_to_ternary(one->source, format);
      });
  PackedCase one(1);
  for (const char* name : {"layers.0.a", "layers.0.b", "layers.1.a"})
    one.scale(std::string(name) + ".weight", {1, 1});
  PackedFormat format;
  format.plain_modules = {"layers.1", "layers.1.a.b", ".b", "0.b"};
  round_to_ternary(one.source, format);
  REQUIRE(one.source.tensors.at("layers.0.a.weight").type == SourceType::ternary);
  REQUIRE(one.source.tensors.at("layers.0.b.weight").type == SourceType::f32);
  REQUIRE(one.source.tensors.at("layers.1.a.weight").type == SourceType::f32);
}

// ---- Smaller formats ----

TEST("the work for a file of llama2.c grows as its layers do") {
  check_growth(
      50,
      [](uint64_t n) {
        std::string file = raw(0x616b3432) + raw(1);
        for (const int32_t size : {2, 1, static_cast<int32_t>(n), 1, 1, 1, 1}) file += raw(size);
        file += raw<uint8_t>(1);
        file.resize(256, '\0');
        return file + std::string(4 * (n * (2 * 2 + 4 * 4 + 3 * 2) + 2 + 2), '\0');
      },
      [](const std::string& file) { read_llama2c(as_bytes(file), "file"); });
}

TEST("the work for a sentence-transformers directory grows as its modules, prompts and keys do") {
  check_growth(
      50,
      [](uint64_t n) {
        auto folder = std::make_unique<TempDirectory>();
        std::filesystem::create_directories(*folder / "pool");
        std::filesystem::create_directories(*folder / "dense");
        json modules = {{{"type", "a.Transformer"}, {"path", ""}}, {{"type", "a.Pooling"}, {"path", "pool"}}};
        json library = json::object(), kinds = json::array();
        for (uint64_t i = 0; i < n; ++i) {
          modules.push_back({{"type", "a.Dense"}, {"path", "dense"}});
          library["prompts"][layer_name(i)] = "text";
          library["own" + layer_name(i)] = 1;
          kinds.push_back("mean");
        }
        write_text(*folder / "modules.json", modules.dump());
        write_text(*folder / "pool/config.json", json{{"pooling_mode", kinds}}.dump());
        write_text(*folder / "dense/config.json", json{{"out_features", 4}}.dump());
        write_text(*folder / "config_sentence_transformers.json", library.dump());
        return folder;
      },
      [](const std::unique_ptr<TempDirectory>& folder) { read_sentence_modules(folder->path()); });
}
