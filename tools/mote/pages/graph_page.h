// SPDX-License-Identifier: Apache-2.0
//
// mote inspect --graph: operations, shapes and the memory plan, as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mote::cli {

/// `programs`: each {"name", "ops": [{"op", "in", "out", "details"}], "plan": {"streams", "buffers"}}, as
/// `mote inspect --ops --plan --json` gives them. Adds to each buffer its "stretches": pairs of the
/// operation that writes a value and the last that reads it.
nlohmann::json graph_data(const nlohmann::json& programs);

std::string graph_page(const std::string& title, const nlohmann::json& data);

}  // namespace mote::cli
