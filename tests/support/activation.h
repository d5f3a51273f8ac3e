// SPDX-License-Identifier: Apache-2.0
//
// The activation functions in double precision, written as in their papers.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote::testing {

inline double exact_activation(Activation activation, double x) {
  const double logistic = 1.0 / (1.0 + exp(-x));
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::silu:
      return x * logistic;
    case Activation::gelu:
      return x * 0.5 * erfc(-x * M_SQRT1_2);
    case Activation::gelu_tanh:
      return x * 0.5 * (1.0 + tanh(sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return x > 0.0 || isnan(x) ? x : 0.0;
    case Activation::quick_gelu:
      return x / (1.0 + exp(-1.702 * x));
    case Activation::tanh:
      return tanh(x);
    case Activation::sigmoid:
      return 1.0 / (1.0 + exp(-x));
  }
  return x;
}

}  // namespace mote::testing
