// SPDX-License-Identifier: Apache-2.0
//
// Rounding, scale and sum are fixed to the bit by the contract: every kernel equals the reference bitwise,
// and the reference the formula.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

/// Quantized rows against the guard page, filled with 0xA5 to see what is not written.
class QuantizedOut {
 public:
  QuantizedOut(const KernelEntry& entry, uint32_t rows, uint32_t width)
      : by_row_(entry.b == DType::q8c),
        width_(width),
        stride_(buffer_row_bytes(entry.b, width)),
        buffer_(rows * stride_, Edge::end) {
    memset(buffer_.data(), 0xA5, buffer_.bytes());
  }
  void* data() const { return buffer_.data(); }
  size_t bytes() const { return buffer_.bytes(); }
  size_t stride() const { return stride_; }
  uint32_t padded() const { return static_cast<uint32_t>(align_up(width_, 64)); }
  /// Columns of a group, and how many there are.
  uint32_t group() const { return by_row_ ? padded() : 32; }
  uint32_t groups() const { return padded() / group(); }
  int8_t* q(size_t t) const { return buffer_.data<int8_t>() + t * stride_; }
  float* scale(size_t t) const { return reinterpret_cast<float*>(q(t) + padded()); }
  int32_t* sum(size_t t) const { return reinterpret_cast<int32_t*>(q(t) + padded() + 4 * groups()); }

 private:
  bool by_row_;
  uint32_t width_;
  size_t stride_;
  GuardedBuffer buffer_;
};

void run(const KernelEntry& entry, const GuardedRows& in, const QuantizedOut& out, Split split = Split::whole,
         const float* columns = nullptr) {
  const auto width = static_cast<uint32_t>(in.width());
  run_kernel(entry, QuantizeArgs{width, columns, in.const_view(), out.data(), out.stride()},
             static_cast<uint32_t>(in.rows()), split);
}

/// The formula; the products and quotients are rounded to f32 as the contract's are.
void check_formula(const GuardedRows& in, const QuantizedOut& out) {
  for (size_t t = 0; t < in.rows(); ++t) {
    for (uint32_t g = 0; g < out.groups(); ++g) {
      const uint32_t begin = g * out.group(), end = begin + out.group();
      float absmax = 0.0f;
      int32_t sum = 0;
      for (uint32_t k = begin; k < end && k < in.width(); ++k) absmax = std::max(absmax, fabsf(in[t][k]));
      TEST_ASSERT_TRUE(out.scale(t)[g] == (absmax < 0x1p-100f ? 0.0f : absmax / 127.0f));
      for (uint32_t k = begin; k < end; ++k) {
        const float exact = k < in.width() && absmax >= 0x1p-100f ? in[t][k] * (127.0f / absmax) : 0.0f;
        const int q = out.q(t)[k];
        const double distance = fabs(static_cast<double>(exact) - q);
        if (distance > 0.5 || (distance == 0.5 && q % 2 != 0))
          TEST_FAIL_MESSAGE(exact << " rounded to " << q);
        sum += q;
      }
      TEST_ASSERT_EQUAL_INT(sum, out.sum(t)[g]);
    }
  }
}

void check_same_as_reference(const KernelEntry& entry, const GuardedRows& in, const QuantizedOut& out) {
  const QuantizedOut expected(entry, static_cast<uint32_t>(in.rows()), static_cast<uint32_t>(in.width()));
  run(reference_of(entry), in, expected);
  for (size_t t = 0; t < in.rows(); ++t) {
    for (uint32_t g = 0; g < out.groups(); ++g) {
      if (isnan(expected.scale(t)[g]) && isnan(out.scale(t)[g])) out.scale(t)[g] = expected.scale(t)[g];
    }
  }
  TEST_ASSERT_EQUAL_MEMORY(expected.data(), out.data(), out.bytes());
}

}  // namespace

TEST("quantize meets its formula and the reference at every width", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    for (uint32_t width = 1; width <= 130; ++width) {
      for (const Edge edge : {Edge::start, Edge::end}) {
        INFO("width " << width);
        Random random(width);
        GuardedRows in(3, width, edge);
        in.fill([&](size_t t, size_t) { return static_cast<float>(t) * random.uniform(-1.0f, 1.0f); });
        const QuantizedOut out(entry, 3, width);
        run(entry, in, out, edge == Edge::end ? Split::whole : Split::ones_backwards);
        check_formula(in, out);
        check_same_as_reference(entry, in, out);
      }
    }
  });
}

TEST("quantize rounds halves to even", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    GuardedRows in(1, 32, Edge::end);
    in.fill([](size_t, size_t i) { return i == 0 ? 127.0f : static_cast<float>(i) - 16.5f; });
    const QuantizedOut out(entry, 1, 32);
    run(entry, in, out);
    for (int i = 1; i < 32; ++i) {
      const int below = i - 17;  // of the half below + 0.5
      TEST_ASSERT_EQUAL_INT(below % 2 == 0 ? below : below + 1, out.q(0)[i]);
    }
  });
}

