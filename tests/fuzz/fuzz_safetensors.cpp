// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a safetensors file: parsed, every tensor's bytes read.
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_tensors.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    test::read_all_bytes(parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "input"));
  } catch (const Error&) {
  }
  return 0;
}
