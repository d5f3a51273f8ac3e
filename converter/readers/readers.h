// SPDX-License-Identifier: Apache-2.0
//
// One function a format; read_source.cpp chooses by list.inc. Those that take bytes give a Source whose
// tensors point into them and whose `files` the caller fills; `path` serves names and messages. All throw
// Error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/readers/gguf_file.h"
#include "converter/source.h"

namespace mote::convert {

/// `onnx`: the weights, whatever else is there; empty: those that are there.
Source read_hf_directory(const std::filesystem::path& directory, const std::filesystem::path& onnx = {},
                         const std::vector<std::string>& ignored = {});
/// Maps a file of safetensors and adds its tensors to the source's, in place of those of their names.
void add_weights(Source& source, const std::filesystem::path& path);
/// With the config.json beside it, or beside the folder "onnx" that it is in.
Source read_onnx_file(const std::filesystem::path& path, const std::vector<std::string>& ignored = {});

/// The chat template beside a tokenizer: chat_template.jinja, or what tokenizer_config.json or, as processors
/// of pictures have it, chat_template.json has; "" if there is none.
std::string read_chat_template(const std::filesystem::path& directory);

/// modules.json of a sentence-transformers directory: where its transformer is, and what follows it.
struct SentenceModules {
  std::filesystem::path transformer;
  std::optional<SentencePooling> pooling;  // none: a cross encoder
  std::optional<LogitScore> logit_score;
  std::optional<PairMessages> pair_messages;
  std::vector<std::filesystem::path> dense_folders;
  uint32_t max_tokens = 0;
  bool lowercase = false;
  std::string label_activation, similarity;
  std::vector<std::string> unread;  // keys of the library's config that are not read
  std::vector<Prompt> prompts;
  int32_t default_prompt = -1;  // as in Source
  bool pools_prompt = true;     // the pooling counts a prompt's tokens
};
SentenceModules read_sentence_modules(const std::filesystem::path& directory);

bool is_gguf(std::span<const std::byte> file);
/// Metadata keys that the user says to be harmless are `ignored`.
Source read_gguf(std::span<const std::byte> file, const std::filesystem::path& path,
                 const std::vector<std::string>& ignored = {});
Source read_gguf(const GgufFile& file, const std::filesystem::path& path,
                 const std::vector<std::string>& ignored = {});
/// A file or, where it is one part of a split one, all parts from beside it; owns them, the first one first.
Source read_gguf_parts(std::unique_ptr<MappedFile> file, const std::vector<std::string>& ignored = {});

/// A directory with CTranslate2's model.bin.
Source read_ctranslate2(const std::filesystem::path& directory);

/// Says whether the bytes start with a header that llama2.c could have written.
bool is_llama2c(std::span<const std::byte> file);
Source read_llama2c(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace mote::convert
