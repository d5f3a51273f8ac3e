// SPDX-License-Identifier: Apache-2.0
//
// Declares what samples of docs/adding-an-architecture.md take for granted.
#include "converter/architectures/shared/transformer_spec.h"

using namespace mote::convert;
extern TransformerSpec spec;
extern uint32_t window;
