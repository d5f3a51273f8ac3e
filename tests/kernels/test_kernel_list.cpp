// SPDX-License-Identifier: Apache-2.0
//
// The folders and kernel_list.inc agree.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/kernel_test.h"

namespace mote::test {
namespace {

namespace fs = std::filesystem;

const fs::path kKernelFolder = fs::path(MOTE_SOURCE_DIR) / "kernels";

/// The words of each line of a list that begins with `macro`.
std::vector<std::vector<std::string>> lines_of(const char* list, const std::string& macro) {
  std::ifstream file(kKernelFolder / list);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(macro + "(", 0) != 0) continue;
    for (char& c : line) c = c == '(' || c == ',' || c == ')' ? ' ' : c;
    std::istringstream words(line);
    std::vector<std::string>& all = lines.emplace_back();
    for (std::string word; words >> word;) all.push_back(word);
  }
  return lines;
}

/// "linear_q8g32_q4g32__avx2" of every line of kernel_list.inc, for every architecture, and of the reference
/// kernels that op_list.inc implies.
std::set<std::string> listed() {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    TEST_ASSERT_TRUE_MESSAGE(names.insert(name).second, "listed twice: " << name);
  };
  for (const auto& line : lines_of("kernel_list.inc", "KERNEL"))
    add(line[2] + "_" + line[3] + "_" + line[4] + "__" + line[5]);
  for (const auto& line : lines_of("kernel_list.inc", "KERNEL1"))
    add(line[2] + "_" + line[3] + "__" + line[4]);
  for (const auto& line : lines_of("op_list.inc", "OP"))
    if (line[3] == "f32") add(line[2] + "_f32__ref");
  return names;
}

/// File stems and their folders.
std::map<std::string, std::string> files() {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kKernelFolder)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".cpp" && path.stem().string().find("__") != std::string::npos) {
      found[path.stem().string()] = path.parent_path().filename().string();
    }
  }
  return found;
}

}  // namespace

TEST("every kernel file is listed and every listed kernel has its file", "[kernel_list]") {
  std::set<std::string> stems;
  for (const auto& [stem, folder] : files()) stems.insert(stem);
  for (const std::string& name : listed())
    TEST_ASSERT_TRUE_MESSAGE(stems.count(name) == 1, "no file for " << name);
  for (const std::string& stem : stems)
    TEST_ASSERT_TRUE_MESSAGE(listed().count(stem) == 1, "not listed: " << stem);
  TEST_ASSERT_FALSE(stems.empty());
}

TEST("kernel files lie in their architecture's folder and have names of at most 40 characters",
     "[kernel_list]") {
  const std::map<std::string, std::string> folders = {
      {"ref", "reference"},   {"avx2", "x86"},     {"avx_vnni", "x86"}, {"avx512_vnni", "x86"},
      {"avx512_bf16", "x86"}, {"amx_int8", "x86"}, {"neon", "arm"},     {"dotprod", "arm"},
      {"i8mm", "arm"},        {"simd128", "wasm"}};
  for (const auto& [stem, folder] : files()) {
    INFO(stem);
    const auto expected = folders.find(stem.substr(stem.find("__") + 2));
    TEST_ASSERT_TRUE(expected != folders.end() && expected->second == folder);
    TEST_ASSERT_LESS_OR_EQUAL(40u, stem.size() + 4);
  }
}

TEST("this build's kernels are the listed ones of its architecture", "[kernel_list]") {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  const std::set<std::string> names = listed();
  uint32_t references = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = std::string(kernels[i].name) + "__" + isa_name(kernels[i].isa);
    TEST_ASSERT_TRUE_MESSAGE(names.count(name) == 1, name);
    references += is_reference(kernels[i]);
  }
  uint32_t listed_references = 0;
  for (const std::string& name : names) listed_references += name.find("__ref") != std::string::npos;
  TEST_ASSERT_EQUAL_UINT32(listed_references, references);
}

}  // namespace mote::test
