// SPDX-License-Identifier: Apache-2.0
//
// Split GGUF files, NAME-00001-of-00003.gguf and so on: the first part has the metadata, each has tensors.
#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "converter/readers/gguf_file.h"
#include "converter/readers/readers.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostParts = 99999;  // of five digits

int64_t integer(const GgufFile& file, const char* key, int64_t otherwise) {
  const auto found = file.metadata.find(key);
  const auto* value = found == file.metadata.end() ? nullptr : std::get_if<int64_t>(&found->second);
  return value == nullptr ? otherwise : *value;
}

/// Returns the part of the name before "-00002-of-00003.gguf".
std::string stem_of(const fs::path& path, uint64_t part, uint64_t count) {
  const std::string name = path.filename().string(),
                    end = fmt::format("-{:05}-of-{:05}.gguf", part + 1, count);
  if (!name.ends_with(end)) {
    fail("{} is part {} of {}, but its name does not end in {}: give the parts their names back",
         path.string(), part + 1, count, end);
  }
  return name.substr(0, name.size() - end.size());
}

}  // namespace

uint64_t split_count(const GgufFile& file) {
  const int64_t count = integer(file, "split.count", 1);
  return count < 1 ? 1 : static_cast<uint64_t>(count);
}

Source read_gguf_parts(std::unique_ptr<MappedFile> file, const std::vector<std::string>& ignored) {
  const fs::path path = file->path();
  GgufFile given = parse_gguf(file->bytes(), path.string());
  const uint64_t count = split_count(given);
  std::vector<std::unique_ptr<MappedFile>> files;
  if (count == 1) {
    Source source = read_gguf(given, path, ignored);
    source.files.push_back(std::move(file));
    return source;
  }
  const int64_t part = integer(given, "split.no", -1);
  if (count > kMostParts || part < 0 || static_cast<uint64_t>(part) >= count)
    fail("{} says that it is part {} of {}, counted from 0: is the file damaged?", path.string(), part,
         count);
  const std::string stem = stem_of(path, static_cast<uint64_t>(part), count);
  GgufFile whole;
  for (uint64_t i = 0; i < count; ++i) {
    const fs::path place = path.parent_path() / fmt::format("{}-{:05}-of-{:05}.gguf", stem, i + 1, count);
    std::error_code none;
    if (!fs::exists(place, none))
      fail("{} is missing: {} is one of {} parts", place.string(), path.string(), count);
    files.push_back(std::make_unique<MappedFile>(place));
    GgufFile parsed = parse_gguf(files.back()->bytes(), place.string());
    if (split_count(parsed) != count || integer(parsed, "split.no", -1) != static_cast<int64_t>(i))
      fail("{} is not part {} of {}: do the parts belong together?", place.string(), i + 1, count);
    if (i == 0) whole.metadata = std::move(parsed.metadata);
    for (auto& [name, tensor] : parsed.tensors) {
      if (!whole.tensors.emplace(name, std::move(tensor)).second)
        fail("{}: another part has tensor {} too", place.string(), name);
    }
  }
  const int64_t tensors = integer(whole, "split.tensors.count", static_cast<int64_t>(whole.tensors.size()));
  if (static_cast<int64_t>(whole.tensors.size()) != tensors)
    fail("{}: the {} parts have {} tensors, expected {}", path.string(), count, whole.tensors.size(),
         tensors);
  Source source = read_gguf(whole, path.parent_path() / (stem + ".gguf"), ignored);
  source.files = std::move(files);
  return source;
}

}  // namespace mote::convert
