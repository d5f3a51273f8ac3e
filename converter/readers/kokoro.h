// SPDX-License-Identifier: Apache-2.0
//
// Kokoro-82M, a voice that is known and not supported (docs/speech.md says what it lacks).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "converter/onnx/onnx_file.h"

namespace mote::convert {

/// Throw Error, which says why, for the config or the graph of a Kokoro. `where` names the file.
void refuse_kokoro(const nlohmann::json& config, const std::string& where);
void refuse_kokoro(const OnnxGraph& graph, const std::string& where);

}  // namespace mote::convert
