// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

inline constexpr uint32_t kMaxRandomBlocks = 1u << 10;

struct Attention : Operation {
  static constexpr Traits kTraits{WorkUnit::head_block, Reads::state};

  template <class F>
  static constexpr void operands(AttentionArgs& args, F&& f) {
    const uint64_t heads = args.heads, distances = 2 * uint64_t{args.bias_reach} - 1;
    rows_of(f, args.q, heads * args.cache.key_dim, args.out, heads * args.cache.value_dim, args.row_bias,
            heads * distances);
  }
  static uint64_t work_per_row(const AttentionArgs& args) {
    return uint64_t{args.heads} * args.cache.key_dim;
  }
  static const void* state_read(const AttentionArgs& args) { return args.cache.keys; }

  static ScratchShape scratch(const AttentionArgs& args, uint32_t) {
    ScratchShape shape{};
    shape.heads_per_kv_head = args.heads / args.cache.kv_heads;
    shape.key_dim = args.cache.key_dim;
    shape.value_dim = args.cache.value_dim;
    return shape;
  }

  static uint32_t units(const AttentionArgs& args, uint32_t rows) {
    return (rows + kAttentionRowBlock - 1) / kAttentionRowBlock * args.cache.kv_heads;
  }

  /// The product of units and segments fits: layout.cpp refuses sessions whose units would not.
  static Extent prepare(AttentionArgs& args, const RunRows& run, Extent extent) {
    args.rows = extent.units;
    const uint32_t last = last_position(args, run);
    const uint32_t near = args.group != 0 ? args.group : args.window;
    const uint32_t window = args.sides != 0 ? 2 * args.sides + 1 : near;
    const bool windowed = window != 0 && window <= last;
    const uint32_t whole = args.block != 0 && last / 2 > kAttentionSegment ? 2 * kAttentionSegment : last + 1;
    const uint32_t seen = windowed ? window : whole, all = units(args, args.rows);
    args.segments = split_positions(args, run, last, all);
    return {args.segments == 0 ? all : all * args.segments, extent.work * 2 * seen};
  }

  /// Units of some rows, as if there were no others.
  static void run(const AttentionArgs& all, const Call& call) {
    AttentionArgs args = all;
    args.rows = call.rows.end - call.rows.begin;
    args.positions += call.rows.begin;
    args.last_seen += call.rows.begin;
    args.sequences += call.rows.begin;
    args.q = from_row(args.q, call.rows.begin);
    args.out = from_row(args.out, call.rows.begin);
    args.row_bias = from_row(args.row_bias, call.rows.begin);
    if (args.next_global != nullptr) args.next_global += call.rows.begin;
    if (args.edges != nullptr) args.edges += call.rows.begin;
    kernel_cast<AttentionArgs>(call.kernel)(args, call.units, call.scratch);
  }

  static void finish(const AttentionArgs& args, const KernelEntry* merge) {
    if (args.segments != 0) kernel_cast<AttentionMergeArgs>(merge)(args, {0, args.rows}, nullptr);
  }

