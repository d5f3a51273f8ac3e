// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/calibrate.h"

#include <cmath>
#include <numeric>

#include "converter/calibration/error_feedback.h"
#include "converter/convert.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/test_model.h"
#include "tests/support/unity_style.h"

using mote::DType;
using namespace mote::convert;
namespace fs = std::filesystem;

namespace {

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state_ >> 40) / 0x1p23f - 1.0f;
  }

 private:
  uint64_t state_;
};

/// Inputs [rows, columns] whose columns depend on each other, some of them much larger than others.
std::vector<float> related_inputs(uint32_t rows, uint32_t columns) {
  Numbers numbers(3);
  std::vector<float> x(size_t{rows} * columns);
  for (uint32_t r = 0; r < rows; ++r) {
    float walk = 0;
    for (uint32_t k = 0; k < columns; ++k) {
      walk = 0.8f * walk + numbers.next();
      x[size_t{r} * columns + k] = walk * (k % 17 == 3 ? 8.0f : 1.0f);
    }
  }
  return x;
}

/// Sum over inputs of the squared change of a row's output.
double output_error(const std::vector<float>& x, const std::vector<float>& row,
                    const std::vector<float>& rounded) {
  double sum = 0;
  for (size_t begin = 0; begin < x.size(); begin += row.size()) {
    double change = 0;
    for (size_t k = 0; k < row.size(); ++k)
      change +=
          static_cast<double>(x[begin + k]) * (static_cast<double>(row[k]) - static_cast<double>(rounded[k]));
    sum += change * change;
  }
  return sum;
}

std::vector<float> random_row(uint32_t columns, uint64_t seed) {
  Numbers numbers(seed);
  std::vector<float> row(columns);
  for (float& value : row) value = numbers.next();
  return row;
}

/// The golden qwen2 with a tokenizer, and a text.
class TextModel {
 public:
  TextModel() {
    fs::copy(test::golden_folder() / "qwen2", source());
    fs::copy(test::golden_folder() / "../tokenizers/small/tokenizer.json", source());
    std::string lines;
    for (int i = 0; i < 400; ++i) lines += "A line of words, number " + std::to_string(i * i % 97) + ".\n";
    mote::testing::write_text(text(), lines);
  }
  fs::path source() const { return folder / "qwen2"; }
  fs::path text() const { return folder / "text"; }

  /// Makes column 9 of every layer's norms 64 times as large, and of the matrices behind them as much
  /// smaller.
  void add_outlier() const {
    std::map<std::string, std::vector<float>> values;
    NamedTensors tensors;
    {
      const SafetensorsFile original(source() / "model.safetensors");
      for (const auto& [name, tensor] : original.tensors()) {
        std::vector<float>& of = values[name] = original.f32(name);
        const uint64_t width = tensor.shape.back();
        const bool norm = name.find("layernorm") != std::string::npos;
        const bool reads = name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight") ||
                           name.ends_with("v_proj.weight") || name.ends_with("gate_proj.weight") ||
                           name.ends_with("up_proj.weight");
        for (size_t i = 9; i < of.size() && (norm || reads); i += width) of[i] *= norm ? 64.0f : 1.0f / 64;
        tensors[name] = f32_tensor(tensor.shape, of);
      }
    }
    write_safetensors(source() / "model.safetensors", tensors);
  }

  test::AlignedBytes converted(const std::string& type, bool calibrated) const {
    ConvertOptions options;
    options.type = type;
    if (calibrated) options.calibration_text = text();
    mote::convert::convert(source(), folder / "model.mote", options);
    return test::read_file(folder / "model.mote");
  }

  const mote::testing::TempDirectory folder;
};

/// Of the last token of a text.
std::vector<float> logits(const test::AlignedBytes& file) {
  const test::OpenModel model(file);
  const test::OpenSession session(model, test::small_options(model));
  const uint32_t vocab = model.info().vocab;
  return test::prefill(session.get(), test::some_ids(20, vocab), vocab);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i)
    squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2.0);
  return std::sqrt(squares);
}

std::string refusal(const fs::path& source, const ConvertOptions& options) {
  const mote::testing::TempDirectory folder;
  return mote::testing::message_of<Error>(
      [&] { mote::convert::convert(source, folder / "model.mote", options); });
}

}  // namespace

TEST("calibration: feedback halves what rounding does to outputs, in every type that takes it") {
  constexpr uint32_t kColumns = 320, kInputs = 600;
  const std::vector<float> x = related_inputs(kInputs, kColumns);
  InputProducts products(kColumns);
  products.add(x.data(), kInputs, kColumns);
  const ErrorFeedback feedback = make_error_feedback(products);
  std::vector<std::vector<float>> rows;
  for (uint64_t r = 0; r < 5; ++r) rows.push_back(random_row(kColumns, r + 1));
  for (const Quantizer& type : quantizers()) {
    if (!takes_error_feedback(type.dtype)) continue;
    CAPTURE(type.name);
    std::vector<EncodedRow> calibrated(rows.size());
    encode_with_error_feedback(type.dtype, rows, feedback, calibrated);
    double plain_error = 0, calibrated_error = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      EncodedRow plain;
      type.encode(rows[r], plain);
      TEST_ASSERT_EQUAL_UINT64(plain.quant.q.size(), calibrated[r].quant.q.size());
      TEST_ASSERT_EQUAL_UINT64(plain.quant.scale.size(), calibrated[r].quant.scale.size());
      TEST_ASSERT_EQUAL_UINT64(plain.quant.scale_steps.size(), calibrated[r].quant.scale_steps.size());
      std::vector<float> decoded(kColumns);
      type.decode(plain, decoded);
      plain_error += output_error(x, rows[r], decoded);
      type.decode(calibrated[r], decoded);
      calibrated_error += output_error(x, rows[r], decoded);
    }
    TEST_ASSERT_LESS_THAN(0.5 * plain_error, calibrated_error);
  }
}

