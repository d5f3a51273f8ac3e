// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this processor against the reference, in the same image.
#include <math.h>

#include <initializer_list>

#include "kernels/dispatch.h"
#include "schema/f16.h"
#include "tests/firmware/tests.h"
#include "tests/firmware/unity.h"

namespace {

using namespace mote;

constexpr uint32_t kMostRows = 3, kMostOutputs = 40, kMostInputs = 352;
constexpr uint32_t kStride = 512 * 4;

alignas(64) unsigned char weight[48 * 512 * 2];
alignas(64) unsigned char inputs[kMostRows * kStride];
alignas(64) float expected[kMostRows][kStride / 4], actual[kMostRows][kStride / 4];
alignas(64) float residual[kMostRows][kStride / 4];
alignas(64) unsigned char scratch[4096];
float bias[48];

uint32_t state = 1;
uint32_t random() { return state = state * 1664525u + 1013904223u; }
uint32_t below(uint32_t limit) { return (random() >> 8) % limit; }
float uniform() { return static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f; }

enum class Scales { common, odd };

/// Any bytes; what a byte 0 to 255 is not allowed to be, the scales, is written after them.
void fill_weight(DType type, uint32_t outputs, uint32_t columns, int byte) {
  const auto panel = static_cast<uint32_t>(panel_bytes(type, columns));
  const uint32_t panels = (outputs + 15) / 16;
  TEST_ASSERT_TRUE(panels * panel <= sizeof weight);
  for (uint32_t i = 0; i < panels * panel; ++i)
    weight[i] = static_cast<uint8_t>(byte < 0 ? below(256) : byte);
  const uint32_t cell = type == DType::q8g32 ? sizeof(SupercellQ8) : sizeof(SupercellQ4);
  for (uint32_t p = 0; p < panels; ++p) {
    unsigned char* at = weight + p * panel;
    for (uint32_t r = 0; type == DType::q8c && r < 16; ++r) {
      const float scale = uniform();
      memcpy(at + 4 * r, &scale, 4);
    }
    for (uint32_t c = 0; type != DType::q8c && c < panel; c += cell) {
      for (uint32_t i = 0; i < 32; ++i) {
        const uint16_t half = below(8) == 0 ? static_cast<uint16_t>(below(1024)) : f16_from_f32(uniform());
        memcpy(at + c + 2 * i, &half, 2);
      }
    }
  }
}

float scale_of(Scales scales) {
  if (scales == Scales::common) return uniform();
  constexpr float kOdd[] = {0.0f, 0x1p-107f, 0x1p-126f, 0x1p-140f, NAN, -0x1p-71f, 0x1p-70f, 1.0f};
  return kOdd[below(8)] * (below(2) == 0 ? 1.0f : 1.5f);
}

void fill_inputs(DType type, uint32_t rows, uint32_t columns, Scales scales, int byte) {
  const auto padded = static_cast<uint32_t>(activation_padded(columns));
  for (uint32_t t = 0; t < rows; ++t) {
    unsigned char* row = inputs + t * kStride;
    auto* scale = reinterpret_cast<float*>(row + activation_scale_offset(columns));
    int32_t* sum = type == DType::q8c ? reinterpret_cast<int32_t*>(scale + 1)
                                      : reinterpret_cast<int32_t*>(row + activation_sum_offset(columns));
    const uint32_t group = type == DType::q8c ? padded : kGroupColumns;
    for (uint32_t g = 0; g * group < padded; ++g) {
      scale[g] = scale_of(scales);
      sum[g] = 0;
      for (uint32_t k = g * group; k < (g + 1) * group; ++k) {
        row[k] = static_cast<uint8_t>(byte < 0 ? below(256) : byte);
        sum[g] += static_cast<int8_t>(row[k]);
      }
    }
  }
}

bool same(float a, float b) { return bits_from_f32(a) == bits_from_f32(b) || (isnan(a) && isnan(b)); }

struct Shape {
  uint32_t rows, outputs, columns;
};

void check_linear(const KernelEntry& kernel, const Shape& shape, Activation activation, bool with_bias) {
  LinearArgs args = {};
  args.weight = weight;
  args.bias = with_bias ? bias : nullptr;
  args.activation = activation;
  args.rows = shape.rows;
  args.outputs = shape.outputs;
  args.inputs = shape.columns;
  args.in = inputs;
  args.in_stride_bytes = kStride;
  args.residual = {with_bias ? residual[0] : nullptr, sizeof residual[0]};
  const Range panels = {0, (shape.outputs + 15) / 16};
  const KernelEntry* reference = find_kernel(kernel.op, kernel.a, kernel.b, Isa::kRef);
  TEST_ASSERT_TRUE(kernel.scratch_bytes({shape.rows, shape.columns, 0, 0, 0}) <= sizeof scratch);
  memset(actual, 0x5A, sizeof actual);
  memset(expected, 0x5A, sizeof expected);
  args.out = {actual[0], sizeof actual[0]};
  kernel_cast<LinearArgs> (&kernel)(args, panels, scratch);
  args.out = {expected[0], sizeof expected[0]};
  kernel_cast<LinearArgs>(reference)(args, panels, scratch);
  for (uint32_t t = 0; t < shape.rows; ++t) {
    for (uint32_t n = 0; n < shape.outputs + 16; ++n) TEST_ASSERT_TRUE(same(expected[t][n], actual[t][n]));
  }
}

/// Calls check(kernel) for the kernels of quantized weights that are not the reference.
template <class Check>
void each_linear(Check check) {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].op == Op::kLinear && kernels[i].isa != Isa::kRef && isa_available(kernels[i].isa))
      check(kernels[i]);
  }
}

