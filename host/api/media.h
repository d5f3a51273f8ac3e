// SPDX-License-Identifier: Apache-2.0
//
// Calls over pictures and sounds that mote_host_classify and mote_host_embed share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/api/inputs.h"
#include "host/api/model.h"
#include "host/api/result.h"
#include "host/base/options.h"
#include "host/media/sides.h"

namespace mote::api {

/// Returns [{"label", "probability"}, ...] of the `top` likeliest.
nlohmann::json labels_json(const std::vector<float>& probabilities, uint32_t top,
                           const std::function<std::string(uint32_t)>& label);

/// Reads the option "size" of pictures; none: they have the model's own.
std::optional<pictures::WantedSides> read_picture_size(Options& options);
/// Refuses a size for inputs that are no pictures.
void require_no_size(const std::optional<pictures::WantedSides>& size);

/// Labels pictures by the model's own labels, or, by the text tower that the model was opened with, by the
/// texts behind them.
host::Status classify_pictures(mote_host& model, Inputs inputs, uint32_t top,
                               const std::optional<pictures::WantedSides>& size, const mote_host_calls* calls,
                               Reply& reply);
/// Labels sounds in the same ways.
host::Status classify_sounds(mote_host& model, Inputs inputs, uint32_t top, const mote_host_calls* calls,
                             Reply& reply);
host::Status embed_sounds(mote_host& model, Inputs inputs, const mote_host_calls* calls, Reply& reply);
host::Status embed_pictures(mote_host& model, Inputs inputs, const std::optional<pictures::WantedSides>& size,
                            const mote_host_calls* calls, Reply& reply);

}  // namespace mote::api
