// SPDX-License-Identifier: Apache-2.0
//
// The functions that the architectures with states of a fixed size share. All throw Error, naming the key.
#pragma once

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/mixers.h"

namespace mote::convert {

/// Models whose config has no longest context: the longest that a session may ask for.
inline constexpr uint32_t kUnlimitedContext = 1u << 20;

/// The most numbers of a head's or channel's state, and the most taps of a convolution.
inline constexpr uint32_t kMaxStateColumns = 1u << 12;

/// The taps of a convolution.
uint32_t read_taps(Config& config, const std::string& key, uint32_t fallback);

/// The keys of Mamba-2 that the hybrids share, of a scan whose heads are `width` wide together.
Mamba2Spec read_hybrid_mixer(Config& config, uint32_t width);
/// Refuses heads that are not `width` wide, or groups that do not divide them.
void check_hybrid_mixer(const Config& config, const Mamba2Spec& mixer, uint32_t width);

/// The norms before the branches and the feed-forward of LFM2 and LFM3.
void set_lfm_names(const std::string& prefix, LayerNames& names);

/// time_step_limit: the least and the largest time step of Mamba-2.
void read_time_limits(Config& config, Mamba2Spec& spec);

/// The `count` numbers of a list; `fallback` each where it is absent or null.
std::vector<float> read_numbers(Config& config, const std::string& key, size_t count, float fallback);

/// The kind of each layer: those of layer_types, each of `kinds`. Empty where the key is absent.
std::vector<std::string> read_layer_types(Config& config, size_t layers,
                                          const std::vector<std::string>& kinds);

}  // namespace mote::convert
