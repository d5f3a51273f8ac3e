// SPDX-License-Identifier: Apache-2.0
#include "converter/self_test.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/base/arena_memory.h"
#include "host/base/error.h"
#include "mote/pictures.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMultiplyAccumulates = 2'000'000'000;
constexpr uint64_t kMostTokens = 24;
constexpr uint64_t kFewGroups = 4;

// The sizes of the runs that measure a tolerance.
constexpr size_t kLeastOutputs = 16;
constexpr uint32_t kMostPrompts = 8, kFurtherTokens = 8;

void check(mote_status status, const mote_error& error, const char* what) {
  if (status != MOTE_OK) fail("self test: the runtime cannot {} the converted model: {}", what, error.text);
}

struct BestTwo {
  int32_t id;
  float gap;
};

BestTwo best_two(std::span<const float> logits) {
  size_t best = 0;
  float second = -INFINITY;
  for (size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > logits[best]) {
      second = logits[best];
      best = i;
    } else {
      second = std::max(second, logits[i]);
    }
  }
  return {static_cast<int32_t>(best), logits[best] - second};
}

/// Tokens that make `rows` rows of every group of the program.
uint64_t tokens_for(const ProgramGraph& graph, uint64_t rows) {
  uint64_t most = rows;
  for (size_t i = 0; i < graph.groups.size(); ++i) {
    if (graph.groups[i].fixed != 0 || graph.groups[i].places.times != 0) continue;
    uint64_t of_stream = rows;
    for (size_t at = i;;) {
      const Groups& groups = graph.groups[at];
      of_stream = ((of_stream - 1) / groups.parts) * groups.ratio + groups.needs;
      if (groups.of == Unit::token) break;
      at = static_cast<size_t>(groups.of) - static_cast<size_t>(Unit::group);
    }
    most = std::max(most, of_stream);
  }
  return most;
}

/// Floats of a row; 0: the program takes ids.
uint32_t input_width_of(const ProgramGraph& program) {
  for (const Node& node : program.nodes)
    if (const auto* input = std::get_if<InputNode>(&node)) return input->out.width;
  return 0;
}

}  // namespace

SelfTestPlan plan_self_test(const Graph& graph) {
  uint64_t per_token = 1;
  const uint32_t input_width = input_width_of(graph);
  for (const Node& node : graph.nodes) {
    const LinearNode* linear = std::get_if<LinearNode>(&node);
    if (linear != nullptr) per_token += uint64_t{linear->in.width} * linear->out.width;
  }
  uint64_t most = std::min<uint64_t>(kMostTokens, graph.context);
  uint32_t source_rows = 0, source_width = 0;
  for (const ProgramGraph& program : graph.more_programs) {
    if (program.context == 0) continue;
    source_width = input_width_of(program);
    if (source_width == 0) most = std::min<uint64_t>(most, program.context);
    const uint64_t rows = program.groups.empty() ? kMostTokens : tokens_for(program, kFewGroups);
    if (source_width != 0) source_rows = static_cast<uint32_t>(std::min<uint64_t>(rows, program.context));
  }
  const uint32_t tokens =
      static_cast<uint32_t>(std::clamp<uint64_t>(kMultiplyAccumulates / per_token, 1, most));
  const auto by_size = [](const Groups& groups) { return groups.places.times != 0; };
  if (std::any_of(graph.groups.begin(), graph.groups.end(), by_size))
    return {graph.picture.rows(), 0, input_width};
  if (!graph.groups.empty()) {
    const uint64_t least = std::min<uint64_t>(tokens_for(graph, kFewGroups), graph.context);
    return {static_cast<uint32_t>(least), 0, input_width};
  }
  if (is_encoder(graph.output_kind)) return {tokens, 0, input_width};
  if (input_width != 0 && !graph.vision_input) return {tokens, 0, input_width};
  const uint32_t prompt = std::max(1u, tokens * 2 / 3);
  // The first id of the continuation comes with the prompt.
  return {prompt, std::min(tokens - prompt + 1, graph.context - prompt), 0, source_rows, source_width};
}

OpenedModel::OpenedModel(const std::filesystem::path& path)
    : file_(path), storage_(mote_model_bytes() / 8 + 1) {
  mote_error error{};
  check(mote_model_open(file_.bytes().data(), file_.bytes().size(), 0, storage_.data(), storage_.size() * 8,
                        &model_, &error),
        error, "open");
}

