// SPDX-License-Identifier: Apache-2.0
//
// Linear operations given to a backend: one made here, whose arithmetic is in doubles.
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "tests/support/linear_model.h"
#include "tests/support/thread_pool.h"

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Computes slices as mote/backend.h says, and remembers which.
class Doubles {
 public:
  Doubles(const test::OpenModel& model, uint32_t slices) : model_(model.get()) {
    backend_ = {model_, this, slices, 0, run, {}};
  }
  const mote_backend* get() const { return &backend_; }

  uint32_t calls = 0;
  std::multiset<uint32_t> slices;  // of which the first row was computed
  bool refuses = false;
  float instead_of_finite = 0;  // is written at the even rows in place of all sums, unless 0

 private:
  static int run(void* user, uint32_t op, uint32_t slice, const float* in, uint32_t rows, float* out) {
    auto* self = static_cast<Doubles*>(user);
    mote_linear linear;
    if (mote_model_linear(self->model_, op, self->backend_.slices, &linear) == 0) return 0;
    const uint32_t panels = (linear.outputs + 15) / 16;
    const uint32_t begin = panels * slice / linear.slices * 16;
    const uint32_t end = std::min(linear.outputs, panels * (slice + 1) / linear.slices * 16);
    {
      const std::lock_guard lock(self->mutex_);
      ++self->calls;
      self->slices.insert(slice);
    }
    if (self->refuses) return 0;
    for (uint32_t t = 0; t < rows; ++t) {
      for (uint32_t n = begin; n < end; ++n) {
        double sum = linear.bias == nullptr ? 0.0 : static_cast<double>(linear.bias[n]);
        for (uint32_t k = 0; k < linear.inputs; ++k) {
          const float weight = linear.weight[(n / 16 * linear.inputs + k) * 16 + n % 16];
          sum += static_cast<double>(in[t * linear.in_stride + k]) * static_cast<double>(weight);
        }
        if (self->instead_of_finite != 0 && t % 2 == 0) sum = static_cast<double>(self->instead_of_finite);
        out[t * linear.out_stride + n - begin] = static_cast<float>(sum);
      }
    }
    return 1;
  }

  const mote_model* model_;
  mote_backend backend_{};
  std::mutex mutex_;
};

mote_session_options options_of(const test::OpenModel& model, mote_posix_pool* pool = nullptr) {
  mote_session_options options = mote_session_options_default(model.get());
  options.platform = mote_posix_pool_platform(pool);
  return options;
}

void check_near(const std::vector<float>& expected, const std::vector<float>& actual, float bound) {
  REQUIRE(expected.size() == actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == actual[i] || (std::isnan(expected[i]) && std::isnan(actual[i]))) continue;
    if (!(std::fabs(expected[i] - actual[i]) <= bound)) {
      TEST_FAIL_MESSAGE("value " << i << ": expected " << expected[i] << ", is " << actual[i]);
    }
  }
}

}  // namespace

TEST("backend: its results are finished with activation and residual") {
  for (const auto activation :
       {mote::Activation::none, mote::Activation::gelu, mote::Activation::silu, mote::Activation::tanh}) {
    for (const bool residual : {false, true}) {
      for (const bool bias : {false, true}) {
        const test::LinearModel linear{20, 100, bias, activation, residual};
        const test::OpenLinearModel model(linear);
        for (const uint32_t rows : {1u, 5u, 150u}) {
          CAPTURE(static_cast<int>(activation), residual, bias, rows);
          mote_session_options options = options_of(model);
          const std::vector<float> expected = run_linear_model(model, options, rows);
          Doubles backend(model, 3);
          options.backend = backend.get();
          check_near(expected, run_linear_model(model, options, rows), 1e-5f);
          TEST_ASSERT_TRUE(backend.slices.count(0) >= 1 && backend.slices.count(1) >= 1 &&
                           backend.slices.count(2) >= 1 && backend.slices.count(3) == 0);
        }
      }
    }
  }
}

TEST("backend: every slice is computed once however many threads the session has") {
  const test::OpenLinearModel model(test::LinearModel{36, 330});  // 21 panels
  const std::vector<float> expected = run_linear_model(model, options_of(model), 40);
  for (const uint32_t threads : {1u, 2u, 3u, 5u}) {
    const test::ThreadPool pool(threads);
    for (const uint32_t slices : {1u, 2u, 3u, 4u, 21u, 100u}) {
      CAPTURE(threads, slices);
      Doubles backend(model, slices);
      mote_session_options options = options_of(model, pool.get());
      options.backend = backend.get();
      check_near(expected, run_linear_model(model, options, 40), 1e-5f);
      std::multiset<uint32_t> once;
      for (uint32_t i = 0; i < std::min(slices, 21u); ++i) once.insert(i);
      TEST_ASSERT_TRUE(backend.slices == once);
    }
  }
}

TEST("backend: mote's kernel computes what is not finite or was refused") {
  for (const bool residual : {false, true}) {
    const test::OpenLinearModel model(test::LinearModel{20, 100, true, mote::Activation::none, residual});
    mote_session_options options = options_of(model);
    const std::vector<float> expected = run_linear_model(model, options, 9);
    for (const float number : {INFINITY, -INFINITY, kNan}) {
      Doubles backend(model, 2);
      backend.instead_of_finite = number;
      options.backend = backend.get();
      const std::vector<float> actual = run_linear_model(model, options, 9);
      check_near(expected, actual, 1e-5f);
      TEST_ASSERT_EQUAL_MEMORY(expected.data(), actual.data(), 100 * sizeof(float));
    }
    Doubles backend(model, 2);
    backend.refuses = true;
    options.backend = backend.get();
    TEST_ASSERT_TRUE(run_linear_model(model, options, 9) == expected);
    TEST_ASSERT_EQUAL_UINT32(2, backend.calls);
  }
}

TEST("backend: a session refuses one of another model or without slices") {
  const test::OpenLinearModel model(test::LinearModel{20, 40});
  const test::OpenLinearModel other(test::LinearModel{20, 40});
  Doubles foreign(other, 1), none(model, 0);
  mote_session_options options = options_of(model);
  mote_memory memory;
  mote_error error{};
  options.backend = foreign.get();
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
  TEST_ASSERT_EQUAL_STRING("the backend was made for another model", error.text);
  options.backend = none.get();
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
}

TEST("backend: only linear operations with f32 weights are for one") {
  mote_linear linear;
  const test::OpenLinearModel one(test::LinearModel{20, 40});
  TEST_ASSERT_EQUAL_UINT32(3, mote_model_operations(one.get()));
  TEST_ASSERT_EQUAL_INT(0, mote_model_linear(one.get(), 0, 2, &linear));
  TEST_ASSERT_EQUAL_INT(1, mote_model_linear(one.get(), 1, 2, &linear));
  TEST_ASSERT_EQUAL_UINT32(40, linear.outputs);
  TEST_ASSERT_EQUAL_UINT32(20, linear.inputs);
  TEST_ASSERT_EQUAL_UINT32(2, linear.slices);
  TEST_ASSERT_EQUAL_INT(0, mote_model_linear(one.get(), 2, 2, &linear));
  TEST_ASSERT_EQUAL_INT(0, mote_model_linear(one.get(), 3, 2, &linear));
  const test::OpenModel quantized(test::golden_file("llama", "q8g32"));
  for (uint32_t op = 0; op < mote_model_operations(quantized.get()); ++op) {
    TEST_ASSERT_EQUAL_INT(0, mote_model_linear(quantized.get(), op, 1, &linear));
  }
}
