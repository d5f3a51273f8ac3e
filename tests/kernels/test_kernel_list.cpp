// SPDX-License-Identifier: Apache-2.0
//
// The folders and kernel_list.inc agree.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kKernelFolder = fs::path(MOTE_SOURCE_DIR) / "kernels";

/// A line: "linear_q8g32_q4g32__avx2", and what an INSTANCE includes.
struct Line {
  std::string name;
  std::vector<std::string> headers;
  bool is_file() const { return headers.empty(); }
};

/// Every line of kernel_list.inc, for every architecture, and the reference kernels that op_list.inc implies.
std::vector<Line> lines() {
  std::ifstream file(kKernelFolder / "kernel_list.inc");
  std::vector<Line> found;
  std::set<std::string> names;
  for (std::string text; std::getline(file, text);) {
    if (text.rfind("KERNEL", 0) != 0 && text.rfind("INSTANCE", 0) != 0) continue;
    for (char& c : text) c = c == '(' || c == ',' || c == ')' ? ' ' : c;
    std::istringstream words(text);
    std::string macro, op, operation, a, b, isa, scratch;
    words >> macro >> op >> operation >> a;
    if (macro.back() != '1') words >> b;
    words >> isa >> scratch;
    Line line{operation + "_" + a + (b.empty() ? "" : "_" + b) + "__" + isa, {}};
    if (macro[0] == 'I') {
      line.headers.resize(2);
      words >> line.headers[0] >> line.headers[1];
    }
    TEST_ASSERT_TRUE_MESSAGE(names.insert(line.name).second, "listed twice: " << text);
    found.push_back(line);
  }
  std::ifstream operations(kKernelFolder / "op_list.inc");
  for (std::string text; std::getline(operations, text);) {
    if (text.rfind("OP(", 0) != 0) continue;
    for (char& c : text) c = c == '(' || c == ',' || c == ')' ? ' ' : c;
    std::istringstream words(text);
    std::string macro, op, operation, types;
    words >> macro >> op >> operation >> types;
    if (types == "f32") found.push_back({operation + "_f32__ref", {}});
  }
  return found;
}

/// Files that no line names: what the kernels of a family share.
const char* const kShared[] = {"linear_finish__sse", "linear_finish__avx2", "linear_finish__avx512_vnni"};

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

TEST("every kernel file is listed, and every line has its file, or the headers of its instance",
     "[kernel_list]") {
  std::set<std::string> stems;
  for (const auto& [stem, folder] : files()) stems.insert(stem);
  for (const char* shared : kShared) TEST_ASSERT_EQUAL_UINT32(1, stems.erase(shared));
  for (const Line& line : lines()) {
    INFO(line.name);
    TEST_ASSERT_EQUAL_UINT32(line.is_file(), stems.erase(line.name));
    for (const std::string& header : line.headers)
      TEST_ASSERT_TRUE_MESSAGE(fs::exists(kKernelFolder / (header + ".inl.h")), header);
  }
  for (const std::string& stem : stems) TEST_FAIL_MESSAGE("not listed: " << stem);
}

TEST("kernel files lie in their architecture's folder and have names of at most 40 characters",
     "[kernel_list]") {
  const std::map<std::string, std::string> folders = {
      {"ref", "reference"},   {"sse", "x86"},         {"avx2", "x86"},       {"avx_vnni", "x86"},
      {"avx512_vnni", "x86"}, {"avx512_bf16", "x86"}, {"amx_int8", "x86"},   {"neon", "arm"},
      {"dotprod", "arm"},     {"i8mm", "arm"},        {"armv7_neon", "arm"}, {"simd128", "wasm"},
      {"dsp", "cortex_m"},    {"helium", "cortex_m"}};
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
  std::set<std::string> names;
  uint32_t listed_references = 0;
  for (const Line& line : lines()) {
    names.insert(line.name);
    listed_references += line.name.find("__ref") != std::string::npos;
  }
  uint32_t references = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = std::string(kernels[i].name) + "__" + isa_name(kernels[i].isa);
    TEST_ASSERT_TRUE_MESSAGE(names.count(name) == 1, name);
    references += is_reference(kernels[i]);
  }
  TEST_ASSERT_EQUAL_UINT32(listed_references, references);
}

TEST("each operation with a kernel has a test in this folder", "[kernel_list]") {
  std::string tests;
  for (const auto& entry : fs::directory_iterator(fs::path(MOTE_SOURCE_DIR) / "tests/kernels")) {
    if (entry.path().extension() != ".cpp" || entry.path().stem() == "test_kernel_list") continue;
    std::ifstream file(entry.path());
    tests += std::string((std::istreambuf_iterator<char>(file)), {});
  }
  std::set<std::string> with_kernels;  // experts has none of its own
  for (const Line& line : lines()) with_kernels.insert(line.name);
  std::ifstream operations(kKernelFolder / "op_list.inc");
  for (std::string text; std::getline(operations, text);) {
    if (text.rfind("OP(", 0) != 0) continue;
    for (char& c : text) c = c == '(' || c == ',' || c == ')' ? ' ' : c;
    std::istringstream words(text);
    std::string macro, op, operation;
    words >> macro >> op >> operation;
    const auto first = with_kernels.lower_bound(operation + "_");
    if (first == with_kernels.end() || first->rfind(operation + "_", 0) != 0) continue;
    TEST_ASSERT_TRUE_MESSAGE(std::regex_search(tests, std::regex("Op::k" + op + "\\b")),
                             "no test of Op::k" << op << " in tests/kernels");
  }
}

}  // namespace mote::testing