namespace {

/// Floats from -1 to 1 for the rows of prompt `index`, or of the source; none where they are ids.
std::vector<float> values_of(const SelfTestPlan& plan, uint32_t index) {
  std::vector<float> values;
  const uint64_t count = plan.values(), first = index * count;
  for (uint64_t i = first; i < first + count; ++i) {
    const uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
    values.push_back(static_cast<float>((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u >> 40) * 0x1p-23f - 1.0f);
  }
  return values;
}

/// A session on the reference kernels, with its memory.
class ReferenceRun {
 public:
  ReferenceRun(const mote_model* model, const SelfTestPlan& plan, mote_kv_dtype kv_dtype,
               mote_trace trace = nullptr, void* user = nullptr)
      : all_rows_(trace == nullptr) {
    mote_session_options options = mote_session_options_default(model);
    options.context = plan.prompt + plan.continuation;
    options.logit_rows = plan.prompt;
    options.chunk = std::max(plan.prompt, plan.source_rows);
    options.isa = MOTE_ISA_REF;
    options.kv_dtype = kv_dtype;
    options.trace = trace;
    options.trace_user = user;
    const size_t bytes = mote_session_bytes(model, &options);
    arena_ = arena_memory(bytes);
    check(mote_session_init(model, &options, arena_.get(), bytes, &session_, &error_), error_, "set up");
    mote_model_get_output(model, &output_);
    mote_program_info source;
    mote_model_get_program(model, 1, &source);
    lacks_source_ = source.whole != 0;
    mote_program_info first;
    mote_model_get_program(model, 0, &first);
    if (first.whole == 0 && plan.input_width != 0) floats_of_token_ = first.input_width;
    source_width_ = source.input_width;
  }
  /// Logits after the ids, or an encoder's outputs for them, or for floats in their place; valid until the
  /// next call. A source is encoded once: the first ids, or the floats. Traced, one row of outputs is
  /// computed.
  std::span<const float> compute(const std::vector<int32_t>& ids, const std::vector<float>& values = {}) {
    const uint32_t count = static_cast<uint32_t>(ids.size());
    if (floats_of_token_ != 0) {
      compute_rows(ids, values);
    } else if (output_.kind == MOTE_OUTPUT_NEXT_TOKEN) {
      if (std::exchange(lacks_source_, false)) {
        mote_batch source{};
        const uint32_t rows =
            source_width_ == 0 ? count : static_cast<uint32_t>(values.size() / source_width_);
        if (source_width_ == 0) {
          source.ids = ids.data();
        } else {
          source.values = values.data();
        }
        source.lengths = &rows;
        source.count = 1;
        check(mote_encode(session_, &source, &error_), error_, "encode with");
      }
      check(mote_prefill(session_, 0, ids.data(), count, MOTE_LOGITS_LAST, &error_), error_, "run");
    } else {
      const uint32_t first = 0;
      const bool one = output_.of_sequences == 0 && !all_rows_ && values.empty();
      const float* floats = values.empty() ? nullptr : values.data();
      const mote_batch batch{ids.data(), nullptr, &count, 1, one ? &first : nullptr, one, floats, {}, {}, {}};
      check(mote_encode(session_, &batch, &error_), error_, "run");
    }
    outputs_.clear();  // rows may have gaps between them
    for (uint32_t row = 0; const float* output = row_of_outputs(row); ++row)
      outputs_.insert(outputs_.end(), output, output + output_.width);
    return outputs_;
  }
  /// Tokens that come with floats, one after the other.
  void compute_rows(const std::vector<int32_t>& ids, const std::vector<float>& values) {
    for (size_t i = 0; i < ids.size(); ++i) {
      const mote_row row = {0, ids[i], 0, i + 1 == ids.size()};
      mote_rows call{};
      call.rows = &row;
      call.count = 1;
      call.values = values.data() + i * floats_of_token_;
      check(mote_compute(session_, &call, &error_), error_, "run");
    }
  }
  const float* row_of_outputs(uint32_t row) const { return mote_session_output(session_, row); }
  bool encodes() const { return output_.kind != MOTE_OUTPUT_NEXT_TOKEN; }

 private:
  ArenaMemory arena_;
  mote_session* session_ = nullptr;
  mote_error error_{};
  mote_output_info output_{};
  std::vector<float> outputs_;  // of the last call
  bool all_rows_;
  bool lacks_source_ = false;
  uint32_t floats_of_token_ = 0;
  uint32_t source_width_ = 0;  // floats of a row of the source; 0: the first prompt is the source, too
};

std::vector<int32_t> prompt_of(uint32_t first, uint32_t count, uint32_t vocab) {
  std::vector<int32_t> ids;
  for (uint32_t i = first; i < first + count; ++i) {
    ids.push_back(static_cast<int32_t>((uint64_t{i} + 1) * 0x9E3779B1u % vocab));
  }
  return ids;
}

/// Says whether sessions of the model may keep such a cache without being asked to: encoders whose heads fit.
bool takes(const mote_model* model, mote_kv_dtype kv_dtype) {
  mote_output_info output;
  mote_model_get_output(model, &output);
  mote_session_options options = mote_session_options_default(model);
  options.kv_dtype = kv_dtype;
  const bool encoder = output.kind != MOTE_OUTPUT_NEXT_TOKEN;
  return kv_dtype == MOTE_KV_F32 || (encoder && mote_session_bytes(model, &options) != 0);
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  float largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

/// The outputs for the prompt. A single output may hardly move by chance, so if the rounding of a model with
/// few of them is to be measured, those for further prompts, too; a decoder has as many as its vocabulary.
std::vector<float> outputs_for(ReferenceRun& run, const SelfTestPlan& plan, uint32_t vocab, bool rounds) {
  std::vector<float> all;
  for (uint32_t i = 0; i < kMostPrompts; ++i) {
    const bool whole = i == 0 || plan.input_width != 0;
    const uint32_t tokens = whole ? plan.prompt : std::min(plan.prompt, kFurtherTokens);
    const std::span<const float> outputs =
        run.compute(prompt_of(i * plan.prompt, tokens, vocab), values_of(plan, i));
    all.insert(all.end(), outputs.begin(), outputs.end());
    if (!rounds || !run.encodes() || all.size() >= kLeastOutputs) break;
  }
  return all;
}

/// Returns the largest change that the other types of cache make: the test is replayed with whichever the
/// session has.
float largest_change(const mote_model* model, const SelfTestPlan& plan, uint32_t vocab,
                     std::span<const float> usual) {
  float largest = 0;
  for (const mote_kv_dtype kv_dtype : {MOTE_KV_F32, MOTE_KV_BF16, MOTE_KV_I8}) {
    if (!takes(model, kv_dtype)) continue;
    ReferenceRun other(model, plan, kv_dtype);
    largest = std::max(largest, largest_difference(usual, outputs_for(other, plan, vocab, true)));
  }
  return largest;
}

}  // namespace

SelfTestRecord OpenedModel::run(const SelfTestPlan& plan, DType coarsest) const {
  mote_model_info info;
  mote_model_get_info(model_, &info);
  SelfTestRecord record;
  record.ids = prompt_of(0, plan.prompt, info.vocab);
  record.values = values_of(plan, 0);
  mote_output_info output;
  mote_model_get_output(model_, &output);
  ReferenceRun run(model_, plan, MOTE_KV_AUTO);
  const bool rounds = coarsest != DType::f32;
  const std::vector<float> outputs = outputs_for(run, plan, info.vocab, rounds);
  std::span<const float> logits = std::span(outputs).first(output.width);
  record.expected_logits.assign(logits.begin(), logits.end());
  float largest = output.kind == MOTE_OUTPUT_EMBEDDING ? 0 : 1;
  for (const float logit : logits) {
    if (!std::isfinite(logit)) {
      fail("self test: the model computes {} as an output; its weights may be damaged", logit);
    }
    largest = std::max(largest, std::fabs(logit));
  }
  record.tolerance = 1e-4f * largest;
  if (rounds)
    record.tolerance = std::max(2e-3f * largest, 3 * largest_change(model_, plan, info.vocab, outputs));
  while (record.expected_ids.size() < plan.continuation) {
    const BestTwo best = best_two(logits);
    if (!(best.gap > 2 * record.tolerance)) break;
    record.expected_ids.push_back(best.id);
    if (record.expected_ids.size() < plan.continuation) logits = run.compute({best.id});
  }
  return record;
}

void OpenedModel::trace(const SelfTestPlan& plan, const std::vector<int32_t>& ids, mote_trace take,
                        void* user) const {
  mote_model_info info;
  mote_model_get_info(model_, &info);
  ReferenceRun(model_, plan, MOTE_KV_F32, take, user)
      .compute(ids.empty() ? prompt_of(0, plan.prompt, info.vocab) : ids, values_of(plan, 0));
}

std::vector<MemoryReport> OpenedModel::memory() const {
  mote_model_info info;
  mote_model_get_info(model_, &info);
  mote_output_info output;
  mote_model_get_output(model_, &output);
  mote_picture_info picture;
  const bool sees =
      output.kind != MOTE_OUTPUT_NEXT_TOKEN && mote_model_get_picture(model_, &picture, nullptr) == MOTE_OK;
  std::vector<MemoryReport> reports;
  const uint32_t least = sees ? std::max(512u, picture.rows) : 512u;  // a picture of the model's own size
  for (uint32_t context = std::min(least, info.context);; context = std::min(2 * context, info.context)) {
    mote_session_options options = mote_session_options_default(model_);
    options.context = context;
    if (output.kind != MOTE_OUTPUT_NEXT_TOKEN) options.chunk = std::min(context, options.chunk);
    if (sees) options.chunk = options.logit_rows = context;  // a picture is one run
    options.logit_rows = std::min(options.logit_rows, options.chunk);
    reports.push_back({context, mote_session_bytes(model_, &options)});
    if (context == info.context) return reports;
  }
}

}  // namespace mote::convert
