// SPDX-License-Identifier: Apache-2.0
//
// Attention by landmarks (Xiong et al. 2021), a sequence at a time. The inverse is computed for a matrix of
// few rows; its steps are matmuls whose sums are in order.
#include <math.h>

#include "kernels/recurrent_ops.h"

namespace mote::ref {
namespace {

/// Matrices [m, m] and [m, E] of a sequence, one after the other.
struct NystromScratch {
  float *q, *k, *middle, *z, *az, *inner, *product, *values;
};

/// out [rows, cols] = alpha * a [rows, n] b [n, cols]
void multiply_matrices(float* out, const float* a, const float* b, size_t rows, size_t n, size_t cols,
                       float alpha) {
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) {
      float sum = 0.0f;
      for (size_t i = 0; i < n; ++i) sum += a[row * n + i] * b[i * cols + col];
      out[row * cols + col] = alpha * sum;
    }
  }
}

/// a = diagonal * I - a, [m, m].
void subtract(float* a, size_t m, float diagonal) {
  for (size_t i = 0; i < m * m; ++i) a[i] = (i % (m + 1) == 0 ? diagonal : 0.0f) - a[i];
}

float dot(const float* a, const float* b, size_t n, float scale) {
  float sum = 0.0f;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return scale * sum;
}

void weigh_row(float* row, size_t n) {
  float largest = row[0], sum = 0.0f;
  for (size_t i = 1; i < n; ++i) largest = fmaxf(largest, row[i]);
  for (size_t i = 0; i < n; ++i) sum += row[i] = expf(row[i] - largest);
  for (size_t i = 0; i < n; ++i) row[i] /= sum;
}

/// Means of neighbouring rows of a head's columns, [m, E].
void find_landmarks(const NystromArgs& args, const ConstRows& rows, size_t head, uint32_t first,
                    uint32_t count, float* out) {
  const uint32_t each = count / args.landmarks;
  for (size_t i = 0; i < size_t{args.landmarks} * args.head_dim; ++i) {
    const uint32_t begin = first + static_cast<uint32_t>(i / args.head_dim) * each;
    float sum = 0.0f;
    for (uint32_t t = begin; t < begin + each; ++t)
      sum += args.lanes.row(rows, t)[head * args.head_dim + i % args.head_dim];
    out[i] = sum / static_cast<float>(each);
  }
}

/// The products of all landmarks, as weights, and the largest sum of a column.
float weigh_landmarks(const NystromArgs& args, const NystromScratch& s, size_t head) {
  const size_t m = args.landmarks, dim = args.head_dim;
  const float *q = s.q + head * m * dim, *k = s.k + head * m * dim;
  float* weights = s.middle + head * m * m;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < m; ++j) weights[i * m + j] = dot(q + i * dim, k + j * dim, dim, args.scale);
    weigh_row(weights + i * m, m);
  }
  float most = 0.0f;
  for (size_t j = 0; j < m; ++j) {
    float sum = 0.0f;
    for (size_t i = 0; i < m; ++i) sum += weights[i * m + j];
    most = fmaxf(most, sum);
  }
  return most;
}

/// s.z = nearly the pseudo-inverse of a head's weights.
void invert(const NystromArgs& args, const NystromScratch& s, size_t head, float most) {
  const size_t m = args.landmarks;
  const float* a = s.middle + head * m * m;
  for (size_t i = 0; i < m * m; ++i) s.z[i] = a[i % m * m + i / m] / most;
  for (uint32_t step = 0; step < kNystromSteps; ++step) {
    multiply_matrices(s.az, a, s.z, m, m, m, 1.0f);
    for (size_t i = 0; i < m * m; ++i) s.inner[i] = s.az[i];
    constexpr float kDiagonals[] = {7.0f, 15.0f};
    for (const float diagonal : kDiagonals) {
      subtract(s.inner, m, diagonal);
      multiply_matrices(s.product, s.az, s.inner, m, m, m, 1.0f);
      for (size_t i = 0; i < m * m; ++i) s.inner[i] = s.product[i];
    }
    subtract(s.inner, m, 13.0f);
    multiply_matrices(s.product, s.z, s.inner, m, m, m, 0.25f);
    for (size_t i = 0; i < m * m; ++i) s.z[i] = s.product[i];
  }
}

/// s.values [m, E] = what each landmark's query sees of all keys.
void attend_all(const NystromArgs& args, const NystromScratch& s, size_t head, uint32_t first,
                uint32_t count) {
  const size_t dim = args.head_dim;
  for (size_t i = 0; i < args.landmarks; ++i) {
    const float* q = s.q + (head * args.landmarks + i) * dim;
    const auto score = [&](uint32_t t) {
      return dot(q, args.lanes.row(args.k, first + t) + head * dim, dim, args.scale);
    };
    float *out = s.values + i * dim, largest = score(0), sum = 0.0f;
    for (uint32_t t = 1; t < count; ++t) largest = fmaxf(largest, score(t));
    for (size_t e = 0; e < dim; ++e) out[e] = 0.0f;
    for (uint32_t t = 0; t < count; ++t) {
      const float weight = expf(score(t) - largest);
      const float* value = args.lanes.row(args.v, first + t) + head * dim;
      sum += weight;
      for (size_t e = 0; e < dim; ++e) out[e] += weight * value[e];
    }
    for (size_t e = 0; e < dim; ++e) out[e] /= sum;
  }
}

void attend(const NystromArgs& args, const NystromScratch& s, uint32_t first, uint32_t count) {
  const size_t m = args.landmarks, dim = args.head_dim;
  float most = 0.0f;
  for (size_t head = 0; head < args.heads; ++head) {
    find_landmarks(args, args.q, head, first, count, s.q + head * m * dim);
    find_landmarks(args, args.k, head, first, count, s.k + head * m * dim);
    most = fmaxf(most, weigh_landmarks(args, s, head));
  }
  for (size_t head = 0; head < args.heads; ++head) {
    invert(args, s, head, most);
    attend_all(args, s, head, first, count);
    float *mixed = s.inner, *weights = s.product;  // of [m, max(m, E)] and more
    multiply_matrices(mixed, s.z, s.values, m, m, dim, 1.0f);
    for (uint32_t t = first; t < first + count; ++t) {
      const float* q = args.lanes.row(args.q, t) + head * dim;
      for (size_t j = 0; j < m; ++j) weights[j] = dot(q, s.k + (head * m + j) * dim, dim, args.scale);
      weigh_row(weights, m);
      multiply_matrices(args.lanes.row(args.out, t) + head * dim, weights, mixed, 1, m, dim, 1.0f);
    }
  }
}

}  // namespace

void nystrom_f32(const NystromArgs& args, Range units, void* scratch) {
  const size_t m = args.landmarks, dim = args.head_dim, heads = args.heads, wider = m > dim ? m : dim;
  float* at = static_cast<float*>(scratch);
  const auto take = [&at](size_t floats) {
    float* taken = at;
    at += floats;
    return taken;
  };
  const NystromScratch s{take(heads * m * dim), take(heads * m * dim), take(heads * m * m), take(m * m),
                         take(m * m),           take(m * wider),       take(m * m),         take(m * dim)};
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const uint32_t begin = args.starts[args.first], sequence = args.first + unit;
    attend(args, s, args.starts[sequence] - begin, args.starts[sequence + 1] - args.starts[sequence]);
  }
}

}  // namespace mote::ref
