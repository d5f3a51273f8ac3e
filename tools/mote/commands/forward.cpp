// SPDX-License-Identifier: Apache-2.0
//
// mote forward: arrays in, arrays out, for tests and for comparing with other implementations.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/tasks/sound/speaker.h"
#include "mote/pictures.h"
#include "mote/sound.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/forward/forward_case.h"
#include "tools/mote/forward/forward_encoder.h"
#include "tools/mote/forward/forward_sound.h"
#include "tools/mote/forward/forward_source.h"
#include "tools/mote/forward/forward_transducer.h"
#include "tools/mote/forward/forward_voice.h"
#include "tools/mote/ids.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/tokens.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct ForwardArguments {
  std::string file;
  std::vector<std::string> inputs, outputs;
  uint32_t generate = 0;
  std::optional<int32_t> stop_id;
  uint32_t beams = 0;
  bool hidden = false;
  SessionFlags session;
};

/// Where the rows of the piece being computed go.
struct Tracer {
  Outputs* outputs = nullptr;  // null: nothing is wanted
  const Case* item = nullptr;
  size_t sequence = 0, first = 0;      // of the piece's tokens
  uint32_t width = 0;                  // of a hidden row, or of a stream of one
  std::map<std::string, size_t> rows;  // already seen of the piece, by name
};

void on_trace(void* user, const char* name, const float* data, uint32_t rows, uint32_t width, size_t stride) {
  auto& tracer = *static_cast<Tracer*>(user);
  if (tracer.outputs == nullptr) return;
  size_t& seen = tracer.rows[name];
  for (uint32_t row = 0; row < rows; ++row, ++seen) {
    const size_t token = tracer.first + seen;
    const float* values = data + row * stride;
    if (width > tracer.width && width % tracer.width == 0) {
      store_streams(*tracer.outputs, *tracer.item, name, tracer.sequence, token, values, tracer.width,
                    width / tracer.width);
    } else {
      store_row(*tracer.outputs, *tracer.item, name, tracer.sequence, token, values, width);
    }
  }
}

void check_batch(const Case& item, size_t batch, const std::string& path) {
  if (item.sequences.size() == batch) return;
  convert::fail("{}: {}input_ids has {} sequences, but {} in the first segment", path, item.prefix,
                item.sequences.size(), batch);
}

/// One case through all segments: a session of B sequences.
class CaseRun {
 public:
  CaseRun(const ForwardArguments& arguments, const ModelFile& file, const ThreadPool& pool, uint32_t batch,
          uint64_t tokens)
      : arguments_(arguments),
        file_(file),
        options_(options_for(arguments, file, pool, batch, tokens, &tracer_)),
        session_(file, options_),
        lengths_(batch),
        next_ids_(batch, -1) {
    mote_error error = {};
    const mote_sampling greedy = mote_sampling_default();
    check(mote_sample_begin(session_.get(), &greedy, &error), error, "forward");
  }

  void run_segment(const Case& item, const std::string& path, Outputs& outputs) {
    check_batch(item, lengths_.size(), path);
    check_positions(item, lengths_, path);
    rows_array(outputs, item, "logits", file_.info().vocab);
    for (size_t i = 0; i < item.sequences.size(); ++i) {
      mote_error error = {};
      if (lengths_[i] != 0 && mote_model_memory(file_.model()) != 0) {
        check(mote_session_begin_segment(session_.get(), static_cast<uint32_t>(i), &error), error, "forward");
      }
      check_ids(item.sequences[i].ids, file_,
                fmt::format("{}: {}input_ids, sequence {}", path, item.prefix, i));
      prefill(item, i, outputs);
    }
  }

  /// Rows [B, N] of greedy ids; after the stop id a row repeats it.
  Array<int64_t> generate() {
    const size_t batch = lengths_.size(), steps = arguments_.generate;
    Array<int64_t> ids{{batch, steps}, std::vector<int64_t>(batch * steps)};
    for (size_t i = 0; i < batch; ++i) {
      if (lengths_[i] == 0) convert::fail("forward: sequence {} has no tokens to generate after", i);
    }
    std::vector<int32_t> current = next_ids_;
    for (size_t step = 0; step < steps; ++step) {
      if (step != 0) decode(current);
      for (size_t i = 0; i < batch; ++i) {
        ids.values[i * steps + step] = current[i] >= 0 ? current[i] : *arguments_.stop_id;
        if (arguments_.stop_id && current[i] == *arguments_.stop_id) current[i] = -1;
      }
    }
    return ids;
  }

