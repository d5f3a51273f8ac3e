// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/attention_maps.h"

#include "kernels/reference/attention.inl.h"
#include "runtime/error.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/session.h"

namespace mote {
namespace {

/// Scores of the positions that the row sees, 0 for others; returns the largest.
float score_row(const AttentionArgs& args, const ref::Query& query, PositionRange seen, float* scores) {
  float most = start_of(args, query.head, true).max;
  for (uint32_t p = 0; p < seen.begin; ++p) scores[p] = 0.0f;
  for (uint32_t p = seen.begin; p < seen.end; ++p) {
    const ref::Key<float> key = ref::key_at<float>(args.cache, query.sequence, query.kv_head, p);
    float dot = 0.0f;
    for (uint32_t e = 0; e < args.cache.key_dim; ++e) dot = __builtin_fmaf(query.q[e], key[e], dot);
    scores[p] = ref::score_of(args, query, key, p, args.scale * dot);
    if (scores[p] > most) most = scores[p];
  }
  return most;
}

/// The softmax of them, of which a sink has its part.
void make_probabilities(const AttentionArgs& args, const ref::Query& query, PositionRange seen, float most,
                        float* scores) {
  const SoftmaxStart start = start_of(args, query.head, true);
  float sum = start.sum * expf(start.max - most);
  for (uint32_t p = seen.begin; p < seen.end; ++p) {
    scores[p] = expf(scores[p] - most);
    sum += scores[p];
  }
  for (uint32_t p = seen.begin; p < seen.end; ++p) scores[p] /= sum;
}

bool crosses_to_source(const mote_session& session, uint32_t op) {
  const auto* attention = current(session).file->ops()->Get(op)->args_as_Attention();
  return attention != nullptr && session.model->root->states()->Get(attention->state())->source() >= 0;
}

void show_all(const mote_session& session, uint32_t step, uint32_t) {
  if (session.steps[step].op != Op::kAttention) return;
  const AttentionArgs& args = session.steps[step].attention;
  const uint32_t op = step - current(session).first;
  const uint32_t crosses = crosses_to_source(session, op);
  for (uint32_t t = 0; t < args.rows; ++t) {
    if (!attends(args, t)) continue;
    const PositionRange seen = seen_by(args, t);
    for (uint32_t head = 0; head < args.heads; ++head) {
      const uint32_t kv_head = head / (args.heads / args.cache.kv_heads);
      const ref::Query query{args.q[t] + size_t{head} * args.cache.key_dim, t, head,
                             static_cast<uint32_t>(args.sequences[t]), kv_head};
      const float most = score_row(args, query, seen, session.maps.room);
      make_probabilities(args, query, seen, most, session.maps.room);
      const mote_attention_row row{session.program, op,       t,       head,
                                   args.heads,      seen.end, crosses, session.maps.room};
      session.maps.take(session.maps.user, &row);
    }
  }
}

// ---- Some heads over a source ----

constexpr uint32_t kBlock = 16;                       // positions whose columns lie side by side
using Four = float __attribute__((vector_size(16)));  // which are computed at once

/// Writes the keys of a head for positions 0 to `count` - 1 as the cache of f32 has them, [blocks, E, 16].
template <class Element>
void copy_keys(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head, uint32_t count, float* to) {
  for (uint32_t first = 0; first < count; first += kBlock) {
    ref::Key<Element> key = ref::key_at<Element>(cache, sequence, kv_head, first);
    const uint32_t held = count - first < kBlock ? count - first : kBlock;
    for (uint32_t e = 0; e < cache.key_dim; ++e, to += kBlock) {
      for (key.place = 0; key.place < held; ++key.place) to[key.place] = ref::load(key[e]);
    }
  }
}

void copy_keys(DType type, const KvCacheView& cache, uint32_t sequence, uint32_t kv_head, uint32_t count,
               float* to) {
  switch (type) {
    case DType::f32:
      return copy_keys<float>(cache, sequence, kv_head, count, to);
    case DType::bf16:
      return copy_keys<Bf16>(cache, sequence, kv_head, count, to);
    case DType::i8:
      return copy_keys<KvQuad>(cache, sequence, kv_head, count, to);
    default:
      return copy_keys<uint16_t>(cache, sequence, kv_head, count, to);
  }
}

/// Makes the softmax of scale * (q . k[p]) for positions 0 to `count` - 1.
void attend_keys(const float* q, const float* keys, uint32_t columns, uint32_t count, float scale,
                 float* shares) {
  float most = -INFINITY;
  for (uint32_t first = 0; first < count; first += kBlock) {
    Four sums[kBlock / 4] = {};
    const float* block = keys + size_t{first} * columns;
    for (uint32_t e = 0; e < columns; ++e, block += kBlock) {
      Four row[kBlock / 4];
      memcpy(row, block, sizeof(row));
      for (uint32_t i = 0; i < kBlock / 4; ++i) sums[i] += q[e] * row[i];
    }
    float dots[kBlock];
    memcpy(dots, sums, sizeof(dots));
    for (uint32_t p = first; p < count && p < first + kBlock; ++p) {
      shares[p] = scale * dots[p - first];
      if (shares[p] > most) most = shares[p];
    }
  }
  float sum = 0.0f;
  for (uint32_t p = 0; p < count; ++p) {
    shares[p] = expf(shares[p] - most);
    sum += shares[p];
  }
  for (uint32_t p = 0; p < count; ++p) shares[p] /= sum;
}

/// Shows a head's rows [begin, end), which `args` is bound to.
void show_head(const mote_session& session, const AttentionArgs& args, mote_attention_row row, uint32_t begin,
               uint32_t end) {
  const KvCacheView& cache = args.cache;
  const uint32_t kv_head = row.head / (args.heads / cache.kv_heads);
  int32_t held = -1;  // the sequence whose keys lie in the room
  for (uint32_t t = begin; t < end; ++t) {
    if (!attends(args, t)) continue;
    const uint32_t count = seen_by(args, t).end;
    float* const shares = session.maps.room;
    float* const keys = shares + (count + kBlock - 1) / kBlock * kBlock;
    if (args.sequences[t] != held) {
      held = args.sequences[t];
      copy_keys(session.kv_dtype, cache, static_cast<uint32_t>(held), kv_head, count, keys);
    }
    attend_keys(args.q[t] + size_t{row.head} * cache.key_dim, keys, cache.key_dim, count, args.scale, shares);
    row.row = t;
    row.keys = count;
    row.probabilities = shares;
    session.maps.take(session.maps.user, &row);
  }
}

void show_heads(const mote_session& session, uint32_t step, uint32_t lane_rows) {
  const uint32_t op = step - current(session).first;
  if (!crosses_to_source(session, op)) return;
  uint32_t layer = 0;
  for (uint32_t before = 0; before < op; ++before) layer += crosses_to_source(session, before);
  const Step& bound = session.steps[step];
  const uint32_t rows = session.run.rows;
  const bool lanes = kHasThreads && lane_rows != 0 && may_be_in_lane(bound);
  const uint32_t at_once = lanes ? lane_rows : rows;
  for (uint32_t i = 0; i < session.maps.head_count; ++i) {
    const mote_watched_head& head = session.maps.heads[i];
    if (head.layer != layer || head.head >= bound.attention.heads) continue;
    const mote_attention_row row{session.program, op, 0, head.head, bound.attention.heads, 0, 1, nullptr};
    for (uint32_t begin = 0; begin < rows; begin += at_once) {
      const uint32_t end = rows - begin < at_once ? rows : begin + at_once;
      const Step moved =
          lanes ? in_lane(session.lane_steps[step], begin / at_once * session.lane_bytes, begin) : bound;
      show_head(session, moved.attention, row, begin, end);
    }
  }
}

/// Returns the columns of the widest keys over a source.
uint32_t widest_keys(const mote_session& session) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < session.model->root->states()->size(); ++i) {
    if (session.model->root->states()->Get(i)->source() < 0) continue;
    if (session.caches[i].key_dim > most) most = session.caches[i].key_dim;
  }
  return most;
}

