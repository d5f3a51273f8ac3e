// SPDX-License-Identifier: Apache-2.0
//
// adapter_config.json of a low-rank adapter, as peft writes it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

struct AdapterConfig {
  double alpha = 0;
  uint64_t rank = 0;
  bool rslora = false, dora = false;
  // By the names of modules or their ends: each_naming.
  std::map<std::string, double, std::less<>> alphas;
  std::map<std::string, uint64_t, std::less<>> ranks;
  std::string task;                      // "SEQ_CLS"; empty: none
  std::vector<std::string> whole;        // modules_to_save: ends of the names of modules that are kept whole
  std::vector<uint64_t> embedding_rows;  // trainable_token_indices, of the embedding
  std::map<std::string, std::vector<uint64_t>, std::less<>> rows;  // the same by the ends of modules' names
};

/// Reads the file. Keys of the file that are not read and change nothing are named in a note of the source.
/// Throws Error, which lists all keys that change what the adapter means and are not read, but for those that
/// the source's user says to be harmless ("adapter_config.KEY").
AdapterConfig read_adapter_config(const std::filesystem::path& path, Source& source);

}  // namespace mote::convert
