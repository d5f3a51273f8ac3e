// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// What mote classify is asked about pictures.
struct PictureLabels {
  std::vector<std::string> paths;
  std::string text_model;  // whose vectors of `texts` the pictures are compared with; empty: labels
  std::vector<std::string> texts;
  uint32_t top;
  bool json;
  std::vector<uint32_t> (*largest)(const std::vector<float>& values, size_t k);
};

void classify_pictures(const PictureLabels& wanted, const ModelFile& file, const SessionFlags& flags,
                       const ThreadPool& pool);

}  // namespace mote::cli
