// SPDX-License-Identifier: Apache-2.0
//
// The activation functions.
//   silu        x / (1 + e^-x)                                       (Elfwing et al. 2018)
//   gelu        x/2 (1 + erf(x / sqrt 2))                            (Hendrycks and Gimpel 2016)
//   gelu_tanh   x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))        (the same)
//   quick_gelu  x / (1 + e^(-1.702 x))                               (the same)
//   relu        x below 0: 0, else x; a NaN stays one
//   sigmoid     1 / (1 + e^-x)
//   tanh        (e^x - e^-x) / (e^x + e^-x)
// At minus infinity all but relu, tanh, sigmoid and none are unspecified.
#pragma once

#include <math.h>

#include "kernels/ops.h"
#include "kernels/trimmed_build.h"

namespace mote::ref {

static inline float activate(Activation activation, float x) {
  const auto built = [](Activation kind) { return has_activation(static_cast<unsigned>(kind)); };
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::silu:
      return x / (1.0f + expf(-x));
    case Activation::gelu:
      if (!built(Activation::gelu)) break;
      return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    case Activation::gelu_tanh:
      if (!built(Activation::gelu_tanh)) break;
      return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    case Activation::relu:
      return x < 0.0f ? 0.0f : x;
    case Activation::quick_gelu:
      return x / (1.0f + expf(-1.702f * x));
    case Activation::tanh:
      if (!built(Activation::tanh)) break;
      return tanhf(x);
    case Activation::sigmoid:
      return 1.0f / (1.0f + expf(-x));
  }
  return x;
}

}  // namespace mote::ref
