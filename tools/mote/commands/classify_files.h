// SPDX-License-Identifier: Apache-2.0
//
// mote classify of files that are no texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// The questions of mote classify about files.
struct FileLabels {
  std::vector<std::string> paths;
  uint32_t top;
  bool json;
  std::vector<uint32_t> (*largest)(const std::vector<float>& values, size_t k);
};

/// A line of labels, or an object in which `kind` names the file.
void show_labels(const char* kind, const std::string& path, const std::vector<float>& probabilities,
                 const FileLabels& wanted, const std::function<std::string(uint32_t)>& label);
/// The model's own labels.
void show_labels(const char* kind, const std::string& path, const std::vector<float>& probabilities,
                 const FileLabels& wanted, const ModelFile& file);

/// `text_model`: whose vectors of `texts` the pictures are compared with; empty: labels.
void classify_pictures(const FileLabels& wanted, const std::string& text_model,
                       const std::vector<std::string>& texts, const ModelFile& file,
                       const SessionFlags& flags, const ThreadPool& pool);

bool takes_sound(const ModelFile& file);
void classify_sounds(const FileLabels& wanted, const ModelFile& file, const SessionFlags& flags,
                     const ThreadPool& pool);

}  // namespace mote::cli
