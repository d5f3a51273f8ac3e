// SPDX-License-Identifier: Apache-2.0
//
// The parts that models of pictures and texts share: a vision transformer, whose joined rows stand for
// embeddings of ids in the prompt of a decoder. Each becomes a file of its own.
#include "converter/architectures/shared/vision_language.h"

#include <nlohmann/json.hpp>

#include "host/base/error.h"

namespace mote::convert {

const nlohmann::json& object_of_config(Config& config, const std::string& key) {
  static const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json* value = config.value(key);
  if (value != nullptr && !value->is_object()) config.refuse_value(key, value, "an object");
  return value == nullptr ? none : *value;
}

bool wants_vision(const Source& source, const Config& config) {
  if (!source.tower.empty() && source.tower != "vision" && source.tower != "text")
    config.refuse("--tower {}: there is vision, and text", source.tower);
  return source.tower == "vision";
}

std::vector<uint32_t> take_sections(const Config& config, nlohmann::json& text) {
  std::vector<uint32_t> sections;
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!text.contains(key) || !text[key].is_object()) continue;
    Config rope = config.inner(text[key], "text_config.rope_parameters.");
    if (const nlohmann::json* list = rope.value("mrope_section")) {
      if (!list->is_array() || list->size() != 3) rope.refuse_value("mrope_section", list, "a list of three");
      sections.clear();
      for (const nlohmann::json& one : *list) {
        const nlohmann::json size = {{"mrope_section", one}};
        sections.push_back(rope.inner(size, "").size("mrope_section", 0, kMaxHeadDim));
      }
    }
    if (!rope.flag("mrope_interleaved", true)) rope.refuse("mrope_interleaved false is not supported");
    for (const char* taken : {"mrope_section", "mrope_interleaved"}) text[key].erase(taken);
  }
  return sections.empty() ? std::vector<uint32_t>{24, 20, 20} : sections;
}

std::vector<uint32_t> interleaved_axes(const std::vector<uint32_t>& sections, uint32_t frequencies) {
  std::vector<uint32_t> axes;
  for (uint32_t k = 0; k < frequencies; ++k) axes.push_back(k < 3 * sections[k % 3] ? k % 3 : 0);
  return axes;
}

TransformerSpec read_vision_language_text(const Source& source, Config& config, const VisionLanguage& model,
                                          TransformerSpec (*read)(const Source&, Config&),
                                          nlohmann::json text) {
  text["tie_word_embeddings"] = config.flag("tie_word_embeddings", false);
  Source texts;
  texts.format = source.format;
  texts.directory = source.directory;
  texts.tensors = source.tensors;
  texts.base = model.text_base;
  Config inner = config.inner(text, "text_config.");
  know(inner, {"attention_dropout"});
  TransformerSpec spec = read(texts, inner);
  inner.finish();
  spec.names.ignored_starts.push_back(model.vision_base);
  VisionInputSpec vision_input;
  vision_input.image_id = config.token_id("image_token_id", spec.vocab, model.image_id);
  if (vision_input.image_id < 0)
    config.refuse("image_token_id is no token of the vocabulary of {}", spec.vocab);
  vision_input.features = spec.width;
  spec.vision_input = vision_input;
  return spec;
}

}  // namespace mote::convert
