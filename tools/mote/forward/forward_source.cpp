// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward/forward_source.h"

#include <algorithm>

#include "host/base/error.h"
#include "mote/beams.h"
#include "tools/mote/ids.h"
#include "tools/mote/interruptible_runs.h"
#include "tools/mote/output.h"
#include "tools/mote/tokens.h"

namespace mote::cli {
namespace {

constexpr uint32_t kSourceProgram = 1, kMostRows = 4096;

uint32_t rows_of(const Case& item) {
  size_t rows = 0;
  bool floats = false;
  for (const Sequence& sequence : item.sequences) {
    rows += sequence.ids.size();
    floats = floats || !sequence.values.empty();
  }
  return static_cast<uint32_t>(std::clamp<size_t>(rows, 1, floats ? UINT32_MAX : kMostRows));
}

mote_session_options source_options(mote_session_options options, const Case& sources,
                                    const std::optional<Case>& targets, const SourceGeneration& generation) {
  const uint32_t longest = targets ? targets->longest() : 0;
  options.batch = std::max(static_cast<uint32_t>(sources.sequences.size()), generation.beams);
  options.context = std::max({longest, generation.steps, 1u});
  options.chunk = std::max({rows_of(sources), longest, options.batch});
  options.logit_rows = options.chunk;
  return options;
}

/// Where the rows of the run in progress go: those of sequence `first` on, one sequence after the other.
struct SourceTracer {
  Outputs* outputs = nullptr;  // null: nothing is wanted
  const Case* item = nullptr;
  std::string before;  // of the names
  size_t first = 0;
};

void trace_source(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                  size_t stride) {
  const auto& tracer = *static_cast<const SourceTracer*>(user);
  if (tracer.outputs == nullptr) return;
  size_t sequence = tracer.first, token = 0;
  for (uint32_t row = 0; row < rows; ++row, ++token) {
    while (token == tracer.item->sequences[sequence].ids.size()) ++sequence, token = 0;
    store_row(*tracer.outputs, *tracer.item, tracer.before + name, sequence, token, data + row * stride,
              width);
  }
}

/// A case's sources and what is computed over them.
class SourceRun {
 public:
  SourceRun(const ModelFile& file, const mote_session_options& options, const Case& sources, bool hidden,
            Outputs& outputs)
      : file_(file),
        hidden_(hidden),
        session_(file, traced(options)),
        session_batch_(options.batch),
        sources_(sources),
        outputs_(outputs) {
    mote_error error = {};
    const mote_sampling greedy = mote_sampling_default();
    check(mote_sample_begin(session_.get(), &greedy, &error), error, "forward");
  }

