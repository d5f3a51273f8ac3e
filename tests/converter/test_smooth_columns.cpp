// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smooth_columns.h"

#include <cmath>
#include <functional>
#include <set>

#include "converter/architectures/shared/architecture.h"
#include "converter/calibration/encoder_run.h"
#include "converter/encode_weight.h"
#include "converter/layers/build_transformer.h"
#include "converter/metadata.h"
#include "converter/readers/safetensors.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/error.h"
#include "runtime/file/file.h"
#include "tests/support/files.h"
#include "tests/support/relative_error.h"
#include "tests/support/test_model.h"

using mote::convert::SafetensorsFile;
namespace fs = std::filesystem;
namespace file = mote::file;

namespace {

const file::Model& model_of(const test::AlignedBytes& bytes) {
  return *file::GetSizePrefixedModel(bytes.data());
}

const file::Tensor& tensor_of(const file::Model& model, int32_t index) {
  return *model.tensors()->Get(static_cast<uint32_t>(index));
}

/// Of each quantization in order the name of its columns, or "".
std::vector<std::string> columns_of(const file::Model& model) {
  std::vector<std::string> names;
  for (const file::Op* op : *model.programs()->Get(0)->ops()) {
    const file::Quantize* quantize = op->args_as_Quantize();
    if (quantize == nullptr) continue;
    const int32_t columns = quantize->columns();
    names.push_back(columns == -1 ? "" : tensor_of(model, columns).name()->str());
  }
  return names;
}

/// The values of the tensor `name`, f32 [1, width].
std::vector<float> values_of(const test::AlignedBytes& bytes, const std::string& name) {
  const file::Model& model = model_of(bytes);
  for (const file::Tensor* tensor : *model.tensors()) {
    if (tensor->name()->str() != name) continue;
    TEST_ASSERT_TRUE(tensor->dtype() == file::DType::f32 && tensor->rows() == 1);
    const uint8_t* data = bytes.data() + bytes.size() - model.segment_bytes() + tensor->offset();
    const auto* values = reinterpret_cast<const float*>(data);
    return {values, values + tensor->cols()};
  }
  FAIL("no tensor " << name);
  return {};
}

test::AlignedBytes converted(const fs::path& source, const std::string& type) {
  const mote::testing::TempDirectory directory;
  mote::convert::ConvertOptions options;
  options.type = type;
  mote::convert::convert(source, directory / "model.mote", options);
  return test::read_file(directory / "model.mote");
}

/// A directory of a bert whose norms make one column `factor` times as large.
class Bert {
 public:
  explicit Bert(float factor) {
    fs::copy(test::golden_folder() / "bert", path());
    const SafetensorsFile original(test::golden_folder() / "bert/model.safetensors");
    std::map<std::string, std::vector<float>> values;
    mote::convert::NamedTensors tensors = original.tensors();
    for (auto& [name, tensor] : tensors) {
      if (name.find("LayerNorm") == std::string::npos) continue;
      values[name] = original.f32(name);
      values[name].at(kOutlier) *= factor;
      tensor = mote::convert::f32_tensor(tensor.shape, values[name]);
    }
    mote::convert::write_safetensors(path() / "model.safetensors", tensors);
  }
  fs::path path() const { return directory_ / "bert"; }

  static constexpr size_t kOutlier = 5;

