// SPDX-License-Identifier: Apache-2.0
//
// Texts as phonemes of the International Phonetic Alphabet, by espeak-ng, which is a program of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/tasks/status.h"

namespace mote::host {

/// Cuts a text behind the punctuation at which espeak-ng may end a clause: marks with a blank, a bracket or
/// a quotation mark behind them. The parts are the text again.
std::vector<std::string_view> clauses_of(std::string_view text);

/// Returns the mark that stands for the end of a clause in a voice's alphabet: one of , ; : . ? ! or "" where
/// nothing does.
std::string_view end_of_clause(std::string_view clause);

/// Returns the phonemes of a line's sentences, with their marks, as Piper's voices are trained on them:
/// clauses of one sentence have a mark and a blank between them. Words of another language keep no sign of
/// it. Fails where espeak-ng is not installed or does not know the voice ("en-us").
Result<std::vector<std::string>> phonemes_of(std::string_view voice, std::string_view line);

}  // namespace mote::host