  void encode_sources() {
    mote_program_info program;
    mote_model_get_program(file_.model(), kSourceProgram, &program);
    std::vector<mote_row> rows;
    std::vector<float> values;
    uint32_t number = 0;
    for (const Sequence& sequence : sources_.sequences) {
      if (sequence.ids.empty()) convert::fail("forward: a source has no tokens");
      check_ids(sequence.ids, file_, "forward: " + sources_.prefix + "input_ids");
      for (const int32_t id : sequence.ids) rows.push_back({number, id, 0, 1});
      values.insert(values.end(), sequence.values.begin(), sequence.values.end());
      ++number;
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.program = kSourceProgram;
    if (!values.empty()) call.values = values.data();
    if (hidden_) tracer_ = {&outputs_, &sources_, "encoder.", 0};
    compute(session_, call, "forward: " + sources_.prefix + "input");
    tracer_ = {};
    store_hidden(program.output_width);
  }

  void read_targets(const Case& targets) {
    const uint32_t vocab = file_.info().vocab;
    mote_error error = {};
    for (size_t i = 0; i < targets.sequences.size(); ++i) {
      const std::vector<int32_t>& ids = targets.sequences[i].ids;
      if (ids.empty()) continue;
      const auto sequence = static_cast<uint32_t>(i), n = static_cast<uint32_t>(ids.size());
      check_ids(ids, file_, "forward: " + targets.prefix + "decoder_input_ids");
      if (hidden_) tracer_ = {&outputs_, &targets, "", i};
      check(mote_prefill(session_.get(), sequence, ids.data(), n, MOTE_LOGITS_ALL, &error), error, "forward");
      tracer_ = {};
      for (uint32_t row = 0; row < n; ++row)
        store_row(outputs_, targets, "logits", i, row, mote_session_logits(session_.get(), row), vocab);
      check(mote_session_truncate(session_.get(), sequence, 0, &error), error, "forward");
    }
  }

  void generate(const SourceGeneration& generation) {
    const size_t batch = sources_.sequences.size(), steps = generation.steps;
    const int32_t start = file_.info().bos_id;
    if (start < 0) convert::fail("{} names no token to start at", file_.path());
    Array<int64_t> ids{{batch, steps}, std::vector<int64_t>(batch * steps)};
    std::vector<int32_t> current(session_batch_, -1);
    std::fill_n(current.begin(), batch, start);
    mote_error error = {};
    for (size_t step = 0; step < steps; ++step) {
      if (std::any_of(current.begin(), current.end(), [](int32_t id) { return id >= 0; }))
        check(mote_decode(session_.get(), current.data(), &error), error, "forward: --generate");
      for (uint32_t i = 0; i < batch; ++i) {
        int32_t& id = current[i];
        if (id >= 0) check(mote_sample(session_.get(), i, &id, &error), error, "forward");
        ids.values[i * steps + step] = id >= 0 ? id : *generation.stop_id;
        if (generation.stop_id && id == *generation.stop_id) id = -1;
      }
    }
    outputs_.ids[sources_.prefix + "greedy_ids"] = std::move(ids);
  }

  /// Over source 0; valid until the next call.
  std::vector<mote_beam> beams(const SourceGeneration& generation) {
    const int32_t start = file_.info().bos_id, stop = generation.stop_id.value_or(0);
    mote_error error = {};
    check(mote_prefill(session_.get(), 0, &start, 1, MOTE_LOGITS_LAST, &error), error, "forward: --beams");
    mote_beam_options options = mote_beam_options_default();
    options.beams = generation.beams;
    options.max_tokens = generation.steps;
    options.stop_ids = &stop;
    options.stop_count = generation.stop_id ? 1 : 0;
    options.ignore_model_stops = generation.stop_id ? 1 : 0;
    memory_.resize(mote_beam_bytes(session_.get(), &options) / sizeof memory_[0] + 1);
    std::vector<mote_beam> beams(generation.beams);
    check(mote_beam_search(session_.get(), &options, memory_.data(), memory_.size() * sizeof memory_[0],
                           beams.data(), &error),
          error, "forward: --beams");
    return beams;
  }

 private:
  /// A row for each of the source's, or of their groups; 0 behind a sequence's last.
  void store_hidden(uint32_t width) {
    std::vector<uint32_t> counts;
    for (const Sequence& sequence : sources_.sequences)
      counts.push_back(mote_model_output_rows(file_.model(), static_cast<uint32_t>(sequence.ids.size())));
    const bool tokens = !sources_.sequences[0].columns.empty();
    const uint32_t columns = tokens ? sources_.columns : *std::max_element(counts.begin(), counts.end());
    Array<float>& array = outputs_.rows[sources_.prefix + "encoder_hidden"];
    array.shape = {counts.size(), columns, width};
    array.values.resize(counts.size() * columns * size_t{width});
    uint32_t row = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      for (uint32_t j = 0; j < counts[i]; ++j) {
        const size_t column = tokens ? sources_.sequences[i].columns[j] : j;
        std::copy_n(mote_session_output(session_.get(), row++), width,
                    array.values.begin() + static_cast<ptrdiff_t>((i * columns + column) * width));
      }
    }
  }

  mote_session_options traced(mote_session_options options) {
    if (hidden_) options.trace = trace_source, options.trace_user = &tracer_;
    return options;
  }

  const ModelFile& file_;
  bool hidden_;
  SourceTracer tracer_;
  Session session_;
  std::vector<uint64_t> memory_;  // of a search
  uint32_t session_batch_;
  const Case& sources_;
  Outputs& outputs_;
};

/// Searches over each source by itself: a search has the sequences of a session for its beams.
void search_beams(const ModelFile& file, const mote_session_options& options, const Case& sources,
                  const SourceGeneration& generation, Outputs& outputs) {
  const size_t batch = sources.sequences.size(), beams = generation.beams;
  std::vector<std::vector<std::vector<int32_t>>> found(batch);
  Array<float> scores{{batch, beams}, {}};
  size_t longest = 0;
  for (size_t i = 0; i < batch; ++i) {
    const Case alone{sources.prefix, sources.columns, {sources.sequences[i]}, {}, 0};
    Outputs unused;
    SourceRun run(file, options, alone, false, unused);
    run.encode_sources();
    for (const mote_beam& beam : run.beams(generation)) {
      found[i].emplace_back(beam.ids, beam.ids + beam.count);
      scores.values.push_back(beam.score);
      longest = std::max<size_t>(longest, beam.count);
    }
  }
  Array<int64_t> ids{{batch, beams, longest}, {}};
  for (const auto& of_source : found) {
    for (const std::vector<int32_t>& beam : of_source) {
      ids.values.insert(ids.values.end(), beam.begin(), beam.end());
      ids.values.resize(ids.values.size() + longest - beam.size());
    }
  }
  outputs.ids[sources.prefix + "beam_ids"] = std::move(ids);
  outputs.rows[sources.prefix + "beam_scores"] = std::move(scores);
}

}  // namespace

void forward_source(const ModelFile& file, const mote_session_options& options, const Case& sources,
                    const std::optional<Case>& targets, const SourceGeneration& generation,
                    Outputs& outputs) {
  if (generation.beams != 0 && generation.steps == 0) convert::fail("--beams needs --generate");
  const mote_session_options run_options = source_options(options, sources, targets, generation);
  SourceRun run(file, run_options, sources, generation.hidden, outputs);
  run.encode_sources();
  if (targets) run.read_targets(*targets);
  if (generation.steps != 0) run.generate(generation);
  if (generation.beams != 0) search_beams(file, run_options, sources, generation, outputs);
}

}  // namespace mote::cli