 private:
  mote::testing::TempDirectory directory_;
};

mote::convert::Graph columns_graph(const mote::convert::Source& source, const std::string& type) {
  mote::convert::Config config(*source.config);
  const auto spec = mote::convert::find_architecture(config).read(source, config);
  mote::convert::TensorSet tensors(source);
  return mote::convert::build_transformer(spec, mote::convert::TypePolicy(type, source, true), tensors);
}

test::AlignedBytes file_of(const mote::convert::Graph& graph) {
  const mote::convert::MemoryPlan plan = mote::convert::plan_memory(graph);
  mote::convert::Metadata metadata{&graph, &plan, "test", "bert", {}, {}, mote::convert::lay_out(graph)};
  std::vector<std::byte> weights;
  for (size_t i = 0; i < graph.weights.size(); ++i) {
    const auto put = [&](std::span<const std::byte> block) {
      weights.insert(weights.end(), block.begin(), block.end());
    };
    metadata.tensors[i].hash = mote::convert::encode_weight(graph.weights[i], put).hash;
  }
  std::vector<std::byte> bytes = mote::convert::build_metadata(metadata);
  bytes.resize(mote::align_up(bytes.size(), 64));
  bytes.insert(bytes.end(), weights.begin(), weights.end());
  return {bytes.data(), bytes.size()};
}

/// The last hidden states of some tokens, without the outlier's column, beside which all others would vanish.
std::vector<float> hidden_states(const test::AlignedBytes& bytes) {
  const test::OpenModel model(bytes);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  const uint32_t length = 16;
  const std::vector<int32_t> ids = test::some_ids(length, model.info().vocab);
  const mote_batch batch{ids.data(), nullptr, &length, 1, nullptr, 0, nullptr, {}, {}, {}};
  REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
  std::vector<float> values;
  for (uint32_t row = 0; row < length; ++row) {
    const float* output = mote_session_output(session.get(), row);
    for (uint32_t k = 0; k < model.info().width; ++k) {
      if (k != Bert::kOutlier) values.push_back(output[k]);
    }
  }
  return values;
}

}  // namespace

TEST("smoothing: what linears read of norms has columns, powers of two, in each quantized type") {
  for (const char* type : {"q8c", "q8g32", "q4g32", "q4mg32"}) {
    const test::AlignedBytes bytes = converted(Bert(32).path(), type);
    const std::vector<std::string> expected = {"layer.0.q+k+v.columns",
                                               "",
                                               "layer.0.up.columns",
                                               "",
                                               "layer.1.q+k+v.columns",
                                               "",
                                               "layer.1.up.columns",
                                               "",
                                               ""};  // at the end the pooler
    CAPTURE(type);
    TEST_ASSERT_TRUE(columns_of(model_of(bytes)) == expected);
    for (const std::string& name : {expected[0], expected[2]}) {
      std::set<float> seen;
      for (const float value : values_of(bytes, name)) {
        int exponent;
        TEST_ASSERT_EQUAL_FLOAT(0.5f, std::frexp(value, &exponent));
        seen.insert(value);
      }
      TEST_ASSERT_GREATER_THAN(1u, seen.size());
    }
  }
}

TEST("smoothing: layers that share their weights share their columns") {
  const std::vector<std::string> expected = {"embedding_projection.columns",
                                             "layer.0.q+k+v.columns",
                                             "",
                                             "layer.0.up.columns",
                                             "",
                                             "layer.0.q+k+v.columns",
                                             "",
                                             "layer.0.up.columns",
                                             "",
                                             "layer.0.q+k+v.columns",
                                             "",
                                             "layer.0.up.columns",
                                             ""};
  std::vector<std::string> columns = columns_of(model_of(test::golden_file("albert_qa", "q8c")));
  TEST_ASSERT_GREATER_OR_EQUAL(expected.size(), columns.size());
  for (size_t i = expected.size(); i < columns.size(); ++i) TEST_ASSERT_EQUAL_STRING("", columns[i]);
  columns.resize(expected.size());
  TEST_ASSERT_TRUE(columns == expected);
}

TEST("smoothing: decoders and exact types have none") {
  for (const std::string& name : columns_of(model_of(test::golden_file("llama", "q8c")))) {
    TEST_ASSERT_EQUAL_STRING("", name);
  }
  TEST_ASSERT_TRUE(columns_of(model_of(test::golden_file("bert", "f16"))).empty());
}

TEST("smoothing: the same source gives the same file") {
  const test::AlignedBytes again = converted(test::golden_folder() / "bert", "q8c");
  const test::AlignedBytes& first = test::golden_file("bert", "q8c");
  TEST_ASSERT_EQUAL_UINT64(first.size(), again.size());
  TEST_ASSERT_EQUAL_MEMORY(first.data(), again.data(), first.size());
}

