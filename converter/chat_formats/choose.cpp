// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/choose.h"

#include <nlohmann/json.hpp>

#include "converter/chat_formats/special_tokens.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Returns the format by name, or the one that the model's template is understood as, with a remark about it.
UnderstoodTemplate choose_chat_format(const ConvertOptions& options, const Source& source,
                                      const TokenizerSpec* tokenizer, bool takes_pictures) {
  if (source.chat_template.empty() && options.thinking) fail("--thinking: the model has no chat template");
  const TemplateSetting setting{special_token_texts(source, tokenizer), options.thinking, takes_pictures};
  if (options.chat_format.empty()) {
    return source.chat_template.empty() ? UnderstoodTemplate{}
                                        : understand_template(source.chat_template, setting);
  }
  UnderstoodTemplate chosen{find_chat_format(options.chat_format), ""};
  if (tokenizer != nullptr) require_marks(*chosen.format, tokenizer->added);
  if (source.chat_template.empty()) return chosen;
  if (const auto difference = difference_to(*chosen.format, source.chat_template, setting)) {
    chosen.remark = fmt::format("it is not {}: {}", options.chat_format, *difference);
  }
  return chosen;
}

/// Sets the text that a question with pictures begins with.
void set_picture_pieces(const Source& source, const TemplateSetting& setting, const ChatFormat& format,
                        Graph& graph, std::vector<std::string>& notes) {
  VisionInputSpec& vision_input = *graph.vision_input;
  const PictureMarks marks{vision_input.token, vision_input.before, vision_input.after,
                           !vision_input.tile_before.empty()};
  const auto before = before_pictures(source.chat_template, setting, format, marks);
  if (before) {
    vision_input.user_before = *before;
  } else {
    notes.emplace_back(
        "its chat template puts pictures otherwise than mote chat does: before a question's text");
  }
}

}  // namespace

UnderstoodTemplate choose_chat_pieces(const ConvertOptions& options, Source& source,
                                      const TokenizerSpec* tokenizer, Graph& graph) {
  if (graph.picture.height != 0) return {};
  UnderstoodTemplate chat = choose_chat_format(options, source, tokenizer, graph.vision_input.has_value());
  if (graph.vision_input && chat.format) {
    const TemplateSetting setting{special_token_texts(source, tokenizer), options.thinking, true};
    set_picture_pieces(source, setting, *chat.format, graph, source.notes);
  }
  return chat;
}

void keep_chat_template(const ConvertOptions& options, const Source& source, const TransformerSpec& spec,
                        const TokenizerSpec* tokenizer, Metadata& metadata) {
  const bool talks = tokenizer != nullptr && !spec.is_encoder() && !spec.source;
  if (!talks || source.chat_template.empty() || !options.chat_format.empty() || options.small_tables) return;
  const std::vector<std::pair<std::string, std::string>> tokens = special_token_texts(source, tokenizer);
  if (!runs_template(source.chat_template,
                     {tokens, options.thinking, metadata.graph->vision_input.has_value()}))
    return;
  nlohmann::json variables = nlohmann::json::object();
  for (const auto& [name, text] : tokens) variables[name] = text;
  if (options.thinking) variables["enable_thinking"] = *options.thinking;
  metadata.chat_template = nlohmann::json{{"text", source.chat_template}, {"variables", variables}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mote::convert
