// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/outputs.h"

namespace mote::host {

std::vector<float> output_row(const Model& model, const Session& session, uint32_t index) {
  const float* values = mote_session_output(session.get(), index);
  return {values, values + model.output().width};
}

Result<std::vector<float>> output_probabilities(const Model& model, const Session& session, uint32_t index) {
  const uint32_t width = model.output().width;
  std::vector<float> values(width);
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_probabilities(session.get(), index, values.data(), width, &error), error, model.name()));
  return values;
}

}  // namespace mote::host
