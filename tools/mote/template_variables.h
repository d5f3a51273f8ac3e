// SPDX-License-Identifier: Apache-2.0
//
// --set NAME=JSON, which commands share that render chat templates.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/mote/arguments.h"

namespace mote::cli {

void add_variables_option(Command command, std::vector<std::string>& given);

/// Returns an object of the variables in the order given. Throws UsageError.
nlohmann::ordered_json given_variables(const std::vector<std::string>& given);

}  // namespace mote::cli
