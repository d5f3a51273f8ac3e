// SPDX-License-Identifier: Apache-2.0
#include "converter/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "converter/error.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMultiplyAccumulates = 2'000'000'000;
constexpr uint64_t kMostTokens = 24;

/// 64-byte aligned memory for an arena.
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Arena = std::unique_ptr<void, Free>;

void check(mote_status status, const mote_error& error, const char* what) {
  if (status != MOTE_OK) fail("self test: the runtime cannot {} the converted model: {}", what, error.text);
}

float tolerance_share(DType coarsest) {
  if (coarsest == DType::f32) return 1e-4f;
  return coarsest == DType::f16 ? 2e-3f : 3e-2f;
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

}  // namespace

SelfTestPlan plan_self_test(const Graph& graph) {
  uint64_t per_token = 1;
  for (const Node& node : graph.nodes) {
    const LinearNode* linear = std::get_if<LinearNode>(&node);
    if (linear != nullptr) per_token += uint64_t{linear->in.width} * linear->out.width;
  }
  const uint64_t most = std::min<uint64_t>(kMostTokens, graph.context);
  const uint32_t tokens =
      static_cast<uint32_t>(std::clamp<uint64_t>(kMultiplyAccumulates / per_token, 1, most));
  const uint32_t prompt = std::max(1u, tokens * 2 / 3);
  return {prompt, tokens - prompt};
}

OpenedModel::OpenedModel(const std::filesystem::path& path)
    : file_(path), storage_(mote_model_bytes() / 8 + 1) {
  mote_error error{};
  check(mote_model_open(file_.bytes().data(), file_.bytes().size(), 0, storage_.data(), storage_.size() * 8,
                        &model_, &error),
        error, "open");
}

SelfTestRecord OpenedModel::run(const SelfTestPlan& plan, DType coarsest) const {
  mote_model_info info;
  mote_model_get_info(model_, &info);
  SelfTestRecord record;
  for (uint32_t i = 0; i < plan.prompt; ++i) {
    record.ids.push_back(static_cast<int32_t>((uint64_t{i} + 1) * 0x9E3779B1u % info.vocab));
  }
  mote_session_options options = mote_session_options_default(model_);
  options.context = plan.prompt + plan.continuation;
  options.chunk = plan.prompt;
  options.isa = MOTE_ISA_REF;
  const size_t bytes = mote_session_bytes(model_, &options);
  const Arena arena(std::aligned_alloc(MOTE_ALIGNMENT, align_up(bytes, MOTE_ALIGNMENT)));
  mote_session* session = nullptr;
  mote_error error{};
  check(mote_session_init(model_, &options, arena.get(), bytes, &session, &error), error, "set up");
  check(mote_prefill(session, 0, record.ids.data(), plan.prompt, MOTE_LOGITS_LAST, &error), error, "run");

  std::span<const float> logits(mote_session_logits(session, 0), info.vocab);
  record.expected_logits.assign(logits.begin(), logits.end());
  float largest = 0;
  for (const float logit : logits) {
    if (!std::isfinite(logit))
      fail("self test: the model computes {} as a logit; its weights may be damaged", logit);
    largest = std::max(largest, std::fabs(logit));
  }
  record.tolerance = tolerance_share(coarsest) * std::max(largest, 1.0f);
  while (record.expected_ids.size() < plan.continuation) {
    const BestTwo best = best_two(logits);
    if (!(best.gap > 2 * record.tolerance)) break;
    record.expected_ids.push_back(best.id);
    if (record.expected_ids.size() == plan.continuation) break;
    check(mote_decode(session, &best.id, &error), error, "run");
    logits = {mote_session_logits(session, 0), info.vocab};
  }
  return record;
}

std::vector<MemoryReport> OpenedModel::memory() const {
  mote_model_info info;
  mote_model_get_info(model_, &info);
  std::vector<MemoryReport> reports;
  mote_session_options options = mote_session_options_default(model_);
  for (uint32_t context = std::min(512u, info.context);; context = std::min(2 * context, info.context)) {
    options.context = context;
    reports.push_back({context, mote_session_bytes(model_, &options)});
    if (context == info.context) return reports;
  }
}

}  // namespace mote::convert
