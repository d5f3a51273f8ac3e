// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a .mote file, then kModelChoices that choose options and calls: opened and, where that
// succeeds, run.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/model_choices.h"
#include "tests/support/any_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t file = fuzz::file_bytes(size);
  test::open_and_run(test::AlignedBytes(data, file), test::Choices(data + file, size - file));
  return 0;
}