TEST("smoothing: a column that norms make large is made small, and the others keep more of their bits") {
  for (const float factor : {8.0f, 32.0f, 128.0f}) {
    const Bert bert(factor);
    const mote::convert::Source source = mote::convert::read_source(bert.path());
    const std::vector<float> exact = hidden_states(file_of(columns_graph(source, "f32")));
    for (const char* type : {"q8c", "q8g32"}) {
      mote::convert::Graph graph = columns_graph(source, type);
      const double plain = test::relative_error(exact, hidden_states(file_of(graph)));
      mote::convert::smooth_columns(graph, mote::convert::RowScales::everywhere, nullptr,
                                    bert.path() / "model.mote", [](double) {});
      const test::AlignedBytes bytes = file_of(graph);
      const double smoothed = test::relative_error(exact, hidden_states(bytes));
      CAPTURE(factor, type, plain, smoothed);
      TEST_ASSERT_LESS_THAN(0.75 * plain, smoothed);
      const std::vector<float> columns = values_of(bytes, "layer.0.q+k+v.columns");
      for (size_t k = 0; k < columns.size(); ++k) {
        if (k != Bert::kOutlier) TEST_ASSERT_LESS_THAN(columns[k], columns[Bert::kOutlier]);
      }
      TEST_ASSERT_FALSE(fs::exists(bert.path() / "model.mote"));
    }
  }
}

namespace {

/// A directory of a bert in which of each row's intermediate activations one is larger by `offset` than the
/// others, and hardly read.
class CoarseBert {
 public:
  explicit CoarseBert(float offset) {
    fs::copy(test::golden_folder() / "bert", path());
    const SafetensorsFile original(test::golden_folder() / "bert/model.safetensors");
    mote::convert::NamedTensors tensors = original.tensors();
    std::map<std::string, std::vector<float>> values;
    constexpr size_t kLarge = 3;
    const auto change = [&](const std::string& name, const std::function<void(std::vector<float>&)>& to) {
      values[name] = original.f32(name);
      to(values[name]);
      tensors.at(name) = mote::convert::f32_tensor(tensors.at(name).shape, values[name]);
    };
    for (const std::string layer : {"encoder.layer.0.", "encoder.layer.1."}) {
      change(layer + "intermediate.dense.bias", [&](std::vector<float>& bias) { bias.at(kLarge) += offset; });
      const size_t columns = tensors.at(layer + "output.dense.weight").shape.at(1);
      change(layer + "output.dense.weight", [&](std::vector<float>& weight) {
        for (size_t k = kLarge; k < weight.size(); k += columns) weight[k] *= 0.001f;
      });
    }
    mote::convert::write_safetensors(path() / "model.safetensors", tensors);
  }
  fs::path path() const { return directory_ / "bert"; }

 private:
  mote::testing::TempDirectory directory_;
};

/// Returns the mean cosine of two lists of 16 rows.
double mean_cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const size_t width = a.size() / 16;
  double sum = 0;
  for (size_t row = 0; row < a.size(); row += width) {
    double product = 0, of_a = 0, of_b = 0;
    for (size_t k = row; k < row + width; ++k) {
      product += double{a[k]} * double{b[k]};
      of_a += double{a[k]} * double{a[k]};
      of_b += double{b[k]} * double{b[k]};
    }
    sum += product / std::sqrt(of_a * of_b);
  }
  return sum * static_cast<double>(width) / static_cast<double>(a.size());
}

}  // namespace

TEST("q8 gives rows that an activation makes coarse a scale for each 32 columns, and q8c gives them one") {
  const CoarseBert bert(60);
  const std::vector<float> exact = hidden_states(converted(bert.path(), "f32"));
  const test::AlignedBytes chosen = converted(bert.path(), "q8"), rows = converted(bert.path(), "q8c");
  const auto type_of = [](const test::AlignedBytes& bytes, const std::string& name) {
    for (const file::Tensor* tensor : *model_of(bytes).tensors()) {
      if (tensor->name()->str() == name) return tensor->dtype();
    }
    return file::DType::f32;
  };
  TEST_ASSERT_TRUE(type_of(chosen, "layer.0.down") == file::DType::q8g32);
  TEST_ASSERT_TRUE(type_of(chosen, "layer.1.down") == file::DType::q8g32);
  TEST_ASSERT_TRUE(type_of(chosen, "layer.0.up") == file::DType::q8c);
  TEST_ASSERT_TRUE(type_of(rows, "layer.0.down") == file::DType::q8c);
  const double error = test::relative_error(exact, hidden_states(chosen)),
               of_rows = test::relative_error(exact, hidden_states(rows));
  CAPTURE(error, of_rows);
  TEST_ASSERT_LESS_THAN(0.75 * of_rows, error);
}

