// SPDX-License-Identifier: Apache-2.0
//
// Piper's voices as they are published: NAME.onnx, and NAME.onnx.json with their rate, noises and phonemes.
#pragma once

#include <filesystem>

#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// Says whether an ONNX file has a voice's JSON beside it.
bool is_piper_voice(const std::filesystem::path& onnx);

/// Returns the voice of a directory that holds one and no config.json; empty: there is none. Throws Error
/// where it holds several.
std::filesystem::path find_piper_voice(const std::filesystem::path& directory);

/// Reads a voice as a VITS of Hugging Face. Throws Error.
Source read_piper_voice(const std::filesystem::path& onnx);

/// Reads the tokens of a voice. Throws Error.
TokenizerSpec read_piper_phonemes(const Source& source);

}  // namespace mote::convert
