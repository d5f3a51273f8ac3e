// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/chain.h"

#include <vector>

#include "tests/support/unity_style.h"

namespace {

using namespace mote;

constexpr uint32_t kRows = 4, kWidth = 16;

/// Buffers of kRows rows, as a planner would place them.
class Buffers {
 public:
  explicit Buffers(size_t floats) : floats_(floats) {}
  float* at(size_t offset) { return floats_.data() + offset; }
  Rows rows(size_t offset, uint32_t stride = kWidth) { return {at(offset), stride * sizeof(float)}; }
  ConstRows const_rows(size_t offset, uint32_t stride = kWidth) {
    return {at(offset), stride * sizeof(float)};
  }

 private:
  std::vector<float> floats_;
};

Step norm(ConstRows in, Rows out) {
  Step step{};
  step.op = Op::kNorm;
  step.norm.width = kWidth;
  step.norm.in = in;
  step.norm.out = out;
  return step;
}

Step quantize(ConstRows in, Rows out) {
  Step step{};
  step.op = Op::kQuantize;
  step.quantize.width = kWidth;
  step.quantize.in = in;
  step.quantize.out = out.data;
  step.quantize.out_stride_bytes = out.stride_bytes;
  return step;
}

Step linear() {
  Step step{};
  step.op = Op::kLinear;
  return step;
}

std::vector<bool> chained(std::vector<Step> steps) {
  Places places{};
  for (StreamPlace& place : places.streams) place.rows = kRows;
  chain_steps(places, steps.data(), static_cast<uint32_t>(steps.size()));
  std::vector<bool> result;
  for (const Step& step : steps) result.push_back(step.chained);
  return result;
}

bool apart(const float* a, size_t a_stride, size_t a_width, const float* b, size_t b_stride, size_t b_width,
           uint32_t rows = kRows) {
  const RowSpan one = {a, a_stride * sizeof(float), a_width * sizeof(float)};
  const RowSpan other = {b, b_stride * sizeof(float), b_width * sizeof(float)};
  TEST_ASSERT_EQUAL(rows_stay_apart(one, other, rows), rows_stay_apart(other, one, rows));
  return rows_stay_apart(one, other, rows);
}

}  // namespace

TEST("rows of operands that lie apart, or are columns of the same rows, do not meet, others do", "[chain]") {
  Buffers b(200);
  struct Pair {
    size_t a, a_stride, a_width, b, b_stride, b_width;
    bool apart;
  };
  constexpr Pair kPairs[] = {{0, 16, 16, 64, 16, 16, true},  {0, 16, 16, 64, 4, 4, true},
                             {0, 16, 16, 0, 16, 16, true},   {0, 16, 8, 8, 16, 8, true},
                             {0, 16, 12, 4, 16, 12, true},   {0, 16, 16, 16, 16, 16, false},
                             {0, 16, 16, 48, 16, 16, false}, {0, 16, 12, 8, 16, 12, false},
                             {0, 16, 16, 0, 8, 8, false},    {0, 16, 16, 60, 4, 4, false}};
  for (const Pair& p : kPairs) {
    CAPTURE(p.a_stride, p.a_width, p.b, p.b_stride, p.b_width);
    TEST_ASSERT_EQUAL(p.apart, apart(b.at(p.a), p.a_stride, p.a_width, b.at(p.b), p.b_stride, p.b_width));
  }
  TEST_ASSERT_TRUE(apart(b.at(0), 16, 16, b.at(8), 8, 8, 1));
}

TEST("steps that read only their rows are a chain until one needs all rows", "[chain]") {
  Buffers b(500);
  const auto steps = chained({norm(b.const_rows(0), b.rows(64)), quantize(b.const_rows(64), b.rows(128)),
                              linear(), norm(b.const_rows(0), b.rows(0)),
                              quantize(b.const_rows(0), b.rows(64)), norm(b.const_rows(0), b.rows(128))});
  TEST_ASSERT_TRUE((steps == std::vector<bool>{false, true, false, false, true, true}));
}

TEST("a step that writes where earlier ones of its chain have rows begins a new one", "[chain]") {
  Buffers b(500);
  // The third writes narrower rows where the first reads.
  const auto steps = chained({norm(b.const_rows(0), b.rows(64)), norm(b.const_rows(64), b.rows(64)),
                              quantize(b.const_rows(64), b.rows(0, 8)), norm(b.const_rows(64), b.rows(64))});
  TEST_ASSERT_TRUE((steps == std::vector<bool>{false, true, false, true}));
}

TEST("steps over different rows are no chain", "[chain]") {
  Buffers b(500);
  Step other = norm(b.const_rows(64), b.rows(128));
  other.stream = 1;
  const auto steps = chained({norm(b.const_rows(0), b.rows(64)), other});
  TEST_ASSERT_TRUE((steps == std::vector<bool>{false, false}));
}

TEST(
    "lanes meet where attention reads what was stored, where that is overwritten, and where tokens are "
    "left") {
  char caches[2];
  const auto store = [&](int cache) {
    Step step{};
    step.op = Op::kKvStore;
    step.kv_store.cache.keys = &caches[cache];
    return step;
  };
  const auto attention = [&](int cache) {
    Step step{};
    step.op = Op::kAttention;
    step.attention.cache.keys = &caches[cache];
    return step;
  };
  Step select{};
  select.op = Op::kSelect;
  select.stream = 1;
  select.kind = file::StreamKind::selected;
  Buffers b(500);
  const std::pair<Step, bool> expected[] = {
      {norm(b.const_rows(0), b.rows(0)), true},
      {store(0), false},
      {attention(0), true},
      {linear(), false},
      {store(1), false},
      {attention(1), true},
      {store(0), false},
      {store(1), true},
      {attention(0), false},  // stored before the lanes last met
      {select, true},
      {select, true},
      {linear(), true},
  };
  std::vector<Step> steps;
  for (const auto& [step, needs_barrier] : expected) steps.push_back(step);
  part_steps(steps.data(), static_cast<uint32_t>(steps.size()));
  for (size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    TEST_ASSERT_EQUAL(expected[i].second, steps[i].needs_barrier);
  }
}

TEST("a step is compared with a bounded number of others, however long the file", "[chain]") {
  Buffers b(500);
  const auto steps = chained(std::vector<Step>(100, norm(b.const_rows(0), b.rows(0))));
  for (size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    TEST_ASSERT_EQUAL(i % kMaxChain != 0, steps[i]);
  }
  std::vector<Step> in_lanes(200, norm(b.const_rows(0), b.rows(0)));
  part_steps(in_lanes.data(), 200);
  for (size_t i = 0; i < in_lanes.size(); ++i) {
    CAPTURE(i);
    TEST_ASSERT_EQUAL(i % kMaxFromBarrier == 0, in_lanes[i].needs_barrier);
  }
}
