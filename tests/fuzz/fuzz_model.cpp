// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a .mote file: opened and, where that succeeds, run.
#include "tests/fuzz/fuzz.h"
#include "tests/support/any_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  test::open_and_run(test::AlignedBytes(data, size));
  return 0;
}
