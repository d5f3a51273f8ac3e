// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mote {

/// The texts around a pair that a cross encoder reads within a template, as prompts of the file by these names.
inline constexpr const char* kPairPrompts[] = {"pair_before", "pair_between", "pair_after"};

}  // namespace mote
