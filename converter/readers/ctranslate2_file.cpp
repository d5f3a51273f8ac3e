// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "converter/readers/ctranslate2.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint32_t kFirstVersion = 2, kLastVersion = 6;
constexpr uint32_t kMostVariables = 1u << 20, kMostDimensions = 8;
constexpr std::array<uint32_t, 6> kCt2Bytes = {4, 1, 2, 4, 2, 2};

/// Takes numbers and texts off the front of the file.
class Ct2Cursor {
 public:
  Ct2Cursor(std::span<const std::byte> rest, const std::string& where) : rest_(rest), where_(where) {}

  std::span<const std::byte> bytes(uint64_t count) {
    if (count > rest_.size()) fail("{}: the file is cut", where_);
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  template <class T>
  T number() {
    return load<T>(bytes(sizeof(T)).data());
  }
  /// Two bytes of length, which counts the zero behind the text.
  std::string text() {
    const auto taken = bytes(number<uint16_t>());
    const auto* chars = reinterpret_cast<const char*>(taken.data());
    if (taken.empty() || chars[taken.size() - 1] != '\0') fail("{}: a text has no end", where_);
    std::string text(chars, taken.size() - 1);
    if (text.find('\0') != std::string::npos) fail("{}: a name has zeros in it", where_);
    return text;
  }
  uint32_t count(const char* what) {
    const auto value = number<uint32_t>();
    if (value > kMostVariables) fail("{}: {} {}", where_, value, what);
    return value;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  const std::string& where_;
};

/// Up to version 3 the width of an element stands for its type.
Ct2Type read_ct2_type(Ct2Cursor& cursor, uint32_t version, const std::string& name,
                      const std::string& where) {
  const auto code = cursor.number<uint8_t>();
  if (version >= 4) {
    if (code >= kCt2Bytes.size()) fail("{}: {} has type {}, known are 0 to 5", where, shown(name), code);
    return static_cast<Ct2Type>(code);
  }
  if (code != 4 && code != 2 && code != 1) fail("{}: {} has elements of {} bytes", where, shown(name), code);
  return code == 4 ? Ct2Type::f32 : code == 2 ? Ct2Type::i16 : Ct2Type::i8;
}

Ct2Variable read_variable(Ct2Cursor& cursor, uint32_t version, const std::string& name,
                          const std::string& where) {
  Ct2Variable variable{};
  const uint32_t rank = cursor.number<uint8_t>();
  if (rank > kMostDimensions) fail("{}: {} has {} dimensions", where, shown(name), rank);
  for (uint32_t i = 0; i < rank; ++i) variable.shape.push_back(cursor.number<uint32_t>());
  variable.type = read_ct2_type(cursor, version, name, where);
  const uint64_t width = kCt2Bytes[static_cast<size_t>(variable.type)];
  uint64_t bytes = cursor.number<uint32_t>();
  if (version < 4) bytes *= width;
  const auto count = element_count(variable.shape);
  if (!count || *count > UINT64_MAX / width || *count * width != bytes)
    fail("{}: {} has {} bytes, which its shape does not", where, shown(name), bytes);
  variable.bytes = cursor.bytes(bytes);
  return variable;
}

void add_alias(Ct2File& file, const std::string& alias, const std::string& name, const std::string& where) {
  if (file.variables.count(name) == 0)
    fail("{}: {} stands for {}, which is missing", where, shown(alias), shown(name));
  for (const char* end : {"", "_scale"}) {
    const auto found = file.variables.find(name + end);
    if (found == file.variables.end()) continue;
    charge_bytes(sizeof(Ct2Variable) + alias.size());
    const Ct2Variable variable = found->second;
    if (!file.variables.emplace(alias + end, variable).second && *end == '\0')
      fail("{}: {} is there twice", where, shown(alias));
  }
}

}  // namespace

bool is_ctranslate2(std::span<const std::byte> file) {
  if (file.size() < 8) return false;
  const auto version = load<uint32_t>(file.data());
  const auto length = load<uint16_t>(file.data() + 4);
  if (version < kFirstVersion || version > kLastVersion || length < 5 || length > 64) return false;
  if (file.size() < 6u + length || file[5u + length] != std::byte{0}) return false;
  return std::memcmp(file.data() + 1 + length, "Spec", 4) == 0;
}

Ct2File parse_ctranslate2(std::span<const std::byte> bytes, const std::string& where) {
  const WorkBudget budget(where, bytes.size());
  Ct2Cursor cursor(bytes, where);
  Ct2File file;
  file.bytes = bytes.size();
  file.version = cursor.number<uint32_t>();
  if (file.version < kFirstVersion || file.version > kLastVersion) {
    fail("{}: CTranslate2's format {} is not read, {} to {} are", where, file.version, kFirstVersion,
         kLastVersion);
  }
  file.spec = cursor.text();
  file.revision = cursor.number<uint32_t>();
  for (uint32_t left = cursor.count("variables"); left > 0; --left) {
    const std::string name = cursor.text();
    charge_bytes(sizeof(Ct2Variable) + name.size());
    if (!file.variables.emplace(name, read_variable(cursor, file.version, name, where)).second)
      fail("{}: {} is there twice", where, shown(name));
  }
  if (file.version >= 3) {
    for (uint32_t left = cursor.count("aliases"); left > 0; --left) {
      const std::string alias = cursor.text();
      add_alias(file, alias, cursor.text(), where);
    }
  }
  if (!cursor.at_end()) fail("{}: there are bytes behind the last variable", where);
  return file;
}

}  // namespace mote::convert
