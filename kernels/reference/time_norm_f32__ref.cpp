// SPDX-License-Identifier: Apache-2.0
//
// A group norm over the rows of a sequence. The variance takes a second pass over v - mean; sums are doubles,
// so that the rounding of a value is what is left of a float's.
#include <math.h>

#include "kernels/reference/activation.inl.h"

namespace mote::ref {
namespace {

/// Columns [begin, end) of rows [first, last), which are normed together.
void norm_part(const TimeNormArgs& args, uint32_t first, uint32_t last, uint32_t begin, uint32_t end) {
  const double count = static_cast<double>(last - first) * (end - begin);
  double sum = 0.0, squares = 0.0;
  for (uint32_t t = first; t < last; ++t) {
    for (uint32_t i = begin; i < end; ++i) sum += static_cast<double>(args.in[t][i]);
  }
  const double mean = sum / count;
  for (uint32_t t = first; t < last; ++t) {
    for (uint32_t i = begin; i < end; ++i) {
      const double centred = static_cast<double>(args.in[t][i]) - mean;
      squares += centred * centred;
    }
  }
  const double scale = 1.0 / sqrt(squares / count + static_cast<double>(args.eps));
  for (uint32_t t = first; t < last; ++t) {
    for (uint32_t i = begin; i < end; ++i) {
      const auto value = static_cast<float>((static_cast<double>(args.in[t][i]) - mean) * scale);
      args.out[t][i] = activate(args.activation, value * args.weight[i] + args.bias[i]);
    }
  }
}

}  // namespace

void time_norm_f32(const TimeNormArgs& args, Range units, void*) {
  const uint32_t part = args.width / args.groups, columns = args.columns_of_unit();
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const uint32_t s = args.first + unit / args.units_of_sequence();
    const uint32_t begin = unit % args.units_of_sequence() * columns;
    const uint32_t end = args.width - begin < columns ? args.width : begin + columns;
    const uint32_t first = args.starts[s] - args.starts[args.first];
    const uint32_t last = args.starts[s + 1] - args.starts[args.first];
    for (uint32_t i = begin; i < end; i += part) norm_part(args, first, last, i, i + part);
  }
}

}  // namespace mote::ref
