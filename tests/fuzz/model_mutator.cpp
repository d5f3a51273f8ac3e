// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer calls to make inputs of the target `model`: mostly changes by the schema or of the choices.
#include <algorithm>
#include <vector>

#include "tests/fuzz/model_choices.h"
#include "tests/fuzz/mutate_model.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const size_t file = fuzz::file_bytes(size), choices = size - file;
  if (max_size <= choices) return LLVMFuzzerMutate(data, size, max_size);
  switch (seed % 8) {
    case 0:
      break;
    case 1:
    case 2:
    case 3:
      if (choices == 0) break;
      LLVMFuzzerMutate(data + file, choices, choices);  // a shorter result leaves the old end
      return size;
    default:
      if (fuzz::mutate_model(data, file, seed / 8)) return size;
  }
  const std::vector<uint8_t> kept(data + file, data + size);
  const size_t changed = LLVMFuzzerMutate(data, file, max_size - choices);
  std::copy(kept.begin(), kept.end(), data + changed);
  return changed + choices;
}
