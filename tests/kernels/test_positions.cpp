// SPDX-License-Identifier: Apache-2.0
//
// One addition in f32: every kernel is exact to the bit.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

constexpr uint32_t kPositionIds = 11;

void check(const KernelEntry& entry, uint32_t width, Edge edge, Split split, bool replaces = false) {
  INFO("width " << width);
  const size_t element_bytes = entry.b == DType::f32 ? 4 : 2;
  Random random(width);
  const GuardedBuffer table(kPositionIds * width * element_bytes, Edge::end);
  std::vector<float> values(kPositionIds * width);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = i % 41 == 7 ? uint16_t{0x7C00} : f16_from_f32(random.uniform(-4.0f, 4.0f));
    values[i] = f32_from_f16(half);
    const void* element = entry.b == DType::f32 ? static_cast<const void*>(&values[i]) : &half;
    memcpy(table.data() + i * element_bytes, element, element_bytes);
  }
  const int32_t positions[] = {10, 0, 3, 3, 9};
  GuardedRows x(5, width, edge), expected(5, width, Edge::start);
  x.fill([&](size_t t, size_t) { return t == 2 ? NAN : random.uniform(-1.0f, 1.0f); });
  expected.fill([&](size_t t, size_t i) {
    const float own = values[static_cast<size_t>(positions[t]) * width + i];
    return replaces ? own : x[t][i] + own;
  });
  run_kernel(entry, PositionsArgs{table.data(), width, positions, x.view(), replaces}, 5, split);
  check_same_bits(expected, x);
}

}  // namespace

TEST("positions replaces rows by those of their positions, whatever they were", "[positions]") {
  each_kernel(Op::kPositions, [](const KernelEntry& entry) {
    for (uint32_t width = 1; width <= 40; ++width) check(entry, width, Edge::end, Split::whole, true);
  });
}

TEST("positions adds the row of each token's position, at every width", "[positions]") {
  each_kernel(Op::kPositions, [](const KernelEntry& entry) {
    for (uint32_t width = 1; width <= 40; ++width) {
      check(entry, width, Edge::end, Split::whole);
      check(entry, width, Edge::start, Split::halves);
      check(entry, width, Edge::end, Split::ones_backwards);
    }
  });
}

}  // namespace mote::testing
