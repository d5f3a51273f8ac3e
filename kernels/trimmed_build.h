// SPDX-License-Identifier: Apache-2.0
//
// The parts that firmware for one model holds. MOTE_MODEL_CONFIG names the header that `mote export-c` wrote
// for the model; it defines for each kernel and operation whether it is part of the build, what the tokenizer
// needs, and which parts of the runtime there are. Without it all is. A model that needs more is refused when
// it is opened or its session made.
#pragma once

#ifdef MOTE_MODEL_CONFIG
#include MOTE_MODEL_CONFIG
// Each is its text or nothing.
#define MOTE_KERNEL_OF_MODEL(function, ...) MOTE_KERNEL_##function(__VA_ARGS__)
#define MOTE_OP_OF_MODEL(op, ...) MOTE_OP_##op(__VA_ARGS__)
#define MOTE_PART_SPECULATION 0
#else
#define MOTE_KERNEL_OF_MODEL(function, ...) __VA_ARGS__
#define MOTE_OP_OF_MODEL(op, ...) __VA_ARGS__
#define MOTE_TEXT_BPE 1
#define MOTE_TEXT_WORDPIECE 1
#define MOTE_TEXT_UNIGRAM 1
#define MOTE_TEXT_NORMALIZERS 1
#define MOTE_TEXT_PAIRS 1  // two texts, and texts cut elsewhere than at their ends
#define MOTE_PART_WHOLE_SEQUENCES 1
#define MOTE_PART_FIXED_STATES 1
#define MOTE_PART_MEDIA 1
#define MOTE_PART_THREADS 1
#define MOTE_PART_BACKENDS 1
#define MOTE_PART_TRACES 1
#define MOTE_PART_SENTENCES 1
#define MOTE_PART_WRITES 1
#define MOTE_PART_SEARCH 1
#define MOTE_PART_GENERATION 1
#define MOTE_PART_SPECULATION 1
#define MOTE_PART_GRAMMAR 1
#define MOTE_ACTIVATIONS 0xFFFFFFFF
#define MOTE_SCORES 0xFFFFFFFF
#endif

#ifndef MOTE_PART_GRAMMAR  // headers written before there were grammars
#define MOTE_PART_GRAMMAR 0
#endif

// Where errors have no sentences, a function that gets their words is inlined, so that these are not in the
// build.
#if MOTE_PART_SENTENCES
#define MOTE_GETS_WORDS
#else
#define MOTE_GETS_WORDS __attribute__((always_inline))
#endif

namespace mote {

// Code that depends on one of these is left out where it is false.
inline constexpr bool kHasWholeSequences = MOTE_PART_WHOLE_SEQUENCES;  // programs of them: encoders, sources
inline constexpr bool kHasFixedStates = MOTE_PART_FIXED_STATES;        // states of a fixed size
inline constexpr bool kHasMedia = MOTE_PART_MEDIA;      // what a file says of sound and pictures
inline constexpr bool kHasThreads = MOTE_PART_THREADS;  // more than one
inline constexpr bool kHasBackends = MOTE_PART_BACKENDS;
inline constexpr bool kHasTraces = MOTE_PART_TRACES;
inline constexpr bool kHasSentences = MOTE_PART_SENTENCES;  // of errors, beside their status
inline constexpr bool kProvesWrites =
    MOTE_PART_WRITES;  // that what a program reads was written: export-c did it
inline constexpr bool kProvesTask = MOTE_PART_WRITES;         // and that it can do its task: likewise
inline constexpr bool kHasSearch = MOTE_PART_SEARCH;          // what a file says of beam search
inline constexpr bool kHasGeneration = MOTE_PART_GENERATION;  // and of sampling and its rules
inline constexpr bool kHasSpeculation = MOTE_PART_SPECULATION;  // guesses that runs compute besides a token
inline constexpr bool kHasGrammar = MOTE_PART_GRAMMAR;        // that answers may keep to

/// Say whether the build has the activation or the kind of score, an enumerator's number.
constexpr bool has_activation(unsigned kind) { return kind < 32 && (MOTE_ACTIVATIONS >> kind & 1) != 0; }
constexpr bool has_score(unsigned kind) { return kind < 32 && (MOTE_SCORES >> kind & 1) != 0; }

/// A bool that is false where the build lacks the part that it is about.
template <bool kHasPart>
class PartFlag {
 public:
  constexpr PartFlag& operator=(bool value) {
    value_ = value;
    return *this;
  }
  constexpr operator bool() const { return kHasPart && value_; }

 private:
  bool value_;
};

}  // namespace mote
