// SPDX-License-Identifier: Apache-2.0
//
// Grammars that answers keep to: open tables, and the memory of one answer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/model.h"
#include "host/tasks/status.h"
#include "mote/grammar.h"

namespace mote::host {

/// Bytes that are 8-byte aligned.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::span<const uint8_t> bytes);
  const void* data() const { return words_.data(); }
  size_t size() const { return size_; }

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

/// The vocabulary of a model. The model must outlive it.
class VocabularyTables {
 public:
  /// Opens those of the model's file; fails where it has none.
  static Result<std::shared_ptr<const VocabularyTables>> of_file(const Model& model);
  /// Opens tables that were made for the model.
  static Result<std::shared_ptr<const VocabularyTables>> of_bytes(const Model& model,
                                                                  std::span<const uint8_t> bytes);
  const mote_vocabulary& get() const { return open_; }

 private:
  AlignedBytes bytes_;
  mote_vocabulary open_ = {};
};

/// A grammar's tables, and how answers use them.
class GrammarTables {
 public:
  static Result<std::shared_ptr<const GrammarTables>> open(std::shared_ptr<const VocabularyTables> vocabulary,
                                                           std::span<const uint8_t> bytes,
                                                           std::string_view name);
  const mote_grammar& get() const { return open_; }
  size_t bytes() const { return bytes_.size(); }

 private:
  std::shared_ptr<const VocabularyTables> vocabulary_;
  AlignedBytes bytes_;
  mote_grammar open_ = {};
};

struct GrammarPlan {
  std::shared_ptr<const GrammarTables> tables;  // null: answers are free
  uint32_t free_tokens = 0;  // of text before a trigger, then it is forced; 0: as many as it likes
  std::string healed;        // bytes at the begin of an answer that the prompt's text already has
};

/// The matcher of one answer and what it works in.
class AnswerConstraint {
 public:
  static Result<std::unique_ptr<AnswerConstraint>> begin(const GrammarPlan& plan);
  /// Lets an answer go on when the context is full: its room is not counted.
  void slide() { constraint_.slides = 1; }
  const mote_constraint* get() const { return &constraint_; }
  /// Returns the tokens of the shortest ending.
  Result<uint32_t> need() const;

 private:
  AnswerConstraint() = default;

  std::shared_ptr<const GrammarTables> tables_;
  std::vector<uint64_t> matcher_, scratch_;
  std::vector<uint32_t> mask_;
  mote_constraint constraint_ = {};
};

}  // namespace mote::host
