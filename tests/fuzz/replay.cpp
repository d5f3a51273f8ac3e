// SPDX-License-Identifier: Apache-2.0
//
// Runs a target over files, once each: mote_fuzz_NAME FILE|FOLDER...
#include <cstdio>
#include <filesystem>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/support/files.h"

namespace fs = std::filesystem;

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());
    const std::string content = mote::testing::read_text(file);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(content.data()), content.size());
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
