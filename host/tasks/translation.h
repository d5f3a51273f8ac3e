// SPDX-License-Identifier: Apache-2.0
//
// Translations and summaries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/source_search.h"

namespace mote::host {

struct TranslateOptions {
  std::string from, to;                   // languages, for models that have several
  bool summarizes = false;                // in place of translating
  std::optional<uint32_t> beams, tokens;  // of the search; none: the model's own
  SpeculationOptions speculation;         // of a greedy search
};

/// Holds how languages change a source and its search: by a prefix, or by tokens.
struct LanguageMarks {
  std::string prefix;
  int32_t before = -1, from = -1, forced_first_id = -1;
};

class Translator {
 public:
  /// Fails for a model that does not generate over a source. The model must outlive the translator.
  static Result<Translator> make(const Model& model, const SessionChoices& choices,
                                 const TranslateOptions& options);

  /// Returns the ids of a text in the languages of the options. Fails for a text that is blank, and for a
  /// model without a tokenizer.
  Result<std::vector<int32_t>> source_of(const std::string& text) const;
  /// Returns the best hypotheses of what is generated over a source, the best first.
  Result<std::vector<SourceHypothesis>> search(std::span<const int32_t> source, const Hooks& hooks) {
    return search_.search(source, hooks);
  }
  size_t memory_bytes() const { return search_.memory_bytes(); }
  /// Returns what became of the guesses of the last search.
  const GuessReport& guesses() const { return search_.guesses(); }
  /// Returns the text of ids without special tokens.
  Result<std::string> text_of(std::span<const int32_t> ids) const { return search_.text_of(ids); }

 private:
  Translator(const Model& model, LanguageMarks marks, SourceSearch search)
      : model_(&model), marks_(std::move(marks)), search_(std::move(search)) {}

  const Model* model_;
  LanguageMarks marks_;
  SourceSearch search_;
};

/// Says that a text has nothing but spaces and ends of lines.
bool is_blank(const std::string& text);

}  // namespace mote::host
