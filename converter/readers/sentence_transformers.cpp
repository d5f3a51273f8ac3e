// SPDX-License-Identifier: Apache-2.0
//
// What a sentence-transformers directory adds to a Hugging Face one: modules.json lists a transformer, a
// pooling and perhaps a normalization, each with a folder of its own.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/error.h"
#include "converter/readers/bytes.h"
#include "converter/readers/json_file.h"
#include "converter/readers/json_text.h"
#include "converter/readers/readers.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kDepth = 8;

PoolKind read_pooling(const fs::path& path) {
  const json config = read_json_object(path, kDepth);
  const JsonFile file(path.string());
  const auto is_set = [&](const std::string& key) { return file.flag(config, key, false); };
  const std::pair<const char*, PoolKind> kinds[] = {{"cls", PoolKind::first},
                                                    {"mean", PoolKind::mean},
                                                    {"max", PoolKind::max},
                                                    {"lasttoken", PoolKind::last}};
  std::vector<PoolKind> chosen;
  for (const auto& [name, kind] : kinds) {
    const std::string key = std::string("pooling_mode_") + name;
    if (is_set(key + "_tokens") || is_set(key + "_token") || is_set(key) ||
        file.text(config, "pooling_mode", "") == name) {
      chosen.push_back(kind);
    }
  }
  for (const char* other : {"pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens"}) {
    if (is_set(other))
      fail("{}: {} is not supported; cls, mean, max and lasttoken are", path.string(), other);
  }
  if (chosen.size() != 1) {
    fail("{}: {} pooling modes are set; exactly one of cls, mean, max and lasttoken is supported",
         path.string(), chosen.size());
  }
  return chosen.front();
}

/// The last word of "sentence_transformers.models.Pooling".
std::string kind_of(const JsonFile& file, const json& module) {
  const std::string type = file.text(module, "type");
  return type.substr(type.rfind('.') + 1);
}

}  // namespace

SentenceModules read_sentence_modules(const fs::path& directory) {
  const fs::path path = directory / "modules.json";
  const MappedFile mapped(path);
  const json modules = parse_json_array(mapped.bytes(), path.string(), kDepth);
  const JsonFile file(path.string());
  SentenceModules found{directory, {}};
  bool pooled = false;
  for (const json& module : modules) {
    if (!module.is_object()) file.refuse("a module is {}, expected an object", shown(module.dump()));
    const std::string kind = kind_of(file, module), folder = file.text(module, "path", "");
    if (folder.find("..") != std::string::npos || fs::path(folder).is_absolute()) {
      fail("{}: module folder '{}' lies outside the directory", path.string(), folder);
    }
    if (kind == "Transformer") {
      found.transformer = directory / folder;
    } else if (kind == "Pooling") {
      found.pooling.kind = read_pooling(directory / folder / "config.json");
      pooled = true;
    } else if (kind == "Normalize") {
      found.pooling.normalize = true;
    } else {
      fail("{}: module {} is not supported; Transformer, Pooling and Normalize are", path.string(), kind);
    }
  }
  if (!pooled) fail("{}: no Pooling module", path.string());
  const fs::path settings = found.transformer / "sentence_bert_config.json";
  std::error_code ignored;
  if (fs::exists(settings, ignored)) {
    const json config = read_json_object(settings, kDepth);
    const auto most = JsonFile(settings.string()).optional_size(config, "max_seq_length").value_or(0);
    found.pooling.max_tokens = static_cast<uint32_t>(std::min<uint64_t>(most, UINT32_MAX));
  }
  return found;
}

}  // namespace mote::convert
