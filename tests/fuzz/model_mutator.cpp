// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer calls to make inputs of the target `model`: mostly changes by the schema.
#include <vector>

#include "tests/fuzz/mutate_model.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (seed % 8 != 0 && fuzz::mutate_model(data, size, seed / 8)) return size;
  return LLVMFuzzerMutate(data, size, max_size);
}
