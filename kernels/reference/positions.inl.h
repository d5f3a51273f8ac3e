// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/ops.h"
#include "kernels/reference/element.inl.h"

namespace mote::ref {

template <class Element>
static inline void positions(const PositionsArgs& args, Range rows) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint64_t index = static_cast<uint32_t>(args.indices[t]);
    const Element* row = static_cast<const Element*>(args.table) + index * args.width;
    for (uint32_t k = 0; k < args.width; ++k)
      args.x[t][k] = args.replaces ? load(row[k]) : args.x[t][k] + load(row[k]);
  }
}

}  // namespace mote::ref
