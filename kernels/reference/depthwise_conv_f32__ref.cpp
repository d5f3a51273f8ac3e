// SPDX-License-Identifier: Apache-2.0
//
// A convolution of each channel by itself over rows and places. Before the activation an output is within
// (taps reach + 1) 2^-24 of the sum of magnitudes.
#include "kernels/reference/activation.inl.h"

namespace mote::ref {
namespace {

/// Adds a row's part of the sums of an output place: those of its window that the row has.
void add_row(const DepthwiseConvArgs& args, const float* in, const float* weight, int64_t first, float* out) {
  for (uint32_t j = 0; j < args.reach; ++j, weight += args.channels) {
    const int64_t place = first + j;
    if (place < 0 || place >= args.places) continue;
    const float* const x = in + place * args.channels;
    for (uint32_t c = 0; c < args.channels; ++c) out[c] += weight[c] * x[c];
  }
}

}  // namespace

void depthwise_conv_f32(const DepthwiseConvArgs& args, Range rows, void*) {
  const uint32_t channels = args.channels;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const TimeWindow::Place place = args.window.place(t);
    for (uint32_t p = 0; p < args.out_places; ++p) {
      float* const out = args.out[t] + size_t{p} * channels;
      for (uint32_t c = 0; c < channels; ++c) out[c] = args.bias == nullptr ? 0.0f : args.bias[c];
      for (uint32_t k = 0; k < args.window.taps; ++k) {
        const int64_t row = place.first + int64_t{k} * args.window.dilation;
        if (row < place.begin || row >= place.end) continue;
        add_row(args, args.in[static_cast<uint32_t>(row)], args.weight + size_t{k} * args.reach * channels,
                int64_t{p} * args.step - args.back, out);
      }
      for (uint32_t c = 0; c < channels; ++c) out[c] = activate(args.activation, out[c]);
    }
  }
}

}  // namespace mote::ref
