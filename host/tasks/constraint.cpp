// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/constraint.h"

#include <cstring>
#include <utility>

namespace mote::host {

AlignedBytes::AlignedBytes(std::span<const uint8_t> bytes)
    : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
}

Result<std::shared_ptr<const VocabularyTables>> VocabularyTables::of_file(const Model& model) {
  auto tables = std::make_shared<VocabularyTables>();
  mote_error error = {};
  MOTE_TRY(from_core(mote_model_vocabulary(model.get(), &tables->open_, &error), error, model.name()));
  return std::shared_ptr<const VocabularyTables>(std::move(tables));
}

Result<std::shared_ptr<const VocabularyTables>> VocabularyTables::of_bytes(const Model& model,
                                                                           std::span<const uint8_t> bytes) {
  auto tables = std::make_shared<VocabularyTables>();
  tables->bytes_ = AlignedBytes(bytes);
  mote_error error = {};
  MOTE_TRY(from_core(mote_vocabulary_open(tables->bytes_.data(), tables->bytes_.size(), model.info().stop_ids,
                                          model.info().stop_count, &tables->open_, &error),
                     error, model.name()));
  return std::shared_ptr<const VocabularyTables>(std::move(tables));
}

Result<std::shared_ptr<const GrammarTables>> GrammarTables::open(
    std::shared_ptr<const VocabularyTables> vocabulary, std::span<const uint8_t> bytes,
    std::string_view name) {
  auto tables = std::make_shared<GrammarTables>();
  tables->vocabulary_ = std::move(vocabulary);
  tables->bytes_ = AlignedBytes(bytes);
  mote_error error = {};
  MOTE_TRY(from_core(mote_grammar_open(tables->bytes_.data(), tables->bytes_.size(),
                                       &tables->vocabulary_->get(), &tables->open_, &error),
                     error, name));
  return std::shared_ptr<const GrammarTables>(std::move(tables));
}

Result<std::unique_ptr<AnswerConstraint>> AnswerConstraint::begin(const GrammarPlan& plan) {
  std::unique_ptr<AnswerConstraint> made(new AnswerConstraint);
  made->tables_ = plan.tables;
  const mote_grammar& grammar = plan.tables->get();
  made->matcher_.resize((mote_matcher_bytes(&grammar) + 7) / 8);
  made->scratch_.resize((mote_matcher_scratch_bytes(&grammar) + 7) / 8);
  made->mask_.resize((grammar.vocabulary->vocab + 31) / 32);
  mote_constraint& constraint = made->constraint_;
  mote_error error = {};
  MOTE_TRY(from_core(mote_matcher_init(made->matcher_.data(), made->matcher_.size() * 8, &grammar,
                                       &constraint.matcher, &error),
                     error, "the grammar"));
  constraint.mask = made->mask_.data();
  constraint.scratch = made->scratch_.data();
  constraint.scratch_bytes = made->scratch_.size() * 8;
  constraint.free_tokens = plan.free_tokens;
  return made;
}

Result<uint32_t> AnswerConstraint::need() const {
  uint32_t tokens = 0;
  mote_error error = {};
  MOTE_TRY(from_core(
      mote_matcher_need(constraint_.matcher, constraint_.scratch, constraint_.scratch_bytes, &tokens, &error),
      error, "the grammar"));
  return tokens;
}

}  // namespace mote::host
