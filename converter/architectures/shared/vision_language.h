// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "converter/architectures/shared/pictures.h"

namespace mote::convert {

/// An object of the config, empty where it is absent.
const nlohmann::json& object_of_config(Config& config, const std::string& key);

/// How a model that reads texts takes pictures: what its files say of it.
struct VisionLanguage {
  const char* text_base;    // starts the names of the texts' layers
  const char* vision_base;  // of the pictures'
  int32_t image_id;         // where the config says none
};

/// The spec of the texts' model, by `read` of text_config; the head is tied by the key of the whole config.
TransformerSpec read_vision_language_text(const Source& source, Config& config, const VisionLanguage& model,
                                          TransformerSpec (*read)(const Source&, Config&),
                                          nlohmann::json text);

/// Says whether the user wants the model that sees (--tower vision), and not the one that reads.
bool wants_vision(const Source& source, const Config& config);

/// Rows of ids and of pictures for RoPE in three directions: `sections` of text_config, taken off it.
std::vector<uint32_t> take_sections(const Config& config, nlohmann::json& text);

/// In what direction each of so many frequencies counts, interleaved: 0 by the first position of a picture, 1
/// by rows, 2 by columns.
std::vector<uint32_t> interleaved_axes(const std::vector<uint32_t>& sections, uint32_t frequencies);

}  // namespace mote::convert
