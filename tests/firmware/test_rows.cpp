// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this processor that go by rows against the reference, in the same image.
#include <math.h>
#include <string.h>

#include <initializer_list>

#include "kernels/dispatch.h"
#include "schema/f16.h"
#include "tests/firmware/tests.h"
#include "tests/firmware/unity.h"

namespace {

using namespace mote;

constexpr uint32_t kRows = 3, kMostWidth = 132;
constexpr uint32_t kStride = (kMostWidth + 4) * sizeof(float);

float in[kRows][kStride / 4], other[kRows][kStride / 4];
float expected[kRows][kStride / 4], actual[kRows][kStride / 4];
float weight[kMostWidth], bias[kMostWidth];

uint32_t state = 7;
float uniform() {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
}

void fill(float scale) {
  for (auto* rows : {&in, &other}) {
    for (auto& row : *rows) {
      for (float& value : row) value = uniform() * scale;
    }
  }
}

/// Calls check(kernel, reference) for each kernel of the operation that is not the reference.
template <class Check>
void each_kernel(Op op, Check check) {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    const KernelEntry& kernel = kernels[i];
    if (kernel.op == op && kernel.isa != Isa::kRef)
      check(kernel, *find_kernel(op, kernel.a, kernel.b, Isa::kRef));
  }
}

/// Runs both on all rows, and compares: |difference| at most `relative` |expected| + `absolute`, NaN being
/// NaN.
template <class Args>
void compare(const KernelEntry& kernel, const KernelEntry& reference, Args args, float relative,
             float absolute) {
  memset(actual, 0x5A, sizeof actual);
  memset(expected, 0x5A, sizeof expected);
  args.out = {actual[0], kStride};
  kernel_cast<Args> (&kernel)(args, {0, kRows}, nullptr);
  args.out = {expected[0], kStride};
  kernel_cast<Args> (&reference)(args, {0, kRows}, nullptr);
  for (uint32_t t = 0; t < kRows; ++t) {
    for (uint32_t i = 0; i < kStride / 4; ++i) {
      const float e = expected[t][i], a = actual[t][i];
      const bool near = fabsf(e - a) <= relative * fabsf(e) + absolute;
      TEST_ASSERT_TRUE(near || e == a || (isnan(e) && isnan(a)));
    }
  }
}

void check_norm(const KernelEntry& kernel, const KernelEntry& reference, NormKind kind, uint32_t width,
                uint32_t groups) {
  NormArgs args = {};
  args.kind = kind;
  args.eps = 1e-5f;
  args.groups = groups;
  args.width = width;
  args.in = {in[0], kStride};
  for (const bool outside : {false, true}) {
    args.eps_outside_root = outside;
    args.weight = args.bias = nullptr;
    compare(kernel, reference, args, 2e-6f, 2e-6f);
    args.weight = weight;
    compare(kernel, reference, args, 2e-6f, 2e-6f);
    args.bias = bias;
    compare(kernel, reference, args, 2e-6f, 2e-6f);
  }
}

/// 16 positions of two heads.
constexpr uint32_t kHeads = 2, kColumns = 32;
unsigned char keys[2][kHeads * kAttentionTile * (kColumns + 4)], values[2][sizeof keys[0]];

void check_kv_store(const KernelEntry& kernel, const KernelEntry& reference, uint32_t key_dim,
                    uint32_t value_dim) {
  const uint32_t page = 0;
  const int32_t positions[] = {0, 5, 18}, sequences[] = {0, 0, 0};
  memset(keys, 0, sizeof keys);
  memset(values, 0, sizeof values);
  for (uint32_t i = 0; i < 2; ++i) {
    KvStoreArgs args = {};
    args.cache = {keys[i], values[i], &page, 1, kAttentionTile, kHeads, key_dim, value_dim};
    args.positions = positions;
    args.sequences = sequences;
    args.k = {in[0], kStride};
    args.v = {other[0], kStride};
    kernel_cast<KvStoreArgs>(i == 0 ? &kernel : &reference)(args, {0, kRows}, nullptr);
  }
  TEST_ASSERT_EQUAL_MEMORY(keys[1], keys[0], sizeof keys[0]);
  TEST_ASSERT_EQUAL_MEMORY(values[1], values[0], sizeof values[0]);
}

}  // namespace

void norm_is_near_the_reference() {
  for (float& value : weight) value = uniform();
  for (float& value : bias) value = uniform();
  each_kernel(Op::kNorm, [](const KernelEntry& kernel, const KernelEntry& reference) {
    for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2}) {
      for (const float scale : {1.0f, 100.0f}) {
        fill(scale);
        in[1][0] = 0.0f;
        for (const uint32_t width : std::initializer_list<uint32_t>{1, 3, 4, 7, 31, 128})
          check_norm(kernel, reference, kind, width, 1);
        check_norm(kernel, reference, kind, 130, 5);
        in[2][2] = NAN;
        check_norm(kernel, reference, kind, 128, 4);
      }
    }
  });
}

void gate_is_near_the_reference() {
  each_kernel(Op::kGate, [](const KernelEntry& kernel, const KernelEntry& reference) {
    for (uint32_t activation = 0; activation <= static_cast<uint32_t>(Activation::sigmoid); ++activation) {
      for (const float scale : {1.0f, 10.0f, 200.0f}) {
        fill(scale);
        in[1][1] = 0.0f;
        in[0][0] = INFINITY;
        in[2][0] = NAN;
        GateArgs args = {};
        args.activation = static_cast<Activation>(activation);
        args.gate = {in[0], kStride};
        args.up = {other[0], kStride};
        for (const uint32_t width : std::initializer_list<uint32_t>{1, 3, 4, 6, 33, kMostWidth}) {
          args.width = args.gates = width;
          // The activation is exact to 1.4e-7 of its argument, which up multiplies; that of the reference
          // less.
          compare(kernel, reference, args, 1e-6f, 4e-7f * scale * scale);
        }
        args.gates = 33;
        compare(kernel, reference, args, 1e-6f, 4e-7f * scale * scale);
      }
    }
  });
}

void rope_table_is_near_the_reference() {
  each_kernel(Op::kRopeTable, [](const KernelEntry& kernel, const KernelEntry& reference) {
    const int32_t positions[] = {0, 77, 1 << 23};
    float frequencies[16];
    for (uint32_t i = 0; i < 16; ++i) frequencies[i] = expf(-0.6f * static_cast<float>(i));
    frequencies[14] = 0x1p100f;
    frequencies[15] = -3.0e-3f;
    RopeTableArgs args = {};
    args.frequencies = frequencies;
    args.rotary_width = 32;
    args.scale = 1.0f;
    args.growth_every = 1;
    args.positions = positions;
    compare(kernel, reference, args, 0.0f, 2e-7f);
    args.growth = 0.1f;
    compare(kernel, reference, args, 1e-6f, 1e-6f);
  });
}

void kv_store_equals_the_reference() {
  each_kernel(Op::kKvStore, [](const KernelEntry& kernel, const KernelEntry& reference) {
    fill(3.0f);
    check_kv_store(kernel, reference, 32, 32);
    check_kv_store(kernel, reference, 20, 12);
    for (uint32_t i = 0; i < 32; ++i) in[1][i] = 0.0f;
    in[2][3] = NAN;
    other[0][1] = -INFINITY;
    for (uint32_t i = 0; i < 64; ++i) other[2][i] *= 0x1p-102f;
    check_kv_store(kernel, reference, 32, 32);
  });
}
