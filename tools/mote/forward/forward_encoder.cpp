// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward/forward_encoder.h"

#include <algorithm>
#include <string_view>

#include "host/base/error.h"
#include "host/tasks/picture_encoder.h"
#include "tools/mote/interruptible_runs.h"

namespace mote::cli {
namespace {

constexpr uint32_t kMostChunk = 4096;  // of a session's chunk

/// Sequences [first, end) of a case, which are computed together; those without tokens are left out.
struct Group {
  size_t first = 0, end = 0;
  std::vector<int32_t> ids, types;
  std::vector<uint32_t> lengths;
  std::vector<float> values;
};

/// Where the rows of the group being computed go.
struct GroupTracer {
  Outputs* outputs;
  const Case* item;
  const Group* group;
  bool hidden;
  bool bare;  // no head: the last hidden states are an output
};

/// Calls take(sequence, token, row) for the rows of a group's tokens.
template <class Take>
void for_each_token(const Case& item, const Group& group, Take take) {
  uint32_t row = 0;
  for (size_t sequence = group.first; sequence < group.end; ++sequence) {
    for (size_t token = 0; token < item.sequences[sequence].ids.size(); ++token) take(sequence, token, row++);
  }
}

/// Calls take(sequence, row) for the rows of a group's sequences.
template <class Take>
void for_each_sequence(const Case& item, const Group& group, Take take) {
  uint32_t row = 0;
  for (size_t sequence = group.first; sequence < group.end; ++sequence) {
    if (!item.sequences[sequence].ids.empty()) take(sequence, row++);
  }
}

/// Says whether the original's output of that name has a row for each sequence.
bool is_of_sequences(std::string_view name) {
  constexpr std::string_view kNames[] = {"pooler_output", "image_embeds", "cls_logits",
                                         "distillation_logits"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// As many rows for each sequence, which are not of its tokens.
void store_fixed(const GroupTracer& tracer, const char* name, const float* data, uint32_t rows,
                 uint32_t width, size_t stride) {
  const uint32_t each = rows / static_cast<uint32_t>(tracer.group->lengths.size());
  Array<float>& array = tracer.outputs->rows[tracer.item->prefix + name];
  array.shape = {tracer.item->sequences.size(), each, width};
  array.values.resize(tracer.item->sequences.size() * each * size_t{width});
  for_each_sequence(*tracer.item, *tracer.group, [&](size_t sequence, uint32_t row) {
    for (size_t i = 0; i < each; ++i) {
      std::copy_n(data + (row * each + i) * stride, width,
                  array.values.begin() + static_cast<std::ptrdiff_t>((sequence * each + i) * width));
    }
  });
}

void on_group_trace(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                    size_t stride) {
  const auto& tracer = *static_cast<const GroupTracer*>(user);
  const std::string_view what = name;
  if (what.starts_with("hidden.") ? !tracer.hidden : !tracer.bare && !what.ends_with("_logits")) return;
  if (is_of_sequences(what)) {
    for_each_sequence(*tracer.item, *tracer.group, [&](size_t sequence, uint32_t row) {
      store_sequence_row(*tracer.outputs, *tracer.item, name, sequence, data + row * stride, width);
    });
    return;
  }
  if (rows != tracer.group->ids.size()) return store_fixed(tracer, name, data, rows, width, stride);
  for_each_token(*tracer.item, *tracer.group, [&](size_t sequence, size_t token, uint32_t row) {
    store_row(*tracer.outputs, *tracer.item, name, sequence, token, data + row * stride, width);
  });
}

/// The next sequences that fit `most` tokens together, at least one. Global tokens have types from
/// `global_type` on.
Group next_group(const Case& item, size_t first, uint32_t most, uint32_t global_type) {
  Group group{first, first, {}, {}, {}, {}};
  for (; group.end < item.sequences.size(); ++group.end) {
    const Sequence& sequence = item.sequences[group.end];
    if (!group.ids.empty() && group.ids.size() + sequence.ids.size() > most) break;
    const size_t begin = group.ids.size();
    group.ids.insert(group.ids.end(), sequence.ids.begin(), sequence.ids.end());
    group.values.insert(group.values.end(), sequence.values.begin(), sequence.values.end());
    group.types.insert(group.types.end(), sequence.types.begin(), sequence.types.end());
    if (!sequence.global.empty()) group.types.resize(group.ids.size());
    for (size_t i = 0; i < sequence.global.size(); ++i)
      group.types[begin + i] += sequence.global[i] ? static_cast<int32_t>(global_type) : 0;
    if (!sequence.ids.empty()) group.lengths.push_back(static_cast<uint32_t>(sequence.ids.size()));
  }
  return group;
}

/// logits [B, boxes, labels + 1] and pred_boxes [B, boxes, 4], of the last rows of each picture.
void store_boxes(const Session& session, const mote_output_info& output, const Case& item, const Group& group,
                 Outputs& outputs) {
  const uint32_t labels = output.labels + 1, boxes = item.boxes;
  const uint32_t first = item.columns - boxes;
  Array<float>& logits = outputs.rows[item.prefix + "logits"];
  Array<float>& places = outputs.rows[item.prefix + "pred_boxes"];
  logits.shape = {item.sequences.size(), boxes, labels};
  places.shape = {item.sequences.size(), boxes, output.width - labels};
  for_each_token(item, group, [&](size_t, size_t token, uint32_t row) {
    if (token < first) return;
    const float* values = mote_session_output(session.get(), row);
    logits.values.insert(logits.values.end(), values, values + labels);
    places.values.insert(places.values.end(), values + labels, values + output.width);
  });
}

/// predicted_depth [B, height, width], of rows of patches.
void store_depth(const ModelFile& file, const Session& session, const Case& item, const Group& group,
                 Outputs& outputs) {
  mote_picture_info picture;
  mote_error error{};
  const Sequence& first = item.sequences.at(group.first);  // a case's pictures have one size
  check(mote_picture_of_size(file.model(), first.height, first.width, &picture, &error), error, "forward");
  Array<float>& depths = outputs.rows[item.prefix + "predicted_depth"];
  depths.shape = {item.sequences.size(), picture.height, picture.width};
  for_each_sequence(item, group, [&](size_t, uint32_t row) {
    const std::vector<float> map = host::depth_map(picture, session, row);
    depths.values.insert(depths.values.end(), map.begin(), map.end());
  });
}

void store_outputs(const Session& session, const mote_output_info& output, const Case& item,
                   const Group& group, Outputs& outputs) {
  if (output.kind == MOTE_OUTPUT_HIDDEN) return;  // traced as last_hidden_state
  if (output.of_sequences != 0) {
    const char* name = output.kind == MOTE_OUTPUT_EMBEDDING ? "sentence_embedding" : "logits";
    for_each_sequence(item, group, [&](size_t sequence, uint32_t row) {
      store_sequence_row(outputs, item, name, sequence, mote_session_output(session.get(), row),
                         output.width);
    });
    return;
  }
  if (output.kind == MOTE_OUTPUT_BOXES) return store_boxes(session, output, item, group, outputs);
  const bool span = output.kind == MOTE_OUTPUT_ANSWER_SPAN;
  for_each_token(item, group, [&](size_t sequence, size_t token, uint32_t row) {
    const float* values = mote_session_output(session.get(), row);
    store_row(outputs, item, span ? "start_logits" : "logits", sequence, token, values,
              span ? 1 : output.width);
    if (span) store_row(outputs, item, "end_logits", sequence, token, values + 1, 1);
  });
}

/// [B, T, 1] is written as [B, T].
void drop_single_columns(Outputs& outputs) {
  for (auto& [name, array] : outputs.rows) {
    if (array.shape.size() == 3 && array.shape.back() == 1) array.shape.pop_back();
  }
}

/// Runs of one session.
class EncoderRun {
 public:
  /// For `batch` sequences of `tokens` together.
  EncoderRun(const ModelFile& file, mote_session_options options, size_t batch, size_t tokens, bool hidden)
      : file_(file),
        output_(output_of(file)),
        tracer_{nullptr, nullptr, nullptr, hidden,
                output_.kind == MOTE_OUTPUT_HIDDEN || output_.kind == MOTE_OUTPUT_EMBEDDING ||
                    output_.kind == MOTE_OUTPUT_BOXES},
        options_(with_rows(options, batch, tokens, &tracer_)),
        session_(file, options_) {}
  EncoderRun(const EncoderRun&) = delete;
  EncoderRun& operator=(const EncoderRun&) = delete;

  void run(const Case& item, bool continues, Outputs& outputs) {
    if (output_.global_type == 0 && item.has_global_tokens())
      convert::fail("forward: {}global_attention_mask has global tokens, the model none", item.prefix);
    for (Group group; group.end < item.sequences.size();) {
      group = next_group(item, group.end, options_.chunk, output_.global_type);
      if (group.ids.empty()) continue;
      tracer_.outputs = &outputs;
      tracer_.item = &item;
      tracer_.group = &group;
      mote_batch batch{};
      batch.ids = group.ids.data();
      batch.token_types = group.types.empty() ? nullptr : group.types.data();
      batch.values = group.values.empty() ? nullptr : group.values.data();
      batch.lengths = group.lengths.data();
      batch.count = static_cast<uint32_t>(group.lengths.size());
      batch.continues = continues ? 1 : 0;
      std::vector<uint32_t> columns;
      for_each_sequence(item, group, [&](size_t sequence, uint32_t) {
        columns.push_back(item.sequences[sequence].across);
      });
      if (columns.front() != 0) batch.columns = columns.data();
      encode(session_, batch, "forward: " + item.prefix + "input_ids");
      if (output_.kind == MOTE_OUTPUT_DEPTH) {
        store_depth(file_, session_, item, group, outputs);
      } else {
        store_outputs(session_, output_, item, group, outputs);
      }
    }
    drop_single_columns(outputs);
  }

 private:
  static mote_output_info output_of(const ModelFile& file) {
    mote_output_info output;
    mote_model_get_output(file.model(), &output);
    return output;
  }
  static mote_session_options with_rows(mote_session_options options, size_t batch, size_t tokens,
                                        GroupTracer* tracer) {
    options.batch = static_cast<uint32_t>(batch);
    options.chunk = options.logit_rows = static_cast<uint32_t>(tokens);
    options.trace = on_group_trace;
    options.trace_user = tracer;
    return options;
  }

  const ModelFile& file_;
  mote_output_info output_;
  GroupTracer tracer_;
  mote_session_options options_;
  Session session_;
};

size_t tokens_of(const Case& item) {
  size_t tokens = 0;
  for (const Sequence& sequence : item.sequences) tokens += sequence.ids.size();
  return tokens;
}

}  // namespace

void forward_encoder(const ModelFile& file, mote_session_options options, const Case& item, bool hidden,
                     Outputs& outputs) {
  const size_t batch = item.sequences.size();
  const size_t tokens = std::clamp<size_t>(tokens_of(item), batch, kMostChunk);
  EncoderRun(file, options, batch, tokens, hidden).run(item, false, outputs);
}

void forward_segments(const ModelFile& file, mote_session_options options,
                      const std::vector<const Case*>& segments, bool hidden, std::vector<Outputs>& outputs) {
  const size_t batch = segments.front()->sequences.size();
  size_t tokens = batch;
  for (const Case* item : segments) {
    tokens = std::max(tokens, tokens_of(*item));
    // The original's memory keeps masked tokens, and later segments see them.
    if (tokens_of(*item) != item->sequences.size() * item->columns)
      convert::fail("forward: {}input_ids: masked tokens in one of several segments are not supported",
                    item->prefix);
  }
  EncoderRun run(file, options, batch, tokens, hidden);
  for (size_t i = 0; i < segments.size(); ++i) run.run(*segments[i], i != 0, outputs[i]);
}

}  // namespace mote::cli
