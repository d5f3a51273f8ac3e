// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/translation.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/tasks/text.h"

namespace mote::host {
namespace {

/// Returns what T5's authors put before a text, by the name of its task.
std::optional<std::string> task_prefix(const Model& model, const std::string& task) {
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(model.get(), i, &name); ++i) {
    if (task == name) return text;
  }
  return std::nullopt;
}

Result<LanguageMarks> language_marks(const Model& model, const TranslateOptions& options) {
  LanguageMarks marks;
  if (options.summarizes) {
    marks.prefix = task_prefix(model, "summarization").value_or("");
    return marks;
  }
  if (auto prefix = task_prefix(model, "translation_" + options.from + "_to_" + options.to)) {
    marks.prefix = *std::move(prefix);
    return marks;
  }
  if (!options.from.empty()) {
    MOTE_TAKE(marks.from, language_token(model, options.from));
  }
  if (options.to.empty()) return marks;
  MOTE_TAKE(const int32_t to, language_token(model, options.to));
  (model.task_info().language_in_source != 0 ? marks.before : marks.forced_first_id) = to;
  return marks;
}

/// Fails where a text itself begins with the token of a language, as sources may, and there is no such token.
Status check_target(const Model& model, const std::string& text) {
  const bool named = model.task_info().language_in_source != 0 && text.starts_with(">>");
  const size_t end = named ? text.find("<<") : std::string::npos;
  return end == std::string::npos ? Status() : language_token(model, text.substr(0, end + 2)).status();
}

/// Marks a source: Marian's target stands before it; others have the source's language at an end of it.
void mark(const Model& model, const LanguageMarks& marks, std::vector<int32_t>& ids) {
  if (marks.before >= 0) ids.insert(ids.begin(), marks.before);
  if (marks.from < 0) return;
  const auto found =
      std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return is_language_token(model, id); });
  if (found == ids.end()) {
    ids.insert(ids.begin(), marks.from);
  } else {
    *found = marks.from;
  }
}

}  // namespace

Result<Translator> Translator::make(const Model& model, const SessionChoices& choices,
                                    const TranslateOptions& options) {
  mote_beam_options search = mote_model_beam_options(model.get());
  if (options.beams) {
    search.beams = *options.beams;
    if (search.beams == 1) search.early_stopping = MOTE_STOP_EARLY;
  }
  if (options.tokens) search.max_tokens = *options.tokens;
  MOTE_TAKE(LanguageMarks marks, language_marks(model, options));
  if (marks.forced_first_id >= 0) search.forced_first_id = marks.forced_first_id;
  MOTE_TAKE(SourceSearch made, SourceSearch::make(model, choices, search, options.speculation));
  return Translator(model, std::move(marks), std::move(made));
}

Result<std::vector<int32_t>> Translator::source_of(const std::string& text) const {
  MOTE_TRY(require_tokenizer(*model_, Remedy::give_ids));
  if (is_blank(text)) return failed("the text is empty");
  MOTE_TRY(check_target(*model_, text));
  MOTE_TAKE(std::vector<int32_t> ids, search_.tokenize(marks_.prefix + text));
  mark(*model_, marks_, ids);
  return ids;
}

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

}  // namespace mote::host
