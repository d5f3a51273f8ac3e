// SPDX-License-Identifier: Apache-2.0
//
// Finds when buffers of a program hold values, from the operands that its operations name.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <utility>
#include <vector>

namespace mote::cli {

/// Operations from the one that writes a value to the last that reads it, both included.
using Stretch = std::pair<size_t, size_t>;

/// Returns for each of `buffers` buffers the stretches in which it holds a value that is still read, in order
/// and apart. `ops`: each {"in", "out", "details"}, with operands such as "b3[64:128]"; details name a
/// residual behind a "+ ". A value that nothing reads lasts for the operation that writes it.
std::vector<std::vector<Stretch>> buffer_stretches(const nlohmann::json& ops, size_t buffers);

}  // namespace mote::cli
