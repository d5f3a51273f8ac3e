// SPDX-License-Identifier: Apache-2.0
//
// AMX's tiles in plain C++, so that every processor tests how linear_amx.inl.h walks them. As in AmxTiles:
// sums in tiles 0 to 3, activations in 4 and 5, weights in 6 and 7.
#pragma once

#include <string.h>

#include "kernels/dispatch.h"
#include "kernels/simd/linear_dots.inl.h"
#include "kernels/x86/linear_amx.inl.h"
#include "tests/support/plain_vnni.h"

namespace mote::testing {
namespace {

class PlainTiles {
 public:
  template <uint32_t columns>
  static void configure() {
    state_ = {};
    state_.columns = columns;
  }
  static void release() { state_.columns = 0; }

  template <uint32_t tile>
  static void zero() {
    memset(state_.tiles[tile], 0, sizeof state_.tiles[tile]);
  }
  template <uint32_t tile>
  static void load(const void* from, size_t stride) {
    const bool activations = tile == 4 || tile == 5;
    check_configured();
    for (uint32_t row = 0; row < (tile > 5 ? state_.columns / 4 : 16); ++row) {
      memcpy(state_.tiles[tile][row], static_cast<const char*>(from) + row * stride,
             activations ? state_.columns : 64);
    }
  }
  template <uint32_t tile>
  static void store(void* to, size_t stride) {
    check_configured();
    for (uint32_t row = 0; row < 16; ++row)
      memcpy(static_cast<char*>(to) + row * stride, state_.tiles[tile][row], 64);
  }
  template <uint32_t sums, uint32_t rows, uint32_t weights>
  static void dot() {
    check_configured();
    for (uint32_t row = 0; row < 16; ++row) {
      for (uint32_t output = 0; output < 16; ++output) {
        uint32_t sum;
        memcpy(&sum, &state_.tiles[sums][row][4 * output], 4);
        for (uint32_t k = 0; k < state_.columns; ++k) {
          const int32_t a = state_.tiles[rows][row][k], w = state_.tiles[weights][k / 4][4 * output + k % 4];
          sum += static_cast<uint32_t>(a * w);
        }
        memcpy(&state_.tiles[sums][row][4 * output], &sum, 4);
      }
    }
  }

 private:
  struct State {
    uint32_t columns;  // 0: released
    int8_t tiles[8][16][64];
  };
  static void check_configured() {
    if (state_.columns == 0) TEST_FAIL_MESSAGE("tiles are not configured");
  }
  static inline thread_local State state_ = {};
};

using Plain16 = PlainVnni<16>;

template <class Kernel>
struct PlainAmx {
  static constexpr auto* kFewRows = &linear_dots<Plain16, typename Kernel::FewRows>;
  static KernelEntry entry(DType a, DType b, const char* name) {
    return {Op::kLinear,
            a,
            b,
            Isa::kAmxInt8,
            name,
            reinterpret_cast<AnyKernel>(&linear_amx<PlainTiles, Kernel, *kFewRows>),
            &linear_amx_scratch<PlainTiles, Kernel, *kFewRows>};
  }
};

const KernelEntry kPlainAmxKernels[] = {
    PlainAmx<AmxGroupKernel<PlainTiles, Plain16, Q8>>::entry(DType::q8g32, DType::q8g32,
                                                             "linear_q8g32_q8g32"),
    PlainAmx<AmxGroupKernel<PlainTiles, Plain16, Q4>>::entry(DType::q8g32, DType::q4g32,
                                                             "linear_q8g32_q4g32"),
    PlainAmx<AmxGroupKernel<PlainTiles, Plain16, Q4m>>::entry(DType::q8g32, DType::q4mg32,
                                                              "linear_q8g32_q4mg32"),
    PlainAmx<AmxRowKernel<PlainTiles, Plain16>>::entry(DType::q8c, DType::q8c, "linear_q8c_q8c"),
};

}  // namespace
}  // namespace mote::testing
