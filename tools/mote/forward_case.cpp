// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward_case.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "converter/error.h"
#include "converter/readers/safetensors.h"

namespace mote::cli {
namespace {

using Ids = Array<int64_t>;

Ids read_array(const convert::SafetensorsFile& file, const std::string& name) {
  return {file.shape(name), file.i64(name)};
}

/// Nothing if the file has no such array; of the shape of `ids`.
std::optional<Ids> read_like(const convert::SafetensorsFile& file, const std::string& name, const Ids& ids,
                             const std::string& path) {
  if (!file.has(name)) return std::nullopt;
  Ids array = read_array(file, name);
  if (array.shape != ids.shape) convert::fail("{}: {} has another shape than input_ids", path, name);
  return array;
}

Sequence read_sequence(const Ids& ids, const std::optional<Ids>& mask, const std::optional<Ids>& types,
                       size_t row, const std::string& what) {
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
    if (!types) continue;
    const int64_t type = types->values[at];
    if (type < 0 || type > INT32_MAX) convert::fail("{}: token_type_ids holds {}", what, type);
    sequence.types.push_back(static_cast<int32_t>(type));
  }
  return sequence;
}

Case read_case(const convert::SafetensorsFile& file, const std::string& prefix, const std::string& path) {
  const std::string name = prefix + "input_ids";
  const std::string what = path + ": " + name;
  const Ids ids = read_array(file, name);
  if (ids.shape.size() != 2 || ids.values.empty() || ids.values.size() > INT32_MAX) {
    convert::fail("{} must be [sequences, tokens], at least one of each", what);
  }
  const auto mask = read_like(file, prefix + "attention_mask", ids, path);
  const auto types = read_like(file, prefix + "token_type_ids", ids, path);
  const auto positions = read_like(file, prefix + "position_ids", ids, path);
  Case item{prefix, static_cast<uint32_t>(ids.shape[1]), {}, {}, 0};
  for (size_t row = 0; row < ids.shape[0]; ++row)
    item.sequences.push_back(read_sequence(ids, mask, types, row, what));
  if (positions) item.position_ids = positions->values;
  return item;
}

}  // namespace

uint32_t Case::longest() const {
  size_t most = 0;
  for (const Sequence& sequence : sequences) most = std::max(most, sequence.ids.size());
  return static_cast<uint32_t>(most);
}

void Outputs::write(const std::string& path) const {
  convert::NamedTensors tensors;
  for (const auto& [name, array] : rows) tensors[name] = convert::f32_tensor(array.shape, array.values);
  for (const auto& [name, array] : ids) tensors[name] = convert::i64_tensor(array.shape, array.values);
  convert::write_safetensors(path, tensors);
}

Array<float>& rows_array(Outputs& outputs, const Case& item, const std::string& name, uint32_t width) {
  Array<float>& array = outputs.rows[item.prefix + name];
  if (array.shape.empty()) {
    array.shape = {item.sequences.size(), item.columns, width};
    array.values.resize(item.sequences.size() * item.columns * size_t{width});
  }
  return array;
}

void store_row(Outputs& outputs, const Case& item, const std::string& name, size_t sequence, size_t token,
               const float* row, uint32_t width) {
  Array<float>& array = rows_array(outputs, item, name, width);
  const size_t at = sequence * item.columns + item.sequences[sequence].columns[token];
  std::copy_n(row, width, array.values.begin() + static_cast<std::ptrdiff_t>(at * width));
}

void store_sequence_row(Outputs& outputs, const Case& item, const std::string& name, size_t sequence,
                        const float* row, uint32_t width) {
  Array<float>& array = outputs.rows[item.prefix + name];
  if (array.shape.empty()) {
    array.shape = {item.sequences.size(), width};
    array.values.resize(item.sequences.size() * size_t{width});
  }
  std::copy_n(row, width, array.values.begin() + static_cast<std::ptrdiff_t>(sequence * width));
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

std::vector<Case> read_picture_cases(const std::string& path, const mote_model* model) {
  constexpr std::string_view kPixels = "pixel_values";
  const convert::SafetensorsFile file(path);
  std::vector<Case> cases;
  for (const auto& [name, tensor] : file.tensors()) {
    if (name != kPixels && !name.ends_with(".pixel_values")) continue;
    const std::vector<uint64_t>& shape = file.shape(name);
    mote_picture_info picture{};
    mote_error error{};
    const bool fits = shape.size() == 4 && shape[0] != 0 && shape[2] <= UINT32_MAX &&
                      shape[3] <= UINT32_MAX &&
                      mote_picture_of_size(model, static_cast<uint32_t>(shape[2]),
                                           static_cast<uint32_t>(shape[3]), &picture, &error) == MOTE_OK;
    if (!fits || shape[1] != picture.channels) {
      convert::fail("{}: {} must be [pictures, channels, height, width] as the model takes them: {}", path,
                    name, error.text);
    }
    const std::vector<float> pixels = file.f32(name);
    Case item{name.substr(0, name.size() - kPixels.size()), picture.rows, {}, {}, picture.after};
    for (size_t i = 0; i < shape[0]; ++i) {
      Sequence sequence;
      sequence.ids.resize(picture.rows);
      for (uint32_t column = 0; column < picture.rows; ++column) sequence.columns.push_back(column);
      sequence.values.resize(size_t{picture.rows} * picture.row_width);
      mote_picture_rows(&picture, pixels.data() + i * (pixels.size() / shape[0]), sequence.values.data());
      item.sequences.push_back(std::move(sequence));
    }
    cases.push_back(std::move(item));
  }
  if (cases.empty())
    convert::fail("{}: no tensor pixel_values [pictures, channels, height, width] of F32", path);
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