 private:
  static mote_session_options options_for(const ForwardArguments& arguments, const ModelFile& file,
                                          const ThreadPool& pool, uint32_t batch, uint64_t tokens,
                                          Tracer* tracer) {
    mote_session_options options = session_options(file, arguments.session, pool);
    if (arguments.session.context == 0) {
      options.context = static_cast<uint32_t>(std::clamp<uint64_t>(tokens, 1, UINT32_MAX));
    }
    options.batch = batch;
    options.chunk = std::max(options.chunk, batch);
    options.logit_rows = options.chunk;
    if (arguments.hidden) options.trace = on_trace, options.trace_user = tracer;
    return options;
  }

  void prefill(const Case& item, size_t sequence, Outputs& outputs) {
    const std::vector<int32_t>& ids = item.sequences[sequence].ids;
    mote_error error = {};
    for (size_t first = 0; first < ids.size(); first += options_.chunk) {
      const auto n = static_cast<uint32_t>(std::min<size_t>(options_.chunk, ids.size() - first));
      tracer_ = {&outputs, &item, sequence, first, file_.info().width, {}};
      check(mote_prefill(session_.get(), static_cast<uint32_t>(sequence), ids.data() + first, n,
                         MOTE_LOGITS_ALL, &error),
            error, "forward: " + item.prefix + "input_ids");
      tracer_ = {};
      for (uint32_t row = 0; row < n; ++row) {
        store_row(outputs, item, "logits", sequence, first + row, mote_session_logits(session_.get(), row),
                  file_.info().vocab);
      }
      if (first + n == ids.size()) next_ids_[sequence] = likeliest(n - 1);
    }
    lengths_[sequence] += static_cast<uint32_t>(ids.size());
  }

  /// Appends current[i] and puts the next id in its place; -1 stays.
  void decode(std::vector<int32_t>& current) {
    if (std::all_of(current.begin(), current.end(), [](int32_t id) { return id < 0; })) return;
    mote_error error = {};
    check(mote_decode(session_.get(), current.data(), &error), error, "forward: --generate");
    for (size_t i = 0; i < current.size(); ++i) {
      if (current[i] >= 0) current[i] = likeliest(static_cast<uint32_t>(i));
    }
  }

  int32_t likeliest(uint32_t row) {
    int32_t id = 0;
    mote_error error = {};
    check(mote_sample(session_.get(), row, &id, &error), error, "forward");
    return id;
  }

  const ForwardArguments& arguments_;
  const ModelFile& file_;
  Tracer tracer_;
  mote_session_options options_;
  Session session_;
  std::vector<uint32_t> lengths_;
  std::vector<int32_t> next_ids_;
};

const Case& find_case(const std::vector<Case>& cases, const std::string& prefix, const std::string& path) {
  for (const Case& item : cases) {
    if (item.prefix == prefix) return item;
  }
  convert::fail("{}: no {}input_ids, which the first segment has", path, prefix);
}

std::vector<std::vector<Case>> read_segments(const std::vector<std::string>& paths) {
  std::vector<std::vector<Case>> segments;
  for (const std::string& path : paths) segments.push_back(read_cases(path));
  return segments;
}

/// Texts in segments, of an encoder with a memory.
void encode_segments(const ForwardArguments& arguments, const ModelFile& file,
                     const mote_session_options& options) {
  const std::vector<std::vector<Case>> segments = read_segments(arguments.inputs);
  std::vector<Outputs> outputs(segments.size());
  for (const Case& first : segments.front()) {
    std::vector<const Case*> items;
    for (size_t i = 0; i < segments.size(); ++i) {
      items.push_back(&find_case(segments[i], first.prefix, arguments.inputs[i]));
      check_batch(*items.back(), first.sequences.size(), arguments.inputs[i]);
    }
    forward_segments(file, options, items, arguments.hidden, outputs);
  }
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].write(arguments.outputs[i]);
}

/// An encoder without a memory keeps nothing between segments: there is one.
void encode(const ForwardArguments& arguments, const ModelFile& file, const ThreadPool& pool) {
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  const bool segments = arguments.inputs.size() != 1;
  if (segments && output.memory == 0)
    convert::fail("{} is an encoder without a memory, which reads a single --input", file.path());
  if (arguments.generate != 0) convert::fail("{} is an encoder, which generates nothing", file.path());
  Outputs outputs;
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  const mote_session_options options = session_options(file, arguments.session, pool);
  if (segments) return encode_segments(arguments, file, options);
  if (sound.rate != 0) {
    forward_sound(file, options, arguments.inputs[0], arguments.hidden, outputs);
  } else if (file.host().task() == MOTE_TASK_SPEAK) {
    forward_voice(file, options, arguments.inputs[0], arguments.hidden, outputs);
  } else {
    mote_picture_info picture;
    const bool pictures = mote_model_get_picture(file.model(), &picture, nullptr) == MOTE_OK;
    const std::string& input = arguments.inputs[0];
    for (const Case& item : pictures ? read_picture_cases(input, file.model()) : read_cases(input))
      forward_encoder(file, options, item, arguments.hidden, outputs);
  }
  outputs.write(arguments.outputs[0]);
}

