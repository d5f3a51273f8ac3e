// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/quantizer.h"

namespace mote::convert {

#define QUANTIZER(name, largest, bound)                                                        \
  namespace name {                                                                             \
  void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out); \
  void decode(const EncodedRow& row, std::span<float> out);                                    \
  }
#include "converter/quantizers/list.inc"
#undef QUANTIZER

const std::array<Quantizer, kDTypeCount>& quantizers() {
  static const std::array<Quantizer, kDTypeCount> list = {{
#define QUANTIZER(name, largest, bound) {#name, DType::name, largest, bound, name::encode, name::decode},
#include "converter/quantizers/list.inc"
#undef QUANTIZER
  }};
  return list;
}

}  // namespace mote::convert
