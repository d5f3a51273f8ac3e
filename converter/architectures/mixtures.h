// SPDX-License-Identifier: Apache-2.0
//
// The functions that the architectures with mixtures of experts share. All throw Error, naming the key.
#pragma once

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/mixture.h"

namespace mote::convert {

/// The key of the number of experts, and what the config class has for absent keys.
struct ExpertKeys {
  const char* experts;
  uint32_t default_experts, default_chosen;
};

/// Sets the numbers of experts and of chosen ones; spec.width is set before.
void read_experts(Config& config, const ExpertKeys& keys, MixtureSpec& spec);

/// The ends of the names of an expert's matrices, where each has tensors of its own.
struct ExpertNames {
  const char *gate, *up, *down;
};

/// Sets the names of the experts' matrices below `prefix`, in which "{}" stands for the layer: each expert's
/// own, or those of all experts in one tensor, as transformers 5 has them in memory.
void name_experts(const Source& source, const std::string& prefix, const ExpertNames& each,
                  MixtureSpec& spec);

/// The layer's feed-forward becomes the mixture.
void set_mixture(LayerSpec& layer, const MixtureSpec& spec);

}  // namespace mote::convert
