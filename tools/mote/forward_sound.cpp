// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward_sound.h"

#include <algorithm>
#include <string_view>

#include "converter/error.h"
#include "converter/readers/safetensors.h"
#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

/// Sequences of rows of the model's inputs.
struct SoundCase {
  std::string prefix;
  std::vector<std::vector<float>> rows;  // [B][rows * width]
};

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

/// Rows of zeros, then the squares of a spectrum [frames, bins].
std::vector<float> square_rows(const mote_sound_info& sound, const float* spectrum) {
  std::vector<float> rows(size_t{sound.before} * sound.patch * sound.patch);
  for (uint32_t bin = 0; bin + sound.patch <= sound.bins; bin += sound.bin_step) {
    for (uint32_t frame = 0; frame + sound.patch <= sound.frames; frame += sound.frame_step) {
      for (uint32_t i = bin; i < bin + sound.patch; ++i) {
        for (uint32_t t = frame; t < frame + sound.patch; ++t)
          rows.push_back(spectrum[size_t{t} * sound.bins + i]);
      }
    }
  }
  return rows;
}

SoundCase read_sound_case(const ModelFile& file, const convert::SafetensorsFile& data,
                          const std::string& name, const std::string& prefix, uint32_t width,
                          const std::string& path) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  const std::string what = path + ": " + name;
  const auto& shape = data.shape(name);
  if (shape.size() != (sound.waveform != 0 ? 2u : 3u) || shape[0] == 0)
    convert::fail("{} has another shape than the model's input", what);
  const uint32_t columns = sound.patch != 0 ? sound.bins : width;
  if (sound.waveform == 0 && shape[2] != columns)
    convert::fail("{} has rows of {} numbers, the model takes {}", what, shape[2], columns);
  if (sound.patch != 0 && shape[1] != sound.frames)
    convert::fail("{} has {} frames, the model takes {}", what, shape[1], sound.frames);
  const std::vector<float> values = data.f32(name);
  std::vector<int64_t> mask;
  if (data.has(prefix + "attention_mask")) mask = data.i64(prefix + "attention_mask");
  const size_t size = values.size() / shape[0];
  if (!mask.empty() && mask.size() != shape[0] * shape[1])
    convert::fail("{}: {}attention_mask has another shape", path, prefix);
  SoundCase item{prefix, {}};
  for (size_t b = 0; b < shape[0]; ++b) {
    size_t length = shape[1];
    if (!mask.empty()) {
      const auto first = mask.begin() + static_cast<ptrdiff_t>(b * shape[1]);
      length = static_cast<size_t>(std::find(first, first + static_cast<ptrdiff_t>(shape[1]), 0) - first);
    }
    const float* from = values.data() + b * size;
    item.rows.push_back(sound.waveform != 0 ? waveform_rows(file, from, length, width, what)
                        : sound.patch != 0  ? square_rows(sound, from)
                                            : std::vector<float>(from, from + length * width));
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
void store(const SoundCase& item, const SoundOutputs& from, const std::string& of_sequences, Outputs& to) {
  for (const auto& [name, rows] : from) {
    size_t longest = 0;
    for (const std::vector<float>& values : rows.sequences) longest = std::max(longest, values.size());
    Array<float>& array = to.rows[item.prefix + name];
    array.shape = {item.rows.size(), longest / rows.width, rows.width};
    if (name == of_sequences) array.shape = {item.rows.size(), rows.width};
    for (std::vector<float> values : rows.sequences) {
      values.resize(longest);
      array.values.insert(array.values.end(), values.begin(), values.end());
    }
  }
}

void run_case(const ModelFile& file, mote_session_options options, const SoundCase& item, uint32_t width,
              bool hidden, Outputs& outputs) {
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  size_t longest = 0;
  for (const std::vector<float>& rows : item.rows) longest = std::max(longest, rows.size() / width);
  SoundOutputs collected;
  SoundTracer tracer{&collected, 0, hidden};
  options.batch = 1;
  options.context = std::max(options.context, static_cast<uint32_t>(longest));
  options.chunk = options.logit_rows = static_cast<uint32_t>(longest);
  options.trace = on_sound_trace;
  options.trace_user = &tracer;
  Session session(file, options);
  const char* name = output.kind == MOTE_OUTPUT_EMBEDDING ? "sentence_embedding" : "logits";
  for (; tracer.sequence < item.rows.size(); ++tracer.sequence) {
    const std::vector<float>& rows = item.rows[tracer.sequence];
    const auto length = static_cast<uint32_t>(rows.size() / width);
    mote_batch batch{};
    batch.lengths = &length;
    batch.count = 1;
    batch.values = rows.data();
    encode(session, batch, "forward: " + item.prefix + "input");
    if (output.kind == MOTE_OUTPUT_HIDDEN) continue;  // traced as last_hidden_state
    for (uint32_t row = 0; row < mote_model_output_rows(file.model(), length); ++row)
      append(collected, name, tracer.sequence, mote_session_output(session.get(), row), 1, output.width,
             output.width);
  }
  store(item, collected, output.of_sequences != 0 ? name : "", outputs);
}

}  // namespace

void forward_sound(const ModelFile& file, mote_session_options options, const std::string& path, bool hidden,
                   Outputs& outputs) {
  mote_program_info program;
  mote_model_get_program(file.model(), 0, &program);
  const convert::SafetensorsFile data(path);
  bool found = false;
  for (const std::string_view kind : {"input_values", "input_features"}) {
    for (const auto& [name, tensor] : data.tensors()) {
      const std::string prefix = name.substr(0, name.size() - std::min(name.size(), kind.size()));
      if (name != kind && !(name.ends_with(kind) && prefix.ends_with("."))) continue;
      const SoundCase item = read_sound_case(file, data, name, prefix, program.input_width, path);
      run_case(file, options, item, program.input_width, hidden, outputs);
      found = true;
    }
  }
  if (!found) convert::fail("{}: no tensor input_values or input_features of F32", path);
}

}  // namespace mote::cli
