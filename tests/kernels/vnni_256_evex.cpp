// SPDX-License-Identifier: Apache-2.0
//
// The 256-bit VNNI kernels compiled for AVX-512-VNNI: processors with that and no AVX-VNNI test them, too.
#include "kernels/x86/vnni_256.inl.h"

#include "tests/support/vnni_kernels.h"

namespace mote::test {

const KernelEntry* const kEvexVnniKernels = kVnniKernels<Vnni256, Isa::kAvx512Vnni>;

}  // namespace mote::test
