// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a PNG or JPEG: read and resampled, with small limits.
#include "host/base/error.h"
#include "host/media/resample.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::pictures;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr Limits kLimits{1 << 20, 8 << 20};
  constexpr Shape kShape{24, 0, 24, 24, 24, 24, Filter::bicubic};
  try {
    Resampler resampler(kShape, kLimits);
    read_rows({reinterpret_cast<const std::byte*>(data), size}, kLimits, resampler);
    [[maybe_unused]] static volatile size_t sink;
    sink = resampler.result().size();
  } catch (const mote::convert::Error&) {
  }
  return 0;
}
