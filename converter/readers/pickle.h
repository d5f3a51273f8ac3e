// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's checkpoints (pytorch_model.bin): a zip archive of stored entries, of which data.pkl is a pickle
// that says what tensors there are, and data/0, data/1 and so on hold the numbers; or, as PyTorch wrote
// before 1.6, a stream of pickles with the numbers behind them. Pickles are read by a machine that builds
// dictionaries, lists, numbers, texts and tensors and nothing else: it calls no code, and refuses a pickle
// that asks for any by the name of what it asked for.
#pragma once

#include "converter/readers/safetensors.h"

namespace mote::convert {

/// The tensors of a whole file's bytes, every length and offset checked. `where` names it in messages. Throws
/// Error.
NamedTensors parse_pytorch(std::span<const std::byte> file, const std::string& where);

}  // namespace mote::convert
