// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/source.h"

namespace mote::convert {

struct ReadModel {
  std::string architecture;
  TransformerSpec spec;
};

/// Reads the model from the source's config and the names of its weights. Keys that the user says to be
/// harmless are `ignored`. Adds to the source's notes. Throws Error.
ReadModel read_model(Source& source, const std::filesystem::path& path,
                     const std::vector<std::string>& ignored);

}  // namespace mote::convert
