// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer calls to make inputs of the target `model`: mostly changes by the schema or of the choices.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "tests/fuzz/model_choices.h"
#include "tests/fuzz/mutate_model.h"
#include "tests/fuzz/mutate_structure.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

namespace {

/// The new size; 0, and nothing changed, where it cannot be done or takes too much.
size_t change_structure(uint8_t* data, size_t size, size_t max_size, uint32_t seed) {
  const size_t file = fuzz::file_bytes(size), choices = size - file;
  const auto change = fuzz::kStructureChanges[seed % std::size(fuzz::kStructureChanges)];
  const auto changed = fuzz::change_structure(data, file, change, seed);
  if (!changed || changed->size() + choices > max_size) return 0;
  std::memmove(data + changed->size(), data + file, choices);
  std::memcpy(data, changed->data(), changed->size());
  return changed->size() + choices;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const size_t file = fuzz::file_bytes(size), choices = size - file;
  if (max_size <= choices) return LLVMFuzzerMutate(data, size, max_size);
  switch (seed % 8) {
    case 0:
      break;
    case 1:
    case 2:
      if (const size_t changed = change_structure(data, size, max_size, seed / 8)) return changed;
      [[fallthrough]];
    case 3:
    case 4:
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
