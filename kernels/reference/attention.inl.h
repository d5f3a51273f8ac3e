// SPDX-License-Identifier: Apache-2.0
//
// Attention of one query head over the cache by online softmax, a tile of kAttentionTile positions after the
// other (Milakov and Gimelshein 2018):
//   s[p] = scale * (q . k[p]) + bias[p];  m' = max(m, max s);  w[p] = exp(s[p] - m')
//   sum = sum * exp(m - m') + w[p] + ...;  out = out * exp(m - m') + w[p] v[p] + ...;  at the end out / sum
// A NaN score never becomes the maximum, but its weight is NaN and so are sum and out.
#pragma once

#include <float.h>
#include <math.h>

#include "kernels/reference/element.inl.h"
#include "kernels/reference/kv_cache.inl.h"

namespace mote::ref {

/// q and out [E]; positions first..last of one sequence and KV head; bias, if not null, is that of position
/// 0; scores [kAttentionTile] is scratch.
template <class Element>
static inline void attend(const AttentionArgs& args, uint32_t sequence, uint32_t kv_head, uint32_t first,
                          uint32_t last, const float* q, const float* bias, float* out, float* scores) {
  const uint32_t head_dim = args.cache.head_dim;
  for (uint32_t e = 0; e < head_dim; ++e) out[e] = 0.0f;
  float maximum = -FLT_MAX;
  float sum = 0.0f;
  for (uint32_t begin = first; begin <= last;) {
    const uint32_t tile_end = (begin / kAttentionTile + 1) * kAttentionTile;
    const uint32_t end = tile_end <= last ? tile_end : last + 1;

    float new_maximum = maximum;
    for (uint32_t p = begin; p < end; ++p) {
      const Element* key = key_at<Element>(args.cache, sequence, kv_head, p);
      float dot = 0.0f;
      for (uint32_t e = 0; e < head_dim; ++e) dot = __builtin_fmaf(q[e], load(key[e * kKeyStep]), dot);
      float score = args.scale * dot;
      if (bias != nullptr) score += bias[p];
      scores[p - begin] = score;
      if (score > new_maximum) new_maximum = score;
    }

    const float rescale = expf(maximum - new_maximum);
    maximum = new_maximum;
    sum *= rescale;
    for (uint32_t e = 0; e < head_dim; ++e) out[e] *= rescale;
    for (uint32_t p = begin; p < end; ++p) {
      const Element* value = value_at<Element>(args.cache, sequence, kv_head, p);
      const float weight = expf(scores[p - begin] - maximum);
      sum += weight;
      for (uint32_t e = 0; e < head_dim; ++e) out[e] = __builtin_fmaf(weight, load(value[e]), out[e]);
    }
    begin = end;
  }
  for (uint32_t e = 0; e < head_dim; ++e) out[e] /= sum;
}

/// What is added to the scores of row t, from position 0 on; null for nothing.
static inline const float* bias_of(const AttentionArgs& args, size_t t, size_t head) {
  if (args.bias == nullptr) return nullptr;
  const uint32_t to_zero = args.bias_reach - 1 - static_cast<uint32_t>(args.positions[t]);
  return args.bias + head * (2 * static_cast<size_t>(args.bias_reach) - 1) + to_zero;
}

template <class Element>
static inline void attention(const AttentionArgs& args, Range units, float* scores) {
  const uint32_t head_dim = args.cache.head_dim;
  const uint32_t heads_per_kv_head = args.heads / args.cache.kv_heads;
  const uint32_t blocks = (args.rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const uint32_t kv_head = unit / blocks;
    const uint32_t first_row = unit % blocks * kAttentionRowBlock;
    for (uint32_t t = first_row; t < args.rows && t < first_row + kAttentionRowBlock; ++t) {
      const uint32_t last = static_cast<uint32_t>(args.last_seen[t]);
      const uint32_t first = args.window != 0 && last >= args.window ? last - args.window + 1 : 0;
      const uint32_t sequence = static_cast<uint32_t>(args.sequences[t]);
      for (uint32_t i = 0; i < heads_per_kv_head; ++i) {
        const size_t head = kv_head * heads_per_kv_head + i;
        const size_t column = head * head_dim;
        attend<Element>(args, sequence, kv_head, first, last, args.q[t] + column, bias_of(args, t, head),
                        args.out[t] + column, scores);
      }
    }
  }
}

}  // namespace mote::ref
