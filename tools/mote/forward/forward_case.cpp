// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward/forward_case.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "mote/pictures.h"

namespace mote::cli {
namespace {

using Ids = Array<int64_t>;

constexpr int64_t kMostSide = 1 << 16;  // patches of a picture's side

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

/// The tensors that belong to input_ids.
struct Companions {
  std::optional<Ids> mask, types, global;
};

Sequence read_sequence(const Ids& ids, const Companions& with, size_t row, const std::string& what) {
  const auto& [mask, types, global] = with;
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
    if (global) sequence.global.push_back(global->values[at] != 0);
    if (!types) continue;
    const int64_t type = types->values[at];
    if (type < 0 || type > INT32_MAX) convert::fail("{}: token_type_ids holds {}", what, type);
    sequence.types.push_back(static_cast<int32_t>(type));
  }
  return sequence;
}

/// Reads the case of `<prefix>input_ids`, or, for the tokens that a decoder has read, of
/// `<prefix>decoder_input_ids`; masks and types are named the same way.
Case read_case(const convert::SafetensorsFile& file, const std::string& prefix, const std::string& path) {
  const std::string name = prefix + "input_ids";
  const std::string what = path + ": " + name;
  const Ids ids = read_array(file, name);
  if (ids.shape.size() != 2 || ids.values.empty() || ids.values.size() > INT32_MAX) {
    convert::fail("{} must be [sequences, tokens], at least one of each", what);
  }
  const Companions with{read_like(file, prefix + "attention_mask", ids, path),
                        read_like(file, prefix + "token_type_ids", ids, path),
                        read_like(file, prefix + "global_attention_mask", ids, path)};
  const auto positions = read_like(file, prefix + "position_ids", ids, path);
  Case item{prefix, static_cast<uint32_t>(ids.shape[1]), {}, {}, 0};
  for (size_t row = 0; row < ids.shape[0]; ++row)
    item.sequences.push_back(read_sequence(ids, with, row, what));
  if (positions) item.position_ids = positions->values;
  return item;
}

}  // namespace

uint32_t Case::longest() const {
  size_t most = 0;
  for (const Sequence& sequence : sequences) most = std::max(most, sequence.ids.size());
  return static_cast<uint32_t>(most);
}

