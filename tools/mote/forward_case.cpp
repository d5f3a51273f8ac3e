// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward_case.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "converter/error.h"
#include "converter/readers/safetensors.h"

namespace mote::cli {
namespace {

struct Array {
  std::vector<uint64_t> shape;
  std::vector<int64_t> values;
};

Array read_array(const convert::SafetensorsFile& file, const std::string& name) {
  return {file.shape(name), file.i64(name)};
}

/// Nothing if the file has no such array; of the shape of `ids`.
std::optional<Array> read_like(const convert::SafetensorsFile& file, const std::string& name,
                               const Array& ids, const std::string& path) {
  if (!file.has(name)) return std::nullopt;
  Array array = read_array(file, name);
  if (array.shape != ids.shape) convert::fail("{}: {} has another shape than input_ids", path, name);
  return array;
}

Sequence read_sequence(const Array& ids, const std::optional<Array>& mask, size_t row,
                       const std::string& what) {
  Sequence sequence;
  const auto columns = static_cast<uint32_t>(ids.shape[1]);
  for (uint32_t column = 0; column < columns; ++column) {
    const size_t at = row * columns + column;
    if (mask && mask->values[at] != 0 && mask->values[at] != 1) {
      convert::fail("{}: attention_mask holds {}; only 0 and 1 mean something", what, mask->values[at]);
    }
    if (mask && mask->values[at] == 0) continue;
    const int64_t id = ids.values[at];
    if (id < 0 || id > INT32_MAX) convert::fail("{}: input_ids holds {}, which is no token id", what, id);
    sequence.ids.push_back(static_cast<int32_t>(id));
    sequence.columns.push_back(column);
  }
  return sequence;
}

Case read_case(const convert::SafetensorsFile& file, const std::string& prefix, const std::string& path) {
  const std::string name = prefix + "input_ids";
  const std::string what = path + ": " + name;
  const Array ids = read_array(file, name);
  if (ids.shape.size() != 2 || ids.values.empty() || ids.values.size() > INT32_MAX) {
    convert::fail("{} must be [sequences, tokens], at least one of each", what);
  }
  const auto mask = read_like(file, prefix + "attention_mask", ids, path);
  const auto positions = read_like(file, prefix + "position_ids", ids, path);
  Case item{prefix, static_cast<uint32_t>(ids.shape[1]), {}, {}};
  for (size_t row = 0; row < ids.shape[0]; ++row)
    item.sequences.push_back(read_sequence(ids, mask, row, what));
  if (positions) item.position_ids = positions->values;
  return item;
}

}  // namespace

uint32_t Case::longest() const {
  size_t most = 0;
  for (const Sequence& sequence : sequences) most = std::max(most, sequence.ids.size());
  return static_cast<uint32_t>(most);
}

std::vector<Case> read_cases(const std::string& path) {
  constexpr std::string_view kIds = "input_ids";
  const convert::SafetensorsFile file(path);
  std::vector<Case> cases;
  for (const auto& [name, tensor] : file.tensors()) {
    if (name != kIds && !name.ends_with(".input_ids")) continue;
    cases.push_back(read_case(file, name.substr(0, name.size() - kIds.size()), path));
  }
  if (cases.empty()) convert::fail("{}: no tensor input_ids [sequences, tokens] of I64", path);
  return cases;
}

void check_positions(const Case& item, const std::vector<uint32_t>& lengths, const std::string& path) {
  if (item.position_ids.empty()) return;
  for (size_t row = 0; row < item.sequences.size(); ++row) {
    int64_t expected = lengths[row];
    for (const uint32_t column : item.sequences[row].columns) {
      const int64_t given = item.position_ids[row * item.columns + column];
      if (given != expected) {
        convert::fail("{}: {}position_ids[{}][{}] is {}, but positions follow one another and this one is {}",
                      path, item.prefix, row, column, given, expected);
      }
      ++expected;
    }
  }
}

}  // namespace mote::cli
