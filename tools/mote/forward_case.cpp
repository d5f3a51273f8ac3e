// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward_case.h"

#include <algorithm>

#include "converter/error.h"

namespace mote::cli {
namespace {

using Inputs = std::map<std::string, Array<int64_t>>;

/// Null if there is none; of the shape of `ids`.
const Array<int64_t>* find_like(const Inputs& inputs, const std::string& name, const Array<int64_t>& ids,
                                const std::string& path) {
  const auto at = inputs.find(name);
  if (at == inputs.end()) return nullptr;
  if (at->second.shape != ids.shape) convert::fail("{}: {} has another shape than input_ids", path, name);
  return &at->second;
}

Sequence read_sequence(const Array<int64_t>& ids, const Array<int64_t>* mask, size_t row, const std::string& what) {
  Sequence sequence;
  const auto columns = static_cast<uint32_t>(ids.shape[1]);
  for (uint32_t column = 0; column < columns; ++column) {
    const size_t at = row * columns + column;
    if (mask != nullptr && mask->values[at] != 0 && mask->values[at] != 1) {
      convert::fail("{}: attention_mask holds {}; only 0 and 1 mean something", what, mask->values[at]);
    }
    if (mask != nullptr && mask->values[at] == 0) continue;
    const int64_t id = ids.values[at];
    if (id < 0 || id > INT32_MAX) convert::fail("{}: input_ids holds {}, which is no token id", what, id);
    sequence.ids.push_back(static_cast<int32_t>(id));
    sequence.columns.push_back(column);
  }
  return sequence;
}

Case read_case(const Inputs& inputs, const std::string& prefix, const Array<int64_t>& ids, const std::string& path) {
  const std::string what = path + ": " + prefix + "input_ids";
  if (ids.shape.size() != 2 || ids.shape[0] == 0 || ids.shape[1] == 0 || ids.values.size() > INT32_MAX) {
    convert::fail("{} must be [sequences, tokens], at least one of each", what);
  }
  const Array<int64_t>* mask = find_like(inputs, prefix + "attention_mask", ids, path);
  const Array<int64_t>* positions = find_like(inputs, prefix + "position_ids", ids, path);
  Case item{prefix, static_cast<uint32_t>(ids.shape[1]), {}, {}};
  for (size_t row = 0; row < ids.shape[0]; ++row) item.sequences.push_back(read_sequence(ids, mask, row, what));
  if (positions != nullptr) item.position_ids = positions->values;
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
  const Inputs inputs = read_integers(path);
  std::vector<Case> cases;
  for (const auto& [name, ids] : inputs) {
    if (name != kIds && !name.ends_with(".input_ids")) continue;
    cases.push_back(read_case(inputs, name.substr(0, name.size() - kIds.size()), ids, path));
  }
  if (cases.empty()) convert::fail("{}: no whole numbers named input_ids, as [sequences, tokens]", path);
  return cases;
}

void check_positions(const Case& item, const std::vector<uint32_t>& lengths, const std::string& path) {
  if (item.position_ids.empty()) return;
  for (size_t row = 0; row < item.sequences.size(); ++row) {
    int64_t expected = lengths[row];
    for (const uint32_t column : item.sequences[row].columns) {
      const int64_t given = item.position_ids[row * item.columns + column];
      if (given != expected) {
        convert::fail("{}: {}position_ids[{}][{}] is {}, but positions follow one another and this one is {}", path,
                      item.prefix, row, column, given, expected);
      }
      ++expected;
    }
  }
}

}  // namespace mote::cli
