// SPDX-License-Identifier: Apache-2.0
//
// One function a format; read_source chooses. Those that take bytes give a Source whose tensors point into
// them and whose `files` the caller fills; `path` serves names and messages. All throw Error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "converter/source.h"

namespace mote::convert {

Source read_hf_directory(const std::filesystem::path& directory);

/// modules.json of a sentence-transformers directory: where its transformer is, and what follows it.
struct SentenceModules {
  std::filesystem::path transformer;
  SentencePooling pooling;
};
SentenceModules read_sentence_modules(const std::filesystem::path& directory);

bool is_gguf(std::span<const std::byte> file);
Source read_gguf(std::span<const std::byte> file, const std::filesystem::path& path);

/// Whether the bytes start with a header that llama2.c could have written.
bool is_llama2c(std::span<const std::byte> file);
Source read_llama2c(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace mote::convert
