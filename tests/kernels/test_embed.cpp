// SPDX-License-Identifier: Apache-2.0
//
// Looking up is exact for every table type; only types with minima and q8c round, once: the reference equals
// the double value rounded to f32, and every kernel equals the reference bitwise.
#include "tests/support/packed_weight.h"

namespace mote::testing {
namespace {

constexpr uint32_t kVocab = 37;
constexpr uint32_t kWidths[] = {1,  2,  3,  7,  8,  9,  15, 16,  17,  31, 32,
                                33, 36, 44, 60, 63, 64, 65, 100, 257, 576};

std::vector<int32_t> every_id_backwards() {
  std::vector<int32_t> ids;
  for (int32_t id = kVocab; id-- > 0;) ids.push_back(id);
  ids.push_back(5);
  return ids;
}

void check_panels(const KernelEntry& entry, uint32_t width, Edge edge, Split split) {
  INFO("width " << width);
  Random random(width);
  const PackedWeight table(entry.b, kVocab, width, random);
  const std::vector<int32_t> ids = every_id_backwards();
  GuardedRows out(ids.size(), width, edge);
  run_kernel(entry, EmbedArgs{table.data(), width, false, ids.data(), out.view()}, kVocab + 1, split);
  check_within(
      out,
      [&](size_t t, size_t k) {
        const double value = table.value(static_cast<uint32_t>(ids[t]), static_cast<uint32_t>(k));
        return static_cast<double>(static_cast<float>(value));
      },
      [](size_t, size_t) { return 0.0; });
}

/// A row-major table of these values.
void check_rows(const KernelEntry& entry, const GuardedBuffer& table, const std::vector<float>& values,
                uint32_t width) {
  const std::vector<int32_t> ids = every_id_backwards();
  GuardedRows out(ids.size(), width, Edge::end);
  run_kernel(entry, EmbedArgs{table.data(), width, true, ids.data(), out.view()}, kVocab + 1);
  for (size_t t = 0; t < ids.size(); ++t) {
    TEST_ASSERT_EQUAL_MEMORY(&values[static_cast<size_t>(ids[t]) * width], out[t], width * 4);
  }
  out.check_gaps();
}

}  // namespace

TEST("embed looks up rows of panels exactly", "[embed]") {
  each_kernel(Op::kEmbed, [](const KernelEntry& entry) {
    for (const uint32_t width : kWidths) {
      check_panels(entry, width, Edge::end, Split::whole);
      check_panels(entry, width, Edge::start, Split::ones_backwards);
    }
  });
}

TEST("embed looks up rows of row-major tables exactly", "[embed]") {
  each_kernel(Op::kEmbed, [](const KernelEntry& entry) {
    if (entry.b != DType::f32 && entry.b != DType::f16) return;
    const size_t element_bytes = entry.b == DType::f32 ? 4 : 2;
    for (uint32_t width = 1; width <= 40; ++width) {
      INFO("width " << width);
      Random random(width);
      const GuardedBuffer table(kVocab * width * element_bytes, Edge::end);
      std::vector<float> values(kVocab * width);
      for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t half = f16_from_f32(random.uniform(-4.0f, 4.0f));
        values[i] = f32_from_f16(half);
        const void* element = entry.b == DType::f32 ? static_cast<const void*>(&values[i]) : &half;
        memcpy(table.data() + i * element_bytes, element, element_bytes);
      }
      check_rows(entry, table, values, width);
    }
  });
}

TEST("embed looks up rows of row-major q8c tables exactly", "[embed]") {
  each_kernel(Op::kEmbed, [](const KernelEntry& entry) {
    if (entry.b != DType::q8c) return;
    for (uint32_t width = 1; width <= 40; ++width) {
      INFO("width " << width);
      Random random(width);
      const size_t bytes = 4 + (width + 3) / 4 * 4;
      const GuardedBuffer table(kVocab * bytes, Edge::end);
      std::vector<float> values(kVocab * width);
      for (size_t id = 0; id < kVocab; ++id) {
        const float scale = random.uniform(-0.02f, 0.02f);
        memcpy(table.data() + id * bytes, &scale, 4);
        for (size_t k = 0; k < width; ++k) {
          const auto q = static_cast<int8_t>(random.below(256));
          memcpy(table.data() + id * bytes + 4 + k, &q, 1);
          values[id * width + k] = static_cast<float>(static_cast<double>(scale) * q);
        }
      }
      check_rows(entry, table, values, width);
    }
  });
}

TEST("embed of no rows does nothing", "[embed]") {
  each_kernel(Op::kEmbed, [](const KernelEntry& entry) {
    run_kernel(entry, EmbedArgs{nullptr, 64, false, nullptr, {nullptr, 256}}, 0);
  });
}

}  // namespace mote::testing
