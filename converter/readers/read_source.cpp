// SPDX-License-Identifier: Apache-2.0
//
// Chooses the reader of a source: of a directory by what is in it, of a file by its content.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstring>
#include <memory>
#include <string_view>

#include "converter/onnx/onnx_file.h"
#include "converter/readers/ctranslate2.h"
#include "converter/readers/piper_voice.h"
#include "converter/readers/readers.h"
#include "converter/source.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

// ---- Files, by list.inc. ----

bool is_ctranslate2_file(const MappedFile& file) {
  return file.path().filename() == "model.bin" && is_ctranslate2(file.bytes());
}
bool is_gguf_file(const MappedFile& file) { return is_gguf(file.bytes()); }
bool is_piper_file(const MappedFile& file) { return is_onnx(file.bytes()) && is_piper_voice(file.path()); }
bool is_onnx_file(const MappedFile& file) { return is_onnx(file.bytes()); }
bool is_llama2c_file(const MappedFile& file) { return is_llama2c(file.bytes()); }

using Ignored = std::vector<std::string>;

Source read_ctranslate2_file(std::unique_ptr<MappedFile> file, const Ignored&) {
  return read_ctranslate2(file->path().parent_path());
}
Source read_gguf_file(std::unique_ptr<MappedFile> file, const Ignored& ignored) {
  return read_gguf_parts(std::move(file), ignored);
}
Source read_piper_file(std::unique_ptr<MappedFile> file, const Ignored&) {
  return read_piper_voice(file->path());
}
Source read_onnx_model(std::unique_ptr<MappedFile> file, const Ignored& ignored) {
  return read_onnx_file(file->path(), ignored);
}
Source read_llama2c_file(std::unique_ptr<MappedFile> file, const Ignored&) {
  Source source = read_llama2c(file->bytes(), file->path());
  source.files.push_back(std::move(file));
  return source;
}

struct FileReader {
  bool (*reads)(const MappedFile& file);
  const char* name;
  Source (*read)(std::unique_ptr<MappedFile> file, const Ignored& ignored);
};

const std::vector<FileReader>& file_readers() {
  static const std::vector<FileReader> readers = {
#define FILE_READER(test, name, function) {test, name, function},
#include "converter/readers/list.inc"
#undef FILE_READER
  };
  return readers;
}

/// Throws Error with what the file, which no reader takes, seems to be, as advice.
[[noreturn]] void fail_unknown(const std::filesystem::path& path, std::span<const std::byte> file) {
  const auto starts_with = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  if (file.empty()) fail("{} is empty", path.string());
  if (file.size() > 8 && file[8] == std::byte{'{'}) {
    fail(
        "{} looks like safetensors, which do not say what model they are: give the directory that has its "
        "config.json",
        path.string());
  }
  if (starts_with("PK")) {
    fail(
        "{} looks like a PyTorch checkpoint, which does not say what model it is: give the directory that "
        "has its "
        "config.json",
        path.string());
  }
  std::vector<std::string> names;
  for (const FileReader& reader : file_readers()) names.emplace_back(reader.name);
  fail(
      "{} is not a model: expected a directory with config.json and model.safetensors or model.onnx, or one "
      "of "
      "{}",
      path.string(), fmt::join(names, ", "));
}

// ---- Directories. ----

/// Weights in Hugging Face's files come first.
bool holds_ctranslate2(const std::filesystem::path& directory) {
  std::error_code error;
  for (const char* other : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"}) {
    if (std::filesystem::exists(directory / other, error)) return false;
  }
  const std::filesystem::path path = directory / "model.bin";
  return std::filesystem::is_regular_file(path, error) && is_ctranslate2(MappedFile(path).bytes());
}

Source read_any(const std::filesystem::path& path, const Ignored& ignored) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (const std::filesystem::path voice = find_piper_voice(path); !voice.empty())
      return read_piper_voice(voice);
    return holds_ctranslate2(path) ? read_ctranslate2(path) : read_hf_directory(path, {}, ignored);
  }
  auto file = std::make_unique<MappedFile>(path);
  for (const FileReader& reader : file_readers()) {
    if (reader.reads(*file)) return reader.read(std::move(file), ignored);
  }
  fail_unknown(path, file->bytes());
}

}  // namespace

Source read_source(const std::filesystem::path& path, const std::vector<std::string>& ignored) {
  Source source = read_any(path, ignored);
  source.ignored_keys = ignored;
  return source;
}

}  // namespace mote::convert
