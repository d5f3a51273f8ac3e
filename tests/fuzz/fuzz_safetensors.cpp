// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a safetensors file: parsed, every tensor's bytes read.
#include "converter/error.h"
#include "converter/readers/safetensors.h"
#include "runtime/file/xxh64.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const NamedTensors tensors = parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "input");
    mote::Xxh64 hash;
    for (const auto& [name, tensor] : tensors) hash.update(tensor.bytes.data(), tensor.bytes.size());
    [[maybe_unused]] static volatile uint64_t sink;
    sink = hash.digest();
  } catch (const Error&) {
  }
  return 0;
}
