// SPDX-License-Identifier: Apache-2.0
//
// Checks the run that a file states of its model.
#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {
namespace {

/// Says whether so many floats are rows of the source, where the source takes floats.
bool fits_source(const mote_model& model, uint64_t values) {
  const file::Program& source = *model.root->programs()->Get(whole_program(model));
  const uint32_t width = input_width(source);
  if (width == 0) return values == 0;
  return values != 0 && values % width == 0 && values / width <= context_of(*model.root, source);
}

}  // namespace

mote_status check_self_test(const mote_model& model, mote_error* error) {
  const file::Model& root = *model.root;
  const file::SelfTest* test = root.self_test();
  if (test == nullptr) return MOTE_OK;
  bool in_range = test->ids()->size() > 0 &&
                  test->expected_logits()->size() == model.program->output()->width() &&
                  uint64_t{test->ids()->size()} + test->expected_ids()->size() <= root.context();
  for (const auto* ids : {test->ids(), test->expected_ids()}) {
    for (const int32_t id : *ids) in_range = in_range && id >= 0 && static_cast<uint32_t>(id) < root.vocab();
  }
  const uint64_t values = size_of(test->values());
  const bool source = model.sources && input_width(*model.program) == 0;
  in_range = in_range && (source ? fits_source(model, values)
                                 : values == uint64_t{test->ids()->size()} * input_width(*model.program) ||
                                       (values == 0 && root.vision_input() != nullptr));
  return in_range ? MOTE_OK : fail(error, MOTE_CORRUPT_FILE, "the self test does not fit the model");
}

}  // namespace mote