/// Tells whether all attentions over a source are softmaxes of scaled products.
bool are_plain(const mote_session& session) {
  for (uint32_t step = 0; step < session.step_count; ++step) {
    if (session.steps[step].op == Op::kAttention && session.steps[step].attention.score != ScoreKind::scaled)
      return false;
  }
  return true;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

uint32_t mote_attention_room(const mote_session* session) {
  uint32_t most = session->options.context;
  for (uint32_t p = 0; p < session->pool_count; ++p) {
    if (session->pools[p].positions > most) most = session->pools[p].positions;
  }
  return most;
}

mote_status mote_session_watch_attention(mote_session* session, mote_attention_fn take, void* user,
                                         float* room, uint32_t room_count, mote_error* error) {
  if (session == nullptr || (take != nullptr && room == nullptr))
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_session_watch_attention: null pointer");
  if (take != nullptr && (session->options.trace == nullptr || session->kv_dtype != mote::DType::f32))
    return fail(error, MOTE_INVALID_ARGUMENT, "attention maps are of sessions that trace, with keys in f32");
  if (take != nullptr && room_count < mote_attention_room(session))
    return fail(error, MOTE_TOO_SMALL, "attention maps take room for ", mote_attention_room(session),
                " floats, given ", room_count);
  session->maps = {};
  if (take != nullptr) session->maps = {mote::show_all, take, user, room, nullptr, 0};
  return MOTE_OK;
}

uint32_t mote_watched_heads_room(const mote_session* session) {
  const uint64_t positions = (uint64_t{mote_attention_room(session)} + 15) / 16 * 16;
  const uint64_t columns = mote::widest_keys(*session);
  const uint64_t floats = columns == 0 ? 0 : positions * (1 + columns);
  return floats > UINT32_MAX ? 0 : static_cast<uint32_t>(floats);
}

mote_status mote_session_watch_heads(mote_session* session, const mote_watched_head* heads, uint32_t count,
                                     mote_attention_fn take, void* user, float* room, uint32_t room_count,
                                     mote_error* error) {
  if (session == nullptr || (take != nullptr && (heads == nullptr || room == nullptr)))
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_session_watch_heads: null pointer");
  if (take == nullptr) {
    session->maps = {};
    return MOTE_OK;
  }
  const uint32_t needed = mote_watched_heads_room(session);
  if (mote::widest_keys(*session) == 0 || needed == 0 || !mote::are_plain(*session))
    return fail(error, MOTE_WRONG_STATE,
                "heads are watched of models whose attention over a source is plain");
  if (room_count < needed)
    return fail(error, MOTE_TOO_SMALL, "watched heads take room for ", needed, " floats, given ", room_count);
  session->maps = {mote::show_heads, take, user, room, heads, count};
  return MOTE_OK;
}

}  // extern "C"