std::vector<Case> read_source_cases(const ModelFile& file, const std::string& path) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.rate != 0) return read_sound_cases(file, 1, path);
  mote_picture_info picture;
  const bool pictures = mote_model_get_picture(file.model(), &picture, nullptr) == MOTE_OK;
  return pictures ? read_picture_cases(path, file.model()) : read_cases(path);
}

/// Sources are those of one input.
void forward_with_sources(const ForwardArguments& arguments, const ModelFile& file, const ThreadPool& pool) {
  if (arguments.inputs.size() != 1)
    convert::fail("{} reads sources, which a single --input has", file.path());
  Outputs outputs;
  if (file.host().task() == MOTE_TASK_TRANSCRIBE_TRANSDUCER) {
    if (arguments.beams != 0) convert::fail("{} is a transducer, which has no beams", file.path());
    forward_transducer(file, session_options(file, arguments.session, pool), arguments.inputs[0],
                       arguments.generate, arguments.hidden, outputs);
    return outputs.write(arguments.outputs[0]);
  }
  mote_program_info source;
  mote_model_get_program(file.model(), 1, &source);
  if (arguments.hidden && source.input_width != 0)
    convert::fail("--hidden is not for models whose source is no text");
  const SourceGeneration generation{arguments.generate, arguments.stop_id, arguments.beams, arguments.hidden};
  for (const Case& item : read_source_cases(file, arguments.inputs[0])) {
    forward_source(file, session_options(file, arguments.session, pool), item,
                   read_target(arguments.inputs[0], item), generation, outputs);
  }
  outputs.write(arguments.outputs[0]);
}

void forward_model(const ForwardArguments& arguments) {
  if (arguments.inputs.size() != arguments.outputs.size()) {
    usage_fail("{} --input but {} --output; each segment takes one of both", arguments.inputs.size(),
               arguments.outputs.size());
  }
  const ModelFile file(arguments.file, arguments.session);
  std::vector<std::string> read = arguments.inputs;
  read.push_back(arguments.file);
  for (const std::string& path : arguments.outputs) convert::refuse_input(path, read);
  const ThreadPool pool(file, arguments.session);
  if (is_encoder(file)) return encode(arguments, file, pool);
  if (has_source(file)) return forward_with_sources(arguments, file, pool);
  if (arguments.beams != 0) convert::fail("--beams is for models with a source");
  const std::vector<std::vector<Case>> segments = read_segments(arguments.inputs);
  std::vector<Outputs> outputs(segments.size());
  for (const Case& first : segments.front()) {
    uint64_t tokens = arguments.generate == 0 ? 0 : arguments.generate - 1;
    for (size_t i = 0; i < segments.size(); ++i) {
      tokens += find_case(segments[i], first.prefix, arguments.inputs[i]).longest();
    }
    CaseRun run(arguments, file, pool, static_cast<uint32_t>(first.sequences.size()), tokens);
    for (size_t i = 0; i < segments.size(); ++i) {
      run.run_segment(find_case(segments[i], first.prefix, arguments.inputs[i]), arguments.inputs[i],
                      outputs[i]);
    }
    if (arguments.generate != 0) outputs.back().ids[first.prefix + "greedy_ids"] = run.generate();
  }
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].write(arguments.outputs[i]);
}

}  // namespace

void add_forward(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "forward", "Compute logits of arrays of ids, in .safetensors files", forward_model);
  command
      .option("--input", &arguments.inputs,
              "input_ids [B,T], maybe attention_mask, position_ids, token_type_ids and "
              "global_attention_mask [B,T]; names may have a "
              "prefix, each prefix being a case of its own. Of models that hear, input_values [B,samples] or "
              "input_features [B,rows,W], Whisper's [B,W,rows], instead. Of models that speak, also "
              "noise_duration and noise_prior with a "
              "prefix. Repeated: further segments of the same sessions")
      .type("FILE")
      .required()
      .repeated();
  command
      .option("--output", &arguments.outputs,
              "Gets logits [B,T,V], 0 where masked, or what else the model gives; one for each input")
      .type("FILE")
      .required()
      .repeated();
  command.option("--generate", &arguments.generate, "Also greedy_ids [B,N], N ids after the last segment")
      .type("N");
  command.option("--stop-id", &arguments.stop_id, "A row of greedy_ids that has this id goes on repeating it")
      .type("ID")
      .range(0, INT32_MAX);
  command
      .option(
          "--beams", &arguments.beams,
          "Of a model that encodes a source: also beam_ids [B,K,N] and beam_scores [B,K], the best K of a "
          "search with K beams and at most --generate ids, the stop ids included and 0 behind them")
      .type("K")
      .range(1, 256);
  command.flag("--hidden", &arguments.hidden, "Also hidden.0 (into the first layer), hidden.1, ... [B,T,D]");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
