// SPDX-License-Identifier: Apache-2.0
//
// A directory of CTranslate2's: model.bin, config.json from version 6 on, and the vocabulary.
#include <nlohmann/json.hpp>
#include <system_error>

#include "converter/readers/ctranslate2.h"
#include "converter/readers/readers.h"
#include "host/base/error.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;

constexpr int kCt2Depth = 8;

/// The tokens of a .json list or of a .txt of lines; nothing where neither is there.
std::optional<std::vector<std::string>> read_token_list(const fs::path& directory, const std::string& name) {
  std::error_code ignored;
  std::vector<std::string> tokens;
  if (const fs::path path = directory / (name + ".json"); fs::exists(path, ignored)) {
    const MappedFile file(path);
    for (const auto& token : parse_json_array(file.bytes(), path.string(), 1)) {
      if (!token.is_string()) fail("{}: a token is no text", path.string());
      tokens.push_back(token.get<std::string>());
    }
    return tokens;
  }
  const fs::path path = directory / (name + ".txt");
  if (!fs::exists(path, ignored)) return std::nullopt;
  const MappedFile file(path);
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    tokens.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return tokens;
}

std::vector<std::string> read_token_lists(const fs::path& directory) {
  for (const char* name : {"shared_vocabulary", "vocabulary"}) {
    if (auto tokens = read_token_list(directory, name)) return *tokens;
  }
  auto target = read_token_list(directory, "target_vocabulary");
  const auto source = read_token_list(directory, "source_vocabulary");
  if (!target || !source) fail("{} has no vocabulary: expected shared_vocabulary.json", directory.string());
  if (*target != *source)
    fail("{} has different vocabularies of sources and targets, which is not supported", directory.string());
  return *target;
}

}  // namespace

Source read_ctranslate2(const fs::path& directory) {
  auto file = std::make_unique<MappedFile>(directory / "model.bin");
  const std::string where = file->path().string();
  const Ct2File parsed = parse_ctranslate2(file->bytes(), where);
  const auto settings = read_optional_json_object(directory / "config.json", kCt2Depth);
  Source source = translate_ctranslate2(parsed, settings, read_token_lists(directory), where);
  source.directory = directory;
  std::error_code error;
  source.name = fs::weakly_canonical(directory, error).filename().string();
  source.files.push_back(std::move(file));
  return source;
}

}  // namespace mote::convert
