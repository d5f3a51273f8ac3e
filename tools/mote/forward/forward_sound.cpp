// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward/forward_sound.h"

#include <algorithm>
#include <string_view>

#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "host/tasks/rows_encoder.h"
#include "mote/sound.h"
#include "tools/mote/interruptible_runs.h"

namespace mote::cli {
namespace {

/// Outputs by name, [rows, width] of each sequence.
struct SoundRows {
  uint32_t width = 0;
  std::vector<std::vector<float>> sequences;
};
using SoundOutputs = std::map<std::string, SoundRows>;

void append(SoundOutputs& outputs, const std::string& name, size_t sequence, const float* data, uint32_t rows,
            uint32_t width, size_t stride) {
  SoundRows& to = outputs[name];
  to.width = width;
  to.sequences.resize(std::max(to.sequences.size(), sequence + 1));
  for (uint32_t row = 0; row < rows; ++row, data += stride)
    to.sequences[sequence].insert(to.sequences[sequence].end(), data, data + width);
}

std::vector<float> waveform_rows(const ModelFile& file, const float* samples, size_t count, uint32_t width,
                                 const std::string& what) {
  const uint32_t rows = mote_sound_rows(file.model(), count);
  if (rows == 0) convert::fail("{} has {} samples, fewer than the model needs", what, count);
  std::vector<float> values(size_t{rows} * width);
  std::copy_n(samples, std::min(count, values.size()), values.begin());
  return values;
}

/// Spectra [B, frames, width] of [B, width, frames].
std::vector<float> frames_first(const std::vector<float>& values, size_t width, size_t frames) {
  std::vector<float> rows(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t frame = i % frames, column = i / frames % width, first = i / frames / width * frames;
    rows[(first + frame) * width + column] = values[i];
  }
  return rows;
}

std::vector<float> compressed_rows(const mote_sound_info& sound, const float* samples, size_t count,
                                   const std::string& what) {
  if (count == 0 || count % sound.hop != 0)
    convert::fail("{} has {} samples, no multiple of a frame's {}", what, count, sound.hop);
  std::vector<float> rows(count);
  mote_compress_frames(samples, static_cast<uint32_t>(count / sound.hop), sound.hop, sound.scale,
                       rows.data());
  return rows;
}

/// Rows of the model's input.
Sequence sequence_of(std::vector<float> values, uint32_t width) {
  Sequence sequence;
  sequence.ids.resize(values.size() / width);
  sequence.values = std::move(values);
  return sequence;
}

Case read_sound_case(const ModelFile& file, const convert::SafetensorsFile& data, const std::string& name,
                     const std::string& prefix, uint32_t width, const std::string& path) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  const std::string what = path + ": " + name;
  std::vector<uint64_t> shape = data.shape(name);
  const bool compresses = sound.features == MOTE_FEATURES_COMPRESSED_FRAMES;
  const bool samples = sound.waveform != 0 || compresses;
  if (shape.size() != (samples ? 2u : 3u) || shape[0] == 0)
    convert::fail("{} has another shape than the model's input", what);
  const bool fixed = !samples && sound.patch == 0 && sound.frames != 0;  // bins come first
  if (fixed) std::swap(shape[1], shape[2]);
  const uint32_t columns = sound.patch != 0 ? sound.bins : width;
  if (!samples && shape[2] != columns)
    convert::fail("{} has rows of {} numbers, the model takes {}", what, shape[2], columns);
  if (!samples && sound.frames != 0 && shape[1] != sound.frames)
    convert::fail("{} has {} frames, the model takes {}", what, shape[1], sound.frames);
  std::vector<float> values = data.f32(name);
  if (fixed) values = frames_first(values, shape[2], shape[1]);
  std::vector<int64_t> mask;
  if (!fixed && data.has(prefix + "attention_mask")) mask = data.i64(prefix + "attention_mask");
  const size_t size = values.size() / shape[0];
  if (!mask.empty() && mask.size() != shape[0] * shape[1])
    convert::fail("{}: {}attention_mask has another shape", path, prefix);
  Case item{prefix, 0, {}, {}, 0};
  for (size_t b = 0; b < shape[0]; ++b) {
    size_t length = shape[1];
    if (!mask.empty()) {
      const auto first = mask.begin() + static_cast<ptrdiff_t>(b * shape[1]);
      length = static_cast<size_t>(std::find(first, first + static_cast<ptrdiff_t>(shape[1]), 0) - first);
    }
    const float* from = values.data() + b * size;
    item.sequences.push_back(sequence_of(sound.waveform != 0 ? waveform_rows(file, from, length, width, what)
                                         : compresses        ? compressed_rows(sound, from, length, what)
                                         : sound.patch != 0  ? host::square_rows(sound, from)
                                                            : std::vector<float>(from, from + length * width),
                                         width));
  }
  return item;
}

struct SoundTracer {
  SoundOutputs* outputs;
  size_t sequence;
  bool hidden;
};

void on_sound_trace(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                    size_t stride) {
  const auto& tracer = *static_cast<const SoundTracer*>(user);
  if (!tracer.hidden && std::string_view(name).starts_with("hidden.")) return;
  append(*tracer.outputs, name, tracer.sequence, data, rows, width, stride);
}

/// [B, rows, width], or [B, width] of outputs of sequences.
void store(const Case& item, const SoundOutputs& from, const std::string& of_sequences, Outputs& to) {
  for (const auto& [name, rows] : from) {
    size_t longest = 0;
    for (const std::vector<float>& values : rows.sequences) longest = std::max(longest, values.size());
    Array<float>& array = to.rows[item.prefix + name];
    array.shape = {item.sequences.size(), longest / rows.width, rows.width};
    if (name == of_sequences) array.shape = {item.sequences.size(), rows.width};
    for (std::vector<float> values : rows.sequences) {
      values.resize(longest);
      array.values.insert(array.values.end(), values.begin(), values.end());
    }
  }
}

void run_case(const ModelFile& file, mote_session_options options, const Case& item, bool hidden,
              Outputs& outputs) {
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  const uint32_t longest = item.longest();
  SoundOutputs collected;
  SoundTracer tracer{&collected, 0, hidden};
  options.batch = 1;
  options.context = std::max(options.context, longest);
  options.chunk = options.logit_rows = longest;
  options.trace = on_sound_trace;
  options.trace_user = &tracer;
  Session session(file, options);
  const char* name = output.kind == MOTE_OUTPUT_EMBEDDING ? "sentence_embedding" : "logits";
  for (; tracer.sequence < item.sequences.size(); ++tracer.sequence) {
    const Sequence& sequence = item.sequences[tracer.sequence];
    const auto length = static_cast<uint32_t>(sequence.ids.size());
    mote_batch batch{};
    batch.lengths = &length;
    batch.count = 1;
    batch.values = sequence.values.data();
    encode(session, batch, "forward: " + item.prefix + "input");
    if (output.kind == MOTE_OUTPUT_HIDDEN) continue;  // traced as last_hidden_state
    for (uint32_t row = 0; row < mote_model_output_rows(file.model(), length); ++row)
      append(collected, name, tracer.sequence, mote_session_output(session.get(), row), 1, output.width,
             output.width);
  }
  store(item, collected, output.of_sequences != 0 ? name : "", outputs);
}

}  // namespace

std::vector<Case> read_sound_cases(const ModelFile& file, uint32_t program, const std::string& path) {
  mote_program_info info;
  mote_model_get_program(file.model(), program, &info);
  const convert::SafetensorsFile data(path);
  std::vector<Case> cases;
  for (const std::string_view kind : {"input_values", "input_features"}) {
    for (const auto& [name, tensor] : data.tensors()) {
      const std::string prefix = name.substr(0, name.size() - std::min(name.size(), kind.size()));
      if (name != kind && !(name.ends_with(kind) && prefix.ends_with("."))) continue;
      cases.push_back(read_sound_case(file, data, name, prefix, info.input_width, path));
    }
  }
  if (cases.empty()) convert::fail("{}: no tensor input_values or input_features of F32", path);
  return cases;
}

void forward_sound(const ModelFile& file, const mote_session_options& options, const std::string& path,
                   bool hidden, Outputs& outputs) {
  for (const Case& item : read_sound_cases(file, 0, path)) run_case(file, options, item, hidden, outputs);
}

}  // namespace mote::cli
