// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/attention_maps.h"

#include "kernels/reference/attention.inl.h"
#include "runtime/error.h"
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

}  // namespace

void show_attention_map(const mote_session& session, uint32_t step) {
  if (session.steps[step].op != Op::kAttention) return;
  const AttentionArgs& args = session.steps[step].attention;
  const uint32_t op = step - current(session).first;
  const file::Attention& attention = *current(session).file->ops()->Get(op)->args_as_Attention();
  const uint32_t crosses = session.model->root->states()->Get(attention.state())->source() >= 0;
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
  session->maps = {take, user, room};
  return MOTE_OK;
}

}  // extern "C"