TEST("calibration: H is U D U^T") {
  constexpr uint32_t kColumns = 40, kInputs = 100;
  const std::vector<float> x = related_inputs(kInputs, kColumns);
  InputProducts products(kColumns);
  products.add(x.data(), kInputs / 2, kColumns);
  products.add(x.data() + kInputs / 2 * kColumns, kInputs / 2, kColumns);
  const ErrorFeedback feedback = make_error_feedback(products);
  const std::vector<float>& u = feedback.spans[0];
  const auto at = [&](uint32_t j, uint32_t k) {
    return j == k ? 1.0 : j < k ? static_cast<double>(u[j * kColumns + k]) : 0.0;
  };
  const auto h = [&](uint32_t i, uint32_t j) {
    double sum = 0;
    for (uint32_t k = 0; k < kColumns; ++k)
      sum += at(i, k) * static_cast<double>(feedback.importance[k]) * at(j, k);
    return sum;
  };
  const auto mean = [&](uint32_t i, uint32_t j) {
    double sum = 0;
    for (uint32_t r = 0; r < kInputs; ++r)
      sum += static_cast<double>(x[r * kColumns + i]) * static_cast<double>(x[r * kColumns + j]);
    return sum;
  };
  // Importance is over its mean: off the diagonal, ratios are left.
  const double unit = mean(3, 20) / h(3, 20);
  for (uint32_t i = 0; i < kColumns; i += 3) {
    for (uint32_t j = i + 1; j < kColumns; j += 5)
      TEST_ASSERT_FLOAT_WITHIN(1e-3f * static_cast<float>(mean(3, 3)), static_cast<float>(mean(i, j)),
                               static_cast<float>(unit * h(i, j)));
  }
}

TEST("calibration: columns that meet nothing, and inputs too few, still give finite weights") {
  InputProducts products(64);
  std::vector<float> x(64);
  const std::vector<std::vector<float>> rows = {random_row(64, 9)};
  for (const float first : {0.0f, 1e-20f, 1e15f}) {
    x[0] = first;
    products.add(x.data(), 1, 64);
    const ErrorFeedback feedback = make_error_feedback(products);
    for (const DType dtype : {DType::q4g32, DType::q4k, DType::q6k}) {
      std::vector<EncodedRow> encoded(1);
      encode_with_error_feedback(dtype, rows, feedback, encoded);
      std::vector<float> decoded(64);
      quantizer(dtype).decode(encoded[0], decoded);
      for (const float value : decoded) TEST_ASSERT_LESS_OR_EQUAL(1.5f, std::fabs(value));
    }
  }
}

TEST("calibration: errors of important columns count more in the choice of a scale") {
  std::vector<float> row = random_row(32, 4), importance(32, 0.01f);
  row[5] = 3.0f;
  importance[9] = 100.0f;
  for (const DType dtype : {DType::q4g32, DType::q4mg32, DType::q4k, DType::q5k, DType::q6k}) {
    EncodedRow plain, weighed;
    quantizer(dtype).encode(row, plain);
    quantizer(dtype).encode_weighed(row, importance, weighed);
    std::vector<float> a(32), b(32);
    quantizer(dtype).decode(plain, a);
    quantizer(dtype).decode(weighed, b);
    TEST_ASSERT_LESS_OR_EQUAL(std::fabs(a[9] - row[9]), std::fabs(b[9] - row[9]));
  }
}

TEST("calibration: a column that is large for its norm's sake takes no bits from the others") {
  const TextModel model;
  model.add_outlier();
  const std::vector<float> exact = logits(model.converted("f32", false));
  for (const char* type : {"q8g32", "q8c"}) {
    CAPTURE(type);
    const double plain = distance(exact, logits(model.converted(type, false)));
    TEST_ASSERT_LESS_THAN(0.5 * plain, distance(exact, logits(model.converted(type, true))));
  }
}

TEST("calibration: the same text gives the same file, and another than without it") {
  const TextModel model;
  const test::AlignedBytes first = model.converted("q4g32", true), second = model.converted("q4g32", true),
                           plain = model.converted("q4g32", false);
  const auto equal = [](const test::AlignedBytes& a, const test::AlignedBytes& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
  };
  TEST_ASSERT_TRUE(equal(first, second));
  TEST_ASSERT_FALSE(equal(first, plain));
  TEST_ASSERT_EQUAL_UINT64(
      3, static_cast<uint64_t>(std::distance(fs::directory_iterator(model.folder.path()), {})));
}

TEST("calibration: what cannot be calibrated is refused by its reason") {
  const TextModel model;
  const auto refused = [&](const fs::path& source, ConvertOptions options, const char* reason) {
    options.calibration_text = model.text();
    const std::string message = refusal(source, options);
    CAPTURE(message);
    TEST_ASSERT_TRUE(mote::testing::contains(message, reason));
  };
  ConvertOptions options;
  options.type = "f32";
  refused(model.source(), options, "no matrix of the model is rounded");
  options.type = "q4g32";
  refused(test::golden_folder() / "bert", options, "--calibrate takes a decoder");
  mote::testing::write_text(model.text(), "");
  refused(model.source(), options, "it takes at least 2");
  options.no_tokenizer = true;
  refused(model.source(), options, "no tokenizer");
}
