// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/linear_float_avx2.inl.h"

namespace mote::avx2 {
namespace {

struct Weight {
  static constexpr DType kDType = DType::f32;
  static void load(const char* panel, size_t k, __m256 w[kHalves]) {
    const float* column = reinterpret_cast<const float*>(panel) + k * kPanelRows;
    for (uint32_t h = 0; h < kHalves; ++h) w[h] = _mm256_load_ps(column + 8 * h);
  }
};

}  // namespace

void linear_f32_f32(const LinearArgs& args, Range panels, void*) { float_linear<Weight>(args, panels); }

}  // namespace mote::avx2
