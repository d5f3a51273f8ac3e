// SPDX-License-Identifier: Apache-2.0
//
// The templates of kernels/simd over plain vectors, as entries of the kernel list: of 8 lanes whose products
// are fused, named after avx2, and of 4 lanes whose products are not, named after sse.
#pragma once

#include "kernels/dispatch.h"

namespace mote::testing {

const KernelEntry* plain_kernels(uint32_t* count);

}  // namespace mote::testing
