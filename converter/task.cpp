// SPDX-License-Identifier: Apache-2.0
#include "converter/task.h"

#include <algorithm>
#include <string_view>

namespace mote::convert {
namespace {

/// The marks around the code of a language in its token; the last one stands in sources (Marian).
struct LanguageMarks {
  std::string_view before, behind;
};
constexpr LanguageMarks kLanguageMarks[] = {{"__", "__"}, {"<lang:", ">"}, {">>", "<<"}};
constexpr LanguageMarks kInSource = kLanguageMarks[2];
constexpr size_t kLongestLanguage = 16;  // bytes of a token with marks

Task task_of_source(const TransformerSpec& source, bool transducer) {
  if (source.picture.format.height != 0) return Task::read_pictures;
  if (!source.sound) return Task::rewrite;
  if (transducer) return Task::transcribe_transducer;
  if (source.sound->waveform) return Task::transcribe_greedy;
  switch (source.sound->features) {
    case SoundFeatures::log_mel:
      return Task::transcribe_windows;
    case SoundFeatures::none:  // filter banks, of a source that does not say how they are made
    case SoundFeatures::normalized_filter_bank:
      return Task::transcribe_beams;
    default:
      return Task::transcribe_greedy;
  }
}

Task task_of_picture(OutputKind kind) {
  switch (kind) {
    case OutputKind::embedding:
      return Task::embed_pictures;
    case OutputKind::sequence_labels:
      return Task::label_pictures;
    case OutputKind::boxes:
      return Task::detect;
    case OutputKind::depth:
      return Task::measure_depth;
    case OutputKind::hidden:
      return Task::see;
    default:
      return Task::none;
  }
}

Task task_of_sound(OutputKind kind, const SoundSpec& sound) {
  if (kind == OutputKind::sequence_labels) return Task::label_sounds;
  if (kind == OutputKind::embedding) return Task::embed_sounds;
  if (kind != OutputKind::token_labels || sound.blank < 0) return Task::none;
  return sound.waveform ? Task::transcribe_words : Task::transcribe_tokens;
}

Task task_of_texts(OutputKind kind, uint32_t labels) {
  switch (kind) {
    case OutputKind::next_token:
      return Task::generate;
    case OutputKind::embedding:
      return Task::embed_texts;
    case OutputKind::sequence_labels:
      return labels == 1 ? Task::score_pairs : Task::label_texts;
    case OutputKind::token_labels:
      return Task::label_tokens;
    case OutputKind::answer_span:
      return Task::find_answers;
    case OutputKind::masked_token:
      return Task::fill_masks;
    default:
      return Task::none;
  }
}

bool is_lower(std::string_view text) {
  return text.size() >= 2 && text.size() <= 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

/// Says that the text is as "en_XX" or "eng_Latn".
bool has_region(std::string_view text) {
  const size_t at = text.find('_');
  if (at == std::string_view::npos || !is_lower(text.substr(0, at))) return false;
  const std::string_view region = text.substr(at + 1);
  if (region.size() != 2 && region.size() != 4) return false;
  return region[0] >= 'A' && region[0] <= 'Z' && std::all_of(region.begin(), region.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

bool is_between(std::string_view text, const LanguageMarks& marks) {
  return text.size() > marks.before.size() + marks.behind.size() && text.size() <= kLongestLanguage &&
         text.starts_with(marks.before) && text.ends_with(marks.behind);
}

/// Returns the code of the language that a token is for; "": it is for none.
std::string_view language_of(std::string_view text) {
  if (has_region(text)) return text;
  for (const LanguageMarks& marks : kLanguageMarks) {
    if (is_between(text, marks))
      return text.substr(marks.before.size(), text.size() - marks.before.size() - marks.behind.size());
  }
  return {};
}

/// Adds the languages that tokens tell apart, in the order of ids.
void take_languages(const TokenizerSpec& tokenizer, Graph& graph) {
  for (size_t id = 0; id < std::min<size_t>(tokenizer.tokens.size(), graph.vocab); ++id) {
    const std::string& text = tokenizer.tokens[id].text;
    const std::string_view code = language_of(text);
    if (code.empty()) continue;
    graph.languages.push_back({std::string(code), static_cast<int32_t>(id)});
    graph.language_in_source = graph.language_in_source || is_between(text, kInSource);
  }
}

/// Returns the token that stands for another; -1: there is none.
int32_t mask_of(const TokenizerSpec& tokenizer, uint32_t vocab) {
  for (size_t id = 0; id < std::min<size_t>(tokenizer.tokens.size(), vocab); ++id) {
    std::string_view text = tokenizer.tokens[id].text;
    if (text.starts_with(' ')) text.remove_prefix(1);
    if (text == "[MASK]" || text == "<mask>") return static_cast<int32_t>(id);
  }
  return -1;
}

}  // namespace

Task task_of(const TransformerSpec& spec) {
  if (spec.voice) return Task::speak;
  if (spec.source) return task_of_source(*spec.source, spec.speech && !spec.speech->durations.empty());
  if (spec.picture.format.height != 0) return task_of_picture(spec.head.kind);
  if (spec.sound) return task_of_sound(spec.head.kind, *spec.sound);
  return task_of_texts(spec.head.kind, static_cast<uint32_t>(spec.head.labels.size()));
}

void take_task(const TransformerSpec& spec, const TokenizerSpec* tokenizer, Graph& graph) {
  graph.task = task_of(spec);
  if (tokenizer == nullptr) return;
  if (graph.task == Task::fill_masks) graph.mask_id = mask_of(*tokenizer, graph.vocab);
  if (graph.task == Task::rewrite || graph.task == Task::transcribe_beams) take_languages(*tokenizer, graph);
}

}  // namespace mote::convert