  template <class To>
  static void describe(const file::Attention& op, To& to) {
    const file::State& cache = to.cache(op.state());
    to.kind(op.heads(), " : ", cache.kv_heads(), " x ", cache.key_dim());
    to.reads(op.q());
    if (op.row_bias() != nullptr) to.reads(op.row_bias());
    to.from("cache ", op.state());
    // Rows of other tokens stay as they are.
    op.globals() == file::GlobalRole::queries ? to.updates(op.out()) : to.writes(op.out());
    to.detail(op.heads(), " heads, ", cache.kv_heads(), " of keys and values, width ", cache.key_dim(),
              ", scale ", op.scale());
    if (cache.window() != 0) to.detail("window ", cache.window());
    if (op.sides() != 0) to.detail("window of ", op.sides(), " on both sides");
    if (op.group() != 0) to.detail(op.windows() ? "windows of " : "groups of ", op.group());
    if (cache.bidirectional()) to.detail("bidirectional");
    if (cache.source() != -1) to.detail("of program ", static_cast<uint32_t>(cache.source()));
    if (op.softcap() != 0.0f) to.detail("softcap ", op.softcap());
    if (op.slopes() != -1) to.detail(op.slopes_in_bf16() ? "slopes in bf16" : "slopes");
    if (op.causal()) to.detail("causal");
    if (op.globals() == file::GlobalRole::keys) to.detail("keys of global tokens");
    if (op.globals() == file::GlobalRole::queries) to.detail("queries of global tokens only");
    if (op.block() != 0) to.detail("blocks of ", op.block(), ", ", op.random_blocks(), " random");
    if (op.relative_keys() != -1) to.detail("relative keys");
    if (op.relative_queries() != -1) to.detail("relative queries");
    to.tensor(op.bias());
    to.tensor(op.relative_keys());
    to.tensor(op.relative_queries());
    to.tensor(op.slopes());
    to.tensor(op.sinks());
    to.attends(op.state(), op.heads());
  }

 private:
  /// The largest of last_seen.
  static uint32_t last_position(const AttentionArgs& args, const RunRows& run) {
    if (!kHasWholeSequences || args.last_seen == args.positions) return run.last_position;
    int32_t last = 0;
    for (uint32_t i = 0; i < args.rows; ++i) last = args.last_seen[i] > last ? args.last_seen[i] : last;
    return static_cast<uint32_t>(last);
  }

  /// Segments, where the KV heads of a decoding step would leave threads idle; else 0: no split.
  static uint32_t split_positions(const AttentionArgs& args, const RunRows& run, uint32_t last,
                                  uint32_t units) {
    const uint32_t segments = last / kAttentionSegment + 1;
    const bool few = kHasThreads && args.partials != nullptr && args.rows <= run.batch && run.lane_rows == 0;
    const bool whole = args.window == 0 && args.sides == 0 && args.block == 0 && args.group == 0 &&
                       args.next_global == nullptr && args.first_seen == nullptr;
    return few && whole && segments > 1 && units % run.threads != 0 ? segments : 0;
  }
};

