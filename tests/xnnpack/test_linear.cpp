// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK's results against mote's own kernels'.
#include <cmath>
#include <limits>

#include "tests/support/linear_model.h"
#include "tests/support/xnnpack_region.h"

namespace {

/// Of each output, the sum of the absolute values of its terms.
std::vector<float> magnitudes(const test::LinearModel& linear, uint32_t rows) {
  const std::vector<float> in = linear.input_values(), weight = linear.weight_values(),
                           bias = linear.bias_values();
  std::vector<float> sums;
  for (uint32_t t = 0; t < rows; ++t) {
    for (uint32_t n = 0; n < linear.outputs; ++n) {
      float sum = linear.bias ? std::fabs(bias[n]) : 0.0f;
      for (uint32_t k = 0; k < linear.inputs; ++k) {
        sum += std::fabs(in[t * linear.inputs + k] * weight[n * linear.inputs + k]);
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

/// Two sums of K + 1 terms, of products rounded or not, are each within (K + 2) / 2^24 of the exact one,
/// relative to the sum of the terms' absolute values; the slopes of the activations are below 1.13. What
/// follows rounds a few times.
void check_near(const test::LinearModel& linear, uint32_t rows, const std::vector<float>& expected,
                const std::vector<float>& actual) {
  const std::vector<float> magnitude = magnitudes(linear, rows);
  REQUIRE(expected.size() == magnitude.size());
  REQUIRE(actual.size() == magnitude.size());
  const float relative = 1.13f * 2 * static_cast<float>(linear.inputs + 2) * 0x1p-24f;
  for (size_t i = 0; i < magnitude.size(); ++i) {
    const float bound = relative * magnitude[i] + 0x1p-21f * (1 + std::fabs(expected[i]));
    if (std::fabs(expected[i] - actual[i]) <= bound) continue;
    TEST_FAIL_MESSAGE("row " << i / linear.outputs << ", column " << i % linear.outputs << ": expected "
                             << expected[i] << ", is " << actual[i] << ", bound " << bound);
  }
}

mote_session_options options_of(const test::OpenModel& model, mote_posix_pool* pool = nullptr) {
  mote_session_options options = mote_session_options_default(model.get());
  options.platform = mote_posix_pool_platform(pool);
  return options;
}

void check_linear(const test::LinearModel& linear, uint32_t slices,
                  std::initializer_list<uint32_t> row_counts, mote_posix_pool* pool = nullptr) {
  const test::OpenLinearModel model(linear);
  const test::XnnpackRegion backend(model, slices);
  for (const uint32_t rows : row_counts) {
    CAPTURE(linear.inputs, linear.outputs, linear.bias, static_cast<int>(linear.activation), linear.residual,
            slices, rows);
    mote_session_options options = options_of(model, pool);
    const std::vector<float> expected = run_linear_model(model, options, rows);
    options.backend = backend.get();
    check_near(linear, rows, expected, run_linear_model(model, options, rows));
  }
}

}  // namespace

TEST("xnnpack: a linear operation agrees with mote's own at any shape") {
  for (const uint32_t inputs : {1u, 36u, 44u, 60u, 64u, 100u, 384u, 576u}) {
    for (const uint32_t outputs : {1u, 15u, 16u, 17u, 40u, 100u, 330u}) {
      for (const uint32_t slices : {1u, 3u}) {
        for (const bool residual : {false, true}) {
          check_linear({inputs, outputs, true, mote::Activation::none, residual}, slices, {1, 2, 7});
        }
      }
    }
  }
}

TEST("xnnpack: a linear operation agrees at any number of rows") {
  for (const bool residual : {false, true}) {
    const test::LinearModel linear{44, 330, true, mote::Activation::none, residual};
    const test::OpenLinearModel model(linear);
    const test::XnnpackRegion backend(model, 2);
    for (uint32_t rows = 1; rows <= 140; rows += rows < 20 ? 1 : 13) {
      CAPTURE(residual, rows);
      mote_session_options options = options_of(model);
      const std::vector<float> expected = run_linear_model(model, options, rows);
      options.backend = backend.get();
      check_near(linear, rows, expected, run_linear_model(model, options, rows));
    }
  }
}

TEST("xnnpack: bias, activation and residual agree in any combination") {
  for (int activation = 0; activation <= static_cast<int>(mote::Activation::tanh); ++activation) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        check_linear({60, 37, bias, static_cast<mote::Activation>(activation), residual}, 2, {1, 70});
      }
    }
  }
}

TEST("xnnpack: any number of threads runs any number of slices") {
  for (const uint32_t threads : {1u, 2u, 3u}) {
    mote_posix_pool* pool = mote_posix_pool_create(threads);
    for (const uint32_t slices : {1u, 2u, 3u, 7u}) {
      CAPTURE(threads);
      check_linear({100, 330, true, mote::Activation::gelu, true}, slices, {1, 3, 90}, pool);
      check_linear({100, 330}, slices, {1, 3, 90}, pool);
    }
    mote_posix_pool_destroy(pool);
  }
}

TEST("xnnpack: a NaN or an infinity in a row makes of the row what it does in mote's own kernel") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const bool residual : {false, true}) {
    const test::LinearModel linear{
        64, 40, true, mote::Activation::none, residual, {{1, kNan}, {4, INFINITY}, {5, -INFINITY}}};
    const test::OpenLinearModel model(linear);
    const test::XnnpackRegion backend(model, 2);
    mote_session_options options = options_of(model);
    const std::vector<float> expected = run_linear_model(model, options, 8);
    options.backend = backend.get();
    const std::vector<float> actual = run_linear_model(model, options, 8);
    for (uint32_t i = 0; i < 8 * linear.outputs; ++i) {
      const uint32_t row = i / linear.outputs;
      CAPTURE(residual, row, i % linear.outputs, expected[i], actual[i]);
      if (row == 1) {
        TEST_ASSERT_TRUE(std::isnan(expected[i]) && std::isnan(actual[i]));
      } else if (row == 4 || row == 5) {
        TEST_ASSERT_TRUE(std::isinf(expected[i]) && actual[i] == expected[i]);
      } else {
        TEST_ASSERT_TRUE(std::fabs(expected[i] - actual[i]) < 1e-4f);
      }
    }
  }
}

TEST("xnnpack: an operation that comes again takes no second copy of its weights") {
  test::LinearModel linear{200, 200};
  const test::OpenLinearModel once(linear);
  linear.repeated = 12;
  const test::OpenLinearModel often(linear);
  const size_t bytes = test::XnnpackRegion(once, 2).bytes();
  const test::XnnpackRegion backend(often, 2);
  TEST_ASSERT_GREATER_THAN(size_t{200 * 200 * 4}, bytes);
  TEST_ASSERT_LESS_THAN(bytes + 1000, backend.bytes());
  mote_session_options options = options_of(often);
  const std::vector<float> expected = run_linear_model(often, options, 5);
  options.backend = backend.get();
  check_near(linear, 5, expected, run_linear_model(often, options, 5));
}