void check_quantize(const KernelEntry& kernel, const float* columns) {
  for (const uint32_t width : std::initializer_list<uint32_t>{1u, 31u, 32u, 33u, 64u, 100u, 352u}) {
    QuantizeArgs args = {};
    args.width = width;
    args.columns = columns;
    args.in = {residual[0], sizeof residual[0]};
    args.out_stride_bytes = kStride;
    memset(actual, 0, sizeof actual);
    memset(expected, 0, sizeof expected);
    args.out = actual;
    kernel_cast<QuantizeArgs> (&kernel)(args, {0, kMostRows}, scratch);
    args.out = expected;
    kernel_cast<QuantizeArgs>(find_kernel(kernel.op, kernel.a, kernel.b, Isa::kRef))(args, {0, kMostRows},
                                                                                     scratch);
    TEST_ASSERT_EQUAL_MEMORY(expected, actual, sizeof actual);
  }
}

// Two pages of two KV heads, in which i8 takes 36 bytes for a key or value of 32 columns.
constexpr uint32_t kKvHeads = 2, kHeads = 4, kMostColumns = 32;
alignas(64) unsigned char keys[2 * kKvHeads * kAttentionTile * (kMostColumns + 4)];
alignas(64) unsigned char values[sizeof keys];

/// Any bytes, and scales of which a value or key is about 1 at most. Of each block the scales come first.
void fill_cache(unsigned char* cache, uint32_t columns) {
  const uint32_t block = 16 * (columns + 4);
  for (uint32_t i = 0; i < 2 * kKvHeads * kAttentionTile / 16; ++i) {
    for (uint32_t k = 0; k < block; ++k) cache[i * block + k] = static_cast<uint8_t>(below(256));
    for (uint32_t p = 0; p < 16; ++p) {
      const float scale = uniform() / 128;
      memcpy(cache + i * block + 4 * p, &scale, 4);
    }
  }
}