inline void Binder::bind(const file::Attention& op, Step* step) {
  const Operand q = f32_slice(op.q(), "q");
  const Operand out = f32_slice(op.out(), "out");
  KvCacheView view{};
  const file::State* cache = this->cache(op.state(), &view);
  if (status_ != MOTE_OK) return;
  const bool own = is_own(*cache);
  const bool across = kHasWholeSequences && own && crosses(q, *cache);
  if (across) {
    check(cache->bidirectional() && !has_distances(op) && op.sides() == 0 && !op.causal() &&
              op.block() == 0 && op.globals() == file::GlobalRole::none,
          "all of a fixed number of rows and all tokens see one another");
  } else if (own) {
    of_positions(q, *cache, "q");
  } else {
    check(cache->source() != -1 && !is_whole(*places_.program), "state ", op.state(),
          " keeps rows of another program");
    of_tokens(q, "q");
    check(!has_distances(op), "a bias is by distances, which a source has none of");
  }
  same_stream(q, out, "out");
  finite(op.scale(), "scale");
  if (kHasWholeSequences) {
    check(op.sides() == 0 || (own && cache->bidirectional()), "a window on both sides is of whole sequences");
    check(op.group() == 0 || (own && cache->bidirectional() && op.sides() == 0 && op.row_bias() == nullptr &&
                              op.block() == 0 && op.globals() == file::GlobalRole::none &&
                              cache->memory() == 0 && !op.causal() && !is_relative(op)),
          "groups are of whole sequences, without another window");
    check(op.group() <= kMaxWidth, "groups of ", op.group());
    check_windows(op, q);
    check(!op.causal() || (own && cache->bidirectional()), "what is causal of whole sequences is of others");
    check(op.block() == 0 || (own && cache->bidirectional() && !op.causal() && op.sides() == 0),
          "blocks are of whole sequences without a window");
    check(op.block() <= kMaxWidth && op.random_blocks() <= kMaxRandomBlocks, "blocks of ", op.block(), ", ",
          op.random_blocks(), " random ones");
    check(op.sides() <= kMaxWidth, "a window of ", op.sides(), " on both sides");
    if (op.globals() != file::GlobalRole::none) of_tokens(q, "q");
    check_globals(op, own && cache->bidirectional() && !op.causal() && op.block() == 0);
  } else {
    check(op.sides() == 0 && op.group() == 0 && !op.windows() && !op.causal() && op.block() == 0 &&
              op.globals() == file::GlobalRole::none,
          "attends as only whole sequences can");
  }
  check(cache->memory() == 0 || (own && op.sides() == 0 && !op.causal() && op.block() == 0 &&
                                 op.globals() == file::GlobalRole::none && op.row_bias() == nullptr),
        "a memory is seen by all");
  if (!check(op.heads() > 0 && op.heads() <= kMaxWidth && op.heads() % cache->kv_heads() == 0, op.heads(),
             " heads over ", cache->kv_heads(), " KV heads")) {
    return;
  }
  check(uint64_t{op.heads()} * view.key_dim == q.width, "q has width ", q.width);
  check(uint64_t{op.heads()} * view.value_dim == out.width, "out has width ", out.width);
  uint32_t reach = 0, relative_reach = 0;
  const float* relative_keys =
      relative_table(op, op.relative_keys(), *cache, "relative keys", &relative_reach);
  const float* relative_queries =
      relative_table(op, op.relative_queries(), *cache, "relative queries", &relative_reach);
  const float* bias = attention_bias(op, q, *cache, &reach);
  ConstRows row_bias{};
  if (has_score(static_cast<uint32_t>(ScoreKind::biased)) && op.row_bias() != nullptr)
    row_bias = this->row_bias(op, q, &reach);
  if (status_ != MOTE_OK) return;
  const StreamPlace& rows = place(q);
  const int32_t *positions = rows.positions, *last_seen = rows.positions;
  if (across) {
    last_seen = rows.last_across;
  } else if (cache->bidirectional() && !op.causal()) {
    last_seen = own ? rows.last_seen : last_of_source(op.state());
  }
  if (cache->memory() != 0) {
    const BehindMemory behind = behind_memory(q, "q");
    positions = behind.positions;
    last_seen = behind.last_seen;
  }
  const bool has_blocks = has_score(static_cast<uint32_t>(ScoreKind::blocks));
  const float bonus = has_blocks ? log1pf(static_cast<float>(op.random_blocks())) : 0.0f;
  const float* slopes = optional_vector(op.slopes(), op.heads(), "slopes");
  const float* sinks = optional_vector(op.sinks(), op.heads(), "sinks");
  step->attention = {view,
                     op.heads(),
                     cache->window(),
                     op.scale(),
                     bias,
                     reach,
                     0,
                     positions,
                     last_seen,
                     rows.sequences,
                     q.const_rows(),
                     out.rows(),
                     0,
                     places_.partials,
                     score_kind(op),
                     op.softcap(),
                     slopes,
                     sinks,
                     op.sides(),
                     row_bias,
                     bias != nullptr && op.group() == 0 && is_by_position(op),
                     relative_keys,
                     relative_queries,
                     relative_reach,
                     op.block(),
                     bonus,
                     (5 + 2 * op.random_blocks()) * op.block(),
                     op.globals() == file::GlobalRole::none ? nullptr : places_.next_global,
                     op.globals() == file::GlobalRole::queries,
                     op.group(),
                     own && !cache->bidirectional() ? places_.first_seen : nullptr,
                     edges_of_windows(op, q)};
  set_rows(step, q);
  kernel(step, Op::kAttention, DType::f32, places_.kv_dtype);
  if (kHasThreads) step->merge = find_kernel(Op::kAttentionMerge, DType::f32, DType::f32, places_.isa);
}

}  // namespace mote::ops