TEST("q8 keeps the last rows' mean cosine to those in f32 at .999") {
  for (const float offset : {3.0f, 6.0f, 10.0f, 15.0f, 25.0f}) {
    const CoarseBert bert(offset);
    const std::vector<float> exact = hidden_states(converted(bert.path(), "f32"));
    const double cosine = mean_cosine(exact, hidden_states(converted(bert.path(), "q8"))),
                 of_rows = mean_cosine(exact, hidden_states(converted(bert.path(), "q8c")));
    CAPTURE(offset, cosine, of_rows);
    TEST_ASSERT_GREATER_OR_EQUAL(0.999, cosine);
    TEST_ASSERT_TRUE((of_rows < 0.999) == (offset == 25.0f));
  }
}

namespace {

using RowList = std::vector<std::vector<float>>;

/// Appends the rows of the probe hidden.0.
void keep_embedded(void* user, const char* name, const float* data, uint32_t count, uint32_t width,
                   size_t stride) {
  for (uint32_t row = 0; std::string(name) == "hidden.0" && row < count; ++row)
    static_cast<RowList*>(user)->emplace_back(data + row * stride, data + row * stride + width);
}

/// Returns the embedded rows of the ids.
RowList embedded(const test::OpenModel& model, const std::vector<int32_t>& ids) {
  RowList rows;
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = MOTE_ISA_REF;
  options.trace = keep_embedded;
  options.trace_user = &rows;
  const test::OpenSession session(model, options);
  const auto length = static_cast<uint32_t>(ids.size());
  const mote_batch batch{ids.data(), nullptr, &length, 1, nullptr, 0, nullptr, {}, {}, {}};
  REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
  return rows;
}

}  // namespace

TEST("calibration: an encoder meets a text between the tokens that the model wants around one") {
  const mote::testing::TempDirectory directory;
  const fs::path folder = directory / "bert";
  fs::copy(test::golden_folder() / "bert", folder);
  fs::copy(test::golden_folder() / "bert_sentence_dense" / "tokenizer.json", folder / "tokenizer.json");
  const mote::convert::Source source = mote::convert::read_source(folder);
  const mote::convert::Graph graph = columns_graph(source, "q8");
  const mote::convert::TokenizerTables tokenizer(*mote::convert::read_tokenizer(source, true), false);
  RowList met;
  mote::convert::EncoderRun(graph, &tokenizer, directory / "model.mote")
      .run(
          graph,
          [&](const char* name, const float* data, uint32_t count, uint32_t width, size_t stride) {
            keep_embedded(&met, name, data, count, width, stride);
          },
          [](double) {});
  TEST_ASSERT_GREATER_THAN(2u, met.size());
  TEST_ASSERT_LESS_OR_EQUAL(24u, met.size());
  constexpr int32_t kUnknown = 1, kBefore = 2, kAfter = 3;  // [UNK], [CLS], [SEP]
  std::vector<int32_t> ids(met.size(), kUnknown);
  ids.front() = kBefore;
  ids.back() = kAfter;
  const test::AlignedBytes bytes = converted(folder, "q8");
  const RowList expected = embedded(test::OpenModel(bytes), ids);
  TEST_ASSERT_TRUE(met.front() == expected.front());
  TEST_ASSERT_TRUE(met.back() == expected.back());
}

TEST("smoothing: a weight that is not finite is named as without it") {
  const mote::testing::TempDirectory directory;
  const fs::path folder = directory / "bert";
  fs::copy(test::golden_folder() / "bert", folder);
  const std::string name = "encoder.layer.1.intermediate.dense.weight";
  const SafetensorsFile original(test::golden_folder() / "bert/model.safetensors");
  mote::convert::NamedTensors tensors = original.tensors();
  std::vector<float> values = original.f32(name);
  values.at(0) = NAN;
  tensors.at(name) = mote::convert::f32_tensor(tensors.at(name).shape, values);
  mote::convert::write_safetensors(folder / "model.safetensors", tensors);
  const std::string message =
      mote::testing::message_of<mote::convert::Error>([&] { converted(folder, "q8c"); });
  TEST_ASSERT_EQUAL_STRING("tensor " + name + " holds nan at [0, 0]", message);
}
