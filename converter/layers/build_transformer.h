// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/graph.h"
#include "converter/quantizers/policy.h"
#include "converter/tensor_set.h"

namespace mote::convert {

/// The model that the spec describes, with its weights taken from `tensors`. Throws Error for a missing
/// tensor or one of a wrong shape.
Graph build_transformer(const TransformerSpec& spec, const TypePolicy& policy, TensorSet& tensors);

}  // namespace mote::convert
