// SPDX-License-Identifier: Apache-2.0
//
// Reads how sound or a picture becomes the model's input: preprocessor_config.json, or an object of
// processor_config.json, which transformers 5 saves in its place.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "converter/source.h"

namespace mote::convert {

struct ProcessorSettings {
  nlohmann::json keys;
  std::string where;  // the file's path, for messages
};

/// Those of pictures, or nothing where neither file has any. Where both have, processor_config.json's, as the
/// original reads them; throws Error for a key that the files have with different values.
std::optional<ProcessorSettings> read_picture_settings(const Source& source);

/// Reads the settings of sound, in the same way.
std::optional<ProcessorSettings> read_sound_settings(const Source& source);

}  // namespace mote::convert
