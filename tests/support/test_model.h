// SPDX-License-Identifier: Apache-2.0
//
// Golden models converted for tests, and sessions over them.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "mote/mote.h"
#include "mote/posix.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/families.h"
#include "tests/support/golden.h"
#include "tests/support/kept_files.h"
#include "tests/support/pair_tokenizer.h"
#include "tests/support/unity_style.h"

namespace test {

inline AlignedBytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  AlignedBytes bytes(std::filesystem::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// The .mote file of a folder, converted once for all processes of a run; `name` says what and how.
inline AlignedBytes kept_conversion(const std::string& name, const std::filesystem::path& folder,
                                    const mote::convert::ConvertOptions& options) {
  return read_file(kept_file(name + ".mote", [&](const std::filesystem::path& path) {
    mote::convert::convert(folder, path, options);
  }));
}

/// The .mote file of a golden model, converted once.
inline const AlignedBytes& golden_file(const std::string& name, const std::string& type) {
  static std::map<std::string, AlignedBytes> files;
  auto found = files.find(name + "." + type);
  if (found == files.end()) {
    mote::convert::ConvertOptions options;
    options.type = type;
    options.long_context = name == "phi3_longrope";  // its texts are longer than the old context
    found =
        files.emplace(name + "." + type, kept_conversion(name + "." + type, golden_folder() / name, options))
            .first;
  }
  return found->second;
}

/// A golden model for longer texts than it was made for.
inline AlignedBytes file_with_context_600(const std::string& name, uint32_t own_context,
                                          const std::string& type = "f32") {
  const std::filesystem::path folder = temporary_folder() / ("long_" + name + "." + type);
  using Options = std::filesystem::copy_options;
  std::filesystem::copy(golden_folder() / name, folder, Options::recursive | Options::overwrite_existing);
  std::ifstream in(folder / "config.json");
  std::string config((std::istreambuf_iterator<char>(in)), {});
  const std::string key = "\"max_position_embeddings\": ", old = key + std::to_string(own_context);
  REQUIRE(config.find(old) != std::string::npos);
  config.replace(config.find(old), old.size(), key + "600");
  std::ofstream(folder / "config.json") << config;
  const std::filesystem::path path = folder / "model.mote";
  mote::convert::ConvertOptions options;
  options.type = type;
  mote::convert::convert(folder, path, options);
  return read_file(path);
}

/// A copy of the golden model's folder, with another tokenizer.
inline std::filesystem::path with_tokenizer(const std::string& name, const std::string& copy,
                                            const std::string& tokenizer) {
  std::filesystem::path folder = temporary_folder() / copy;
  using Options = std::filesystem::copy_options;
  std::filesystem::copy(golden_folder() / name, folder, Options::recursive | Options::update_existing);
  std::ofstream(folder / "tokenizer.json") << tokenizer;
  return folder;
}

/// A golden model, by default llama, with a small tokenizer and a chat format, converted once.
inline const AlignedBytes& text_file(const std::string& type, const std::string& name = "llama") {
  static std::map<std::string, AlignedBytes> files;
  auto found = files.find(name + "." + type);
  if (found == files.end()) {
    const auto make = [&](const std::filesystem::path& path) {
      std::ifstream tokenizer(golden_folder() / "../tokenizers/small/tokenizer.json");
      mote::convert::ConvertOptions options;
      options.type = type;
      options.chat_format = "zephyr";
      mote::convert::convert(
          with_tokenizer(name, "text_" + name, {std::istreambuf_iterator<char>(tokenizer), {}}), path,
          options);
    };
    const std::filesystem::path path = kept_file("text_" + name + "." + type + ".mote", make);
    found = files.emplace(name + "." + type, read_file(path)).first;
  }
  return found->second;
}

/// The golden llama, whose weights do not matter here, with a tokenizer for pairs of texts.
inline const AlignedBytes& pair_file() {
  static const AlignedBytes kFile = read_file(kept_file("pair.mote", [](const std::filesystem::path& path) {
    mote::convert::ConvertOptions options;
    options.type = "f32";
    mote::convert::convert(with_tokenizer("llama", "pair", kPairTokenizer), path, options);
  }));
  return kFile;
}

/// An opened model and its storage.
class OpenModel {
 public:
  explicit OpenModel(const AlignedBytes& file, uint32_t flags = MOTE_OPEN_CHECK_HASHES)
      : storage_(mote_model_bytes()) {
    mote_error error{};
    const mote_status status =
        mote_model_open(file.data(), file.size(), flags, storage_.data(), storage_.size(), &model_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  mote_model* get() const { return model_; }
  mote_model_info info() const {
    mote_model_info info;
    mote_model_get_info(model_, &info);
    return info;
  }

 private:
  AlignedBytes storage_;
  mote_model* model_ = nullptr;
};

/// A session in an arena of exactly the bytes it says it takes.
template <class Arena>
class SessionIn {
 public:
  SessionIn(const OpenModel& model, const mote_session_options& options)
      : arena_(mote_session_bytes(model.get(), &options)) {
    mote_error error{};
    const mote_status status =
        mote_session_init(model.get(), &options, arena_.data(), arena_.size(), &session_, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  mote_session* get() const { return session_; }

 private:
  Arena arena_;
  mote_session* session_ = nullptr;
};
using OpenSession = SessionIn<AlignedBytes>;

inline mote_session_options small_options(const OpenModel& model) {
  mote_session_options options = mote_session_options_default(model.get());
  if (options.context > 64) options.context = 64;
  return options;
}

/// Deterministic ids of the model's vocabulary.
inline std::vector<int32_t> some_ids(uint32_t count, uint32_t vocab, uint32_t seed = 1) {
  std::vector<int32_t> ids(count);
  uint32_t state = seed * 2654435761u + 1;
  for (int32_t& id : ids) {
    state = state * 1664525u + 1013904223u;
    id = static_cast<int32_t>((state >> 8) % vocab);
  }
  return ids;
}

inline std::vector<float> logits_of(const mote_session* session, uint32_t vocab, uint32_t row = 0) {
  const float* logits = mote_session_logits(session, row);
  REQUIRE(logits != nullptr);
  return {logits, logits + vocab};
}

/// Prefills and returns the last token's logits.
inline std::vector<float> prefill(mote_session* session, const std::vector<int32_t>& ids, uint32_t vocab,
                                  uint32_t sequence = 0) {
  mote_error error{};
  const mote_status status = mote_prefill(session, sequence, ids.data(), static_cast<uint32_t>(ids.size()),
                                          MOTE_LOGITS_LAST, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  return logits_of(session, vocab);
}

}  // namespace test
