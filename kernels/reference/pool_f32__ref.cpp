// SPDX-License-Identifier: Apache-2.0
//
// out[s] = mean, first, last or largest of the rows of sequence s. A mean of n rows is within (n + 1) 2^-24
// of the mean of magnitudes. Pooling reads each row once in a whole model's run, so no family has a faster
// kernel.
#include <math.h>
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

void pool_mean(const PoolArgs& args, uint32_t begin, uint32_t end, float* out) {
  memcpy(out, args.in[begin], args.width * sizeof(float));
  for (uint32_t t = begin + 1; t < end; ++t) {
    const float* row = args.in[t];
    for (uint32_t i = 0; i < args.width; ++i) out[i] += row[i];
  }
  const float rows = static_cast<float>(end - begin);
  for (uint32_t i = 0; i < args.width; ++i) out[i] /= rows;
}

void pool_max(const PoolArgs& args, uint32_t begin, uint32_t end, float* out) {
  memcpy(out, args.in[begin], args.width * sizeof(float));
  for (uint32_t t = begin + 1; t < end; ++t) {
    const float* row = args.in[t];
    for (uint32_t i = 0; i < args.width; ++i) out[i] = row[i] > out[i] || isnan(row[i]) ? row[i] : out[i];
  }
}

uint32_t last_row(const PoolArgs& args, uint32_t begin, uint32_t end) {
  if (args.padding < 0) return end - 1;
  for (uint32_t t = end; t > begin; --t) {
    if (args.ids[t - 1] != args.padding) return t - 1;
  }
  return begin;
}

}  // namespace

void pool_f32(const PoolArgs& args, Range sequences, void*) {
  for (uint32_t i = sequences.begin; i < sequences.end; ++i) {
    const uint32_t s = args.first + i, first_row = args.starts[args.first];
    const uint32_t end = args.starts[s + 1] - first_row, from = args.starts[s] - first_row + args.skip;
    const uint32_t begin = from < end ? from : end - 1;
    switch (args.kind) {
      case PoolKind::mean:
        pool_mean(args, begin, end, args.out[s]);
        break;
      case PoolKind::first:
        memcpy(args.out[s], args.in[begin], args.width * sizeof(float));
        break;
      case PoolKind::last:
        memcpy(args.out[s], args.in[last_row(args, begin, end)], args.width * sizeof(float));
        break;
      case PoolKind::max:
        pool_max(args, begin, end, args.out[s]);
        break;
    }
  }
}

}  // namespace mote::ref