TEST("quantize gives the largest magnitude 127 whatever its size", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    Random random(3);
    for (const float size : {0x1p-100f, 1e-20f, 1e-3f, 1.0f, 3e7f, 1e30f, 3.4e38f}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        GuardedRows in(1, 64, Edge::end);
        in.fill([&](size_t, size_t) { return size * random.uniform(-1.0f, 1.0f); });
        in[0][5] = size;
        in[0][40] = -size;
        const QuantizedOut out(entry, 1, 64);
        run(entry, in, out);
        TEST_ASSERT_EQUAL_INT(127, out.q(0)[5]);
        TEST_ASSERT_EQUAL_INT(-127, out.q(0)[40]);
        check_formula(in, out);
        check_same_as_reference(entry, in, out);
      }
    }
  });
}

TEST("quantize makes zeros of groups below 2^-100", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    GuardedRows in(1, 96, Edge::end);
    in.fill([](size_t, size_t i) { return i < 32 ? 0.0f : i < 64 ? 0x1.fffffep-101f : -1e-40f; });
    const QuantizedOut out(entry, 1, 96);
    run(entry, in, out);
    for (uint32_t g = 0; g < out.groups(); ++g)
      TEST_ASSERT_TRUE(out.scale(0)[g] == 0.0f && out.sum(0)[g] == 0);
    for (int k = 0; k < 128; ++k) TEST_ASSERT_EQUAL_INT(0, out.q(0)[k]);
  });
}

TEST("quantize gives a group with NaN or infinity a NaN scale and zeros, and no other", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    for (const float poison : {NAN, INFINITY, -INFINITY}) {
      for (uint32_t column = 0; column < 70; ++column) {
        GuardedRows in(2, 70, Edge::end);
        in.fill([](size_t, size_t i) { return static_cast<float>(i + 1); });
        in[1][column] = poison;
        const QuantizedOut out(entry, 2, 70);
        run(entry, in, out);
        const uint32_t poisoned = column / out.group();
        for (uint32_t g = 0; g < out.groups(); ++g) {
          TEST_ASSERT_EQUAL_INT(g == poisoned, isnan(out.scale(1)[g]));
          TEST_ASSERT_FALSE(isnan(out.scale(0)[g]));
        }
        for (uint32_t k = 0; k < out.group(); ++k)
          TEST_ASSERT_EQUAL_INT(0, out.q(1)[poisoned * out.group() + k]);
        TEST_ASSERT_EQUAL_INT(0, out.sum(1)[poisoned]);
        check_same_as_reference(entry, in, out);
      }
    }
  });
}

TEST("quantize with columns is quantize of the products, at every width and with NaN or infinity in either",
     "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    for (uint32_t width = 1; width <= 130; ++width) {
      for (const Edge edge : {Edge::start, Edge::end}) {
        for (const float poison : {1.0f, NAN, INFINITY, 0.0f, 0x1p-120f, 3e38f}) {
          INFO("width " << width << ", poison " << poison);
          Random random(width);
          GuardedRows in(3, width, edge), columns(1, width, edge), products(3, width, edge);
          in.fill([&](size_t t, size_t) { return static_cast<float>(t) * random.uniform(-2.0f, 2.0f); });
          columns.fill([&](size_t, size_t) { return random.uniform(-4.0f, 4.0f); });
          in[1][random.below(width)] *= poison;
          columns[0][random.below(width)] *= poison;
          products.fill([&](size_t t, size_t k) { return in[t][k] * columns[0][k]; });
          const QuantizedOut out(entry, 3, width);
          run(entry, in, out, edge == Edge::end ? Split::whole : Split::ones_backwards, columns[0]);
          check_same_as_reference(entry, products, out);
        }
      }
    }
  });
}

TEST("quantize of no rows does nothing", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    run_kernel(entry, QuantizeArgs{64, nullptr, {nullptr, 256}, nullptr, 128}, 0);
  });
}

TEST("quantize takes an out that lies over in, as a hostile file may have it", "[quantize]") {
  each_kernel(Op::kQuantize, [](const KernelEntry& entry) {
    constexpr uint32_t kWidth = 64;
    alignas(kAlignment) float row[kWidth];
    const uint32_t group = entry.b == DType::q8c ? kWidth : 32;
    for (int byte = 0; byte < 256; ++byte) {
      for (uint32_t at = 0; at < kWidth; ++at)
        row[at] = at % 3 == 0 ? 1.0f : -1e-3f * static_cast<float>(byte);
      run_kernel(entry, QuantizeArgs{kWidth, nullptr, {row, sizeof row}, row, sizeof row}, 1);
      const auto* q = reinterpret_cast<const int8_t*>(row);
      int32_t sum = 0, stored;
      for (uint32_t i = 0; i < group; ++i) sum += q[i];
      memcpy(&stored, q + kWidth + 4 * (kWidth / group), sizeof stored);
      TEST_ASSERT_EQUAL_INT32(sum, stored);
    }
  });
}

}  // namespace mote::testing
