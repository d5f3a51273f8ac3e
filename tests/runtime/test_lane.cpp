// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/lane.h"

#include <vector>

#include "runtime/exec/session.h"
#include "runtime/ops/ops.h"
#include "tests/support/test_model.h"

namespace {

using namespace mote;

constexpr size_t kLaneStride = 128, kLaneBytes = 4096;
constexpr uint32_t kFirstRow = 5;

/// A decoder of 8 bits, and options for two threads.
class TwoThreads {
 public:
  TwoThreads()
      : model(test::golden_file("llama", "q8g32")),
        options(mote_session_options_default(model.get())),
        pool_(mote_posix_pool_create(2)) {
    options.platform = mote_posix_pool_platform(pool_);
    options.threads = 2;
  }
  ~TwoThreads() { mote_posix_pool_destroy(pool_); }

  test::OpenModel model;
  mote_session_options options;

 private:
  mote_posix_pool* pool_;
};

uint32_t least(bool integers, uint32_t columns, uint64_t bytes, uint32_t threads) {
  return least_lane_rows({integers, columns, bytes}, *family(Isa::kAvx2).tuning, threads);
}

}  // namespace

TEST("rows are dealt to lanes evenly, the last of which may have fewer") {
  TEST_ASSERT_EQUAL(64u, rows_of_lane(128, 2));
  TEST_ASSERT_EQUAL(65u, rows_of_lane(129, 2));
  TEST_ASSERT_EQUAL(7u, rows_of_lane(7, 1));
  TEST_ASSERT_EQUAL(3u, rows_of_lane(7, 3));
}

TEST("a lane takes few rows of small weights, more of more threads, and many of large ones") {
  constexpr uint64_t kSmall = 10u << 20, kLarge = 100u << 20;
  TEST_ASSERT_EQUAL(8u, least(true, 384, kSmall, 2));
  TEST_ASSERT_EQUAL(16u, least(true, 384, kSmall, 4));
  TEST_ASSERT_EQUAL(16u, least(false, 384, kSmall, 2));
  TEST_ASSERT_EQUAL(64u, least(false, 384, kLarge, 2));
  TEST_ASSERT_EQUAL(72u, least(true, 576, kLarge, 2));
  TEST_ASSERT_EQUAL(96u, least(true, 768, kLarge, 2));
  TEST_ASSERT_EQUAL(128u, least(true, 2048, kLarge, 2));
  TEST_ASSERT_EQUAL(256u, least(true, 2048, kLarge, 64));
}

TEST("a step of a lane finds a row of the run at the lane's own place") {
  std::vector<float> buffers(4096);
  Step step{};
  step.op = Op::kGate;
  step.gate.gate = {buffers.data(), kLaneStride};
  step.gate.up = {buffers.data() + 100, kLaneStride};
  step.gate.out = {buffers.data() + 200, kLaneStride};
  const Step moved = in_lane(step, kLaneBytes, kFirstRow);
  const auto place = [](const float* row) { return reinterpret_cast<const char*>(row); };
  TEST_ASSERT_TRUE(place(moved.gate.gate[kFirstRow]) == place(step.gate.gate[0]) + kLaneBytes);
  TEST_ASSERT_TRUE(place(moved.gate.up[kFirstRow + 2]) == place(step.gate.up[2]) + kLaneBytes);
  TEST_ASSERT_TRUE(place(moved.gate.out[kFirstRow]) == place(step.gate.out[0]) + kLaneBytes);
}

TEST("every operand of every step of a session lies in the lane, and what is left out stays so") {
  TwoThreads two;
  two.options.chunk = 64;
  const test::OpenSession opened(two.model, two.options);
  const mote_session* session = opened.get();
  const bool lanes = family(session->isa).tuning->lanes;
  TEST_ASSERT_EQUAL(lanes, session->lane_steps != nullptr);
  const auto* begin = session->places.streams[kTokens].buffers + session->lane_bytes;
  for (uint32_t i = 0; lanes && i < session->step_count; ++i) {
    const Step& step = session->lane_steps[i];
    if (step.stream != kTokens) continue;
    Step moved = in_lane(step, session->lane_bytes, 32);
    uint32_t operands = 0;
    for_each_operand(moved, [&](const void* data, size_t stride_bytes, size_t) {
      if (data == nullptr) return;
      const auto* row = static_cast<const uint8_t*>(data) + 32 * stride_bytes;
      TEST_ASSERT_TRUE(row >= begin && row + 32 * stride_bytes <= begin + session->lane_bytes);
      ++operands;
    });
    TEST_ASSERT_TRUE(operands > 0);
    if (step.op == Op::kLinear && step.linear.residual.data == nullptr)
      TEST_ASSERT_TRUE(moved.linear.residual.data == nullptr);
  }
}

TEST("sessions whose operands others take whole, or whose threads have too few rows, have no lanes") {
  const TwoThreads two;
  const auto lanes = [&](auto change) {
    mote_session_options changed = two.options;
    change(changed);
    return test::OpenSession(two.model, changed).get()->lane_steps != nullptr;
  };
  const bool any = lanes([](mote_session_options& o) { o.chunk = 16; });
  TEST_ASSERT_EQUAL(family(test::OpenSession(two.model, two.options).get()->isa).tuning->lanes, any);
  TEST_ASSERT_FALSE(lanes([](mote_session_options& o) { o.chunk = 15; }));
  TEST_ASSERT_FALSE(lanes([](mote_session_options& o) { o.threads = 1; }));
  TEST_ASSERT_FALSE(lanes([](mote_session_options& o) { o.isa = MOTE_ISA_REF; }));
  TEST_ASSERT_FALSE(lanes([](mote_session_options& o) {
    o.trace = [](void*, const char*, const float*, uint32_t, uint32_t, size_t) {};
  }));
}