void check_attention(const KernelEntry& kernel, uint32_t key_dim, uint32_t value_dim, uint32_t window) {
  const uint32_t pages[] = {1, 0};
  const int32_t positions[] = {2, 37, 201}, sequences[] = {0, 0, 0};
  fill_cache(keys, key_dim);
  fill_cache(values, value_dim);
  AttentionArgs args = {};
  args.cache = {keys, values, pages, 2, kAttentionTile, kKvHeads, key_dim, value_dim};
  args.heads = kHeads;
  args.window = window;
  args.scale = 0.5f;
  args.rows = kMostRows;
  args.positions = args.last_seen = positions;
  args.sequences = sequences;
  args.q = {residual[0], sizeof residual[0]};
  args.score = ScoreKind::scaled;
  const KernelEntry* reference = find_kernel(kernel.op, kernel.a, kernel.b, Isa::kRef);
  const uint32_t blocks = (kMostRows + kAttentionRowBlock - 1) / kAttentionRowBlock;
  args.out = {actual[0], sizeof actual[0]};
  kernel_cast<AttentionArgs> (&kernel)(args, {0, kKvHeads * blocks}, scratch);
  args.out = {expected[0], sizeof expected[0]};
  kernel_cast<AttentionArgs>(reference)(args, {0, kKvHeads * blocks}, scratch);
  for (uint32_t t = 0; t < kMostRows; ++t) {
    for (uint32_t e = 0; e < kHeads * value_dim; ++e)
      TEST_ASSERT_TRUE(fabsf(expected[t][e] - actual[t][e]) <= 1e-5f);
  }
}

}  // namespace

void attention_is_near_the_reference() {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (auto& row : residual) {
    for (float& value : row) value = uniform();
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].op != Op::kAttention || kernels[i].isa == Isa::kRef) continue;
    for (const uint32_t window : std::initializer_list<uint32_t>{0u, 1u, 30u, 130u}) {
      check_attention(kernels[i], 32, 32, window);
      check_attention(kernels[i], 20, 12, window);
    }
  }
}

void linear_equals_the_reference_at_any_shape() {
  for (float& value : bias) value = uniform();
  for (auto& row : residual) {
    for (float& value : row) value = uniform();
  }
  each_linear([](const KernelEntry& kernel) {
    for (const uint32_t columns :
         std::initializer_list<uint32_t>{1u, 31u, 33u, 64u, 100u, 128u, kMostInputs}) {
      for (const uint32_t outputs : std::initializer_list<uint32_t>{1u, 3u, 15u, 17u, kMostOutputs}) {
        fill_weight(kernel.b, outputs, columns, -1);
        fill_inputs(kernel.a, kMostRows, columns, Scales::common, -1);
        for (const uint32_t rows : std::initializer_list<uint32_t>{1u, kMostRows}) {
          check_linear(kernel, {rows, outputs, columns}, Activation::none, false);
          check_linear(kernel, {rows, outputs, columns}, Activation::relu, true);
        }
      }
    }
  });
}

void linear_is_exact_at_the_ends_of_the_integer_range() {
  each_linear([](const KernelEntry& kernel) {
    for (const int w : {0x00, 0x80, 0x7F, 0xFF}) {
      for (const int x : {0x80, 0x7F, 0x81}) {
        fill_weight(kernel.b, 32, kMostInputs, w);
        fill_inputs(kernel.a, 1, kMostInputs, Scales::common, x);
        check_linear(kernel, {1, 32, kMostInputs}, Activation::none, false);
      }
    }
  });
}

void linear_equals_the_reference_with_tiny_zero_and_nan_scales() {
  each_linear([](const KernelEntry& kernel) {
    for (uint32_t turn = 0; turn < 32; ++turn) {
      fill_weight(kernel.b, 17, 128, -1);
      fill_inputs(kernel.a, kMostRows, 128, Scales::odd, -1);
      check_linear(kernel, {kMostRows, 17, 128}, Activation::none, false);
    }
  });
}

void quantize_equals_the_reference() {
  constexpr float kHalves[] = {127.0f, -31.5f, 0.5f, 2.5f};
  static float columns[kMostInputs];
  for (float& column : columns) column = uniform();
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].op != Op::kQuantize || kernels[i].isa == Isa::kRef) continue;
    for (uint32_t turn = 0; turn < 8; ++turn) {
      for (auto& row : residual) {
        for (float& value : row) value = turn == 1 ? uniform() * 0x1p-101f : uniform() * 100.0f;
      }
      if (turn == 2) residual[0][5] = NAN;
      if (turn == 3) residual[1][0] = -INFINITY;
      if (turn == 4) memset(residual[2], 0, sizeof residual[2]);
      // Halves, which are rounded to even.
      for (uint32_t k = 0; turn == 5 && k < kMostInputs; ++k) residual[0][k] = kHalves[k % 4];
      check_quantize(kernels[i], nullptr);
      check_quantize(kernels[i], columns);
    }
  }
}