bool Case::has_global_tokens() const {
  return std::any_of(sequences.begin(), sequences.end(), [](const Sequence& sequence) {
    return std::find(sequence.global.begin(), sequence.global.end(), true) != sequence.global.end();
  });
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

void store_streams(Outputs& outputs, const Case& item, const std::string& name, size_t sequence, size_t token,
                   const float* row, uint32_t width, uint32_t streams) {
  Array<float>& array = outputs.rows[item.prefix + name];
  if (array.shape.empty()) {
    array.shape = {streams, item.sequences.size(), item.columns, width};
    array.values.resize(streams * item.sequences.size() * item.columns * size_t{width});
  }
  for (uint32_t stream = 0; stream < streams; ++stream) {
    const size_t sequence_at = stream * item.sequences.size() + sequence;
    const size_t at = sequence_at * item.columns + item.sequences[sequence].columns[token];
    std::copy_n(row + stream * size_t{width}, width,
                array.values.begin() + static_cast<std::ptrdiff_t>(at * width));
  }
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

namespace {

/// Returns the format for a picture's size, or throws an error that names the tensor.
mote_picture_info picture_info(const mote_model* model, uint64_t height, uint64_t width,
                               const std::string& what) {
  mote_picture_info picture{};
  mote_error error{};
  if (height > INT32_MAX || width > INT32_MAX ||
      mote_picture_of_size(model, static_cast<uint32_t>(height), static_cast<uint32_t>(width), &picture,
                           &error) != MOTE_OK) {
    convert::fail("{}: {}", what, error.text);
  }
  return picture;
}

Sequence picture_sequence(const mote_picture_info& picture, const float* pixels) {
  Sequence sequence;
  sequence.ids.resize(picture.rows);
  sequence.height = picture.height;
  sequence.width = picture.width;
  sequence.across = picture.width / picture.patch;
  for (uint32_t column = 0; column < picture.rows; ++column) sequence.columns.push_back(column);
  sequence.values.resize(size_t{picture.rows} * picture.row_width);
  mote_picture_rows(&picture, pixels, sequence.values.data());
  return sequence;
}

/// Pixels [channels, height, width] of patches [rows, patch, patch, channels].
std::vector<float> pixels_of_patches(const mote_picture_info& picture, const float* patches) {
  const size_t patch = picture.patch, channels = picture.channels, across = picture.width / patch;
  std::vector<float> pixels(channels * picture.height * picture.width);
  for (size_t i = 0; i < pixels.size(); ++i, ++patches) {
    const size_t channel = i % channels, x = i / channels % patch, y = i / channels / patch % patch;
    const size_t place = i / channels / patch / patch;
    const size_t row = place / across * patch + y, column = place % across * patch + x;
    pixels[(channel * picture.height + row) * picture.width + column] = *patches;
  }
  return pixels;
}

/// pixel_values [pictures, patches, pixels of a patch], with the patches of each side in spatial_shapes.
void read_patches(const convert::SafetensorsFile& file, const std::string& name, const mote_model* model,
                  Case& item, const std::string& what) {
  const std::string shapes_name = item.prefix + "spatial_shapes";
  if (!file.has(shapes_name)) convert::fail("{}: patches need spatial_shapes", what);
  const std::vector<uint64_t>& shape = file.shape(name);
  const std::vector<int64_t> sides = file.i64(shapes_name);
  const std::vector<float> values = file.f32(name);
  mote_picture_info native;
  if (mote_model_get_picture(model, &native, nullptr) != MOTE_OK || sides.size() != 2 * shape[0] ||
      native.channels_last == 0 || shape[2] != uint64_t{native.channels} * native.patch * native.patch)
    convert::fail("{} are no patches that this model takes", what);
  item.columns = static_cast<uint32_t>(shape[1]);
  for (size_t i = 0; i < shape[0]; ++i) {
    const int64_t down = sides[2 * i], across = sides[2 * i + 1];
    if (down < 1 || across < 1 || down > kMostSide || across > kMostSide ||
        static_cast<uint64_t>(down * across) > shape[1])
      convert::fail("{}: spatial_shapes holds {} x {}, there are {} patches", what, down, across, shape[1]);
    const auto picture = picture_info(model, static_cast<uint64_t>(down) * native.patch,
                                      static_cast<uint64_t>(across) * native.patch, what);
    const float* patches = values.data() + i * shape[1] * shape[2];
    item.sequences.push_back(picture_sequence(picture, pixels_of_patches(picture, patches).data()));
  }
}

}  // namespace

std::vector<Case> read_picture_cases(const std::string& path, const mote_model* model) {
  constexpr std::string_view kPixels = "pixel_values";
  const convert::SafetensorsFile file(path);
  std::vector<Case> cases;
  for (const auto& [name, tensor] : file.tensors()) {
    if (name != kPixels && !name.ends_with(".pixel_values")) continue;
    const std::string what = path + ": " + name;
    const std::vector<uint64_t>& shape = file.shape(name);
    Case item{name.substr(0, name.size() - kPixels.size()), 0, {}, {}, 0};
    if (shape.size() == 3) {
      read_patches(file, name, model, item, what);
    } else if (shape.size() == 4 && shape[0] != 0) {
      const mote_picture_info picture = picture_info(model, shape[2], shape[3], what);
      if (shape[1] != picture.channels)
        convert::fail("{} has {} channels, not {}", what, shape[1], picture.channels);
      const std::vector<float> pixels = file.f32(name);
      item.columns = picture.rows;
      item.boxes = picture.after;
      for (size_t i = 0; i < shape[0]; ++i)
        item.sequences.push_back(picture_sequence(picture, pixels.data() + i * (pixels.size() / shape[0])));
    } else {
      convert::fail("{} must be [pictures, channels, height, width]", what);
    }
    cases.push_back(std::move(item));
  }
  if (cases.empty())
    convert::fail("{}: no tensor pixel_values [pictures, channels, height, width] of F32", path);
  return cases;
}

std::optional<Case> read_target(const std::string& path, const Case& source) {
  const convert::SafetensorsFile file(path);
  const std::string prefix = source.prefix + "decoder_";
  if (!file.has(prefix + "input_ids")) return std::nullopt;
  Case target = read_case(file, prefix, path);
  if (target.sequences.size() != source.sequences.size())
    convert::fail("{}: {}input_ids has {} sequences, {}input_ids {}", path, prefix, target.sequences.size(),
                  source.prefix, source.sequences.size());
  target.prefix = source.prefix;
  return target;
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
