// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/relative_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "host/base/error.h"

namespace mote::convert {
namespace {

/// The first half of a direction's buckets are single distances, the others grow up to the farthest. In f32,
/// as the original computes them: at powers of two it is the rounding that decides.
uint32_t relative_bucket(int32_t key_minus_query, const RelativeBuckets& buckets) {
  const uint32_t own = buckets.both_sides ? buckets.count / 2 : buckets.count, single = own / 2;
  const uint32_t direction = buckets.both_sides && key_minus_query > 0 ? own : 0;
  if (!buckets.both_sides) key_minus_query = std::min(key_minus_query, 0);
  const uint32_t distance = static_cast<uint32_t>(std::abs(key_minus_query));
  if (distance < single) return direction + distance;
  const float growth = static_cast<float>(std::log(static_cast<double>(buckets.farthest) / single));
  const float share = std::log(static_cast<float>(distance) / static_cast<float>(single)) / growth;
  const uint32_t large = single + static_cast<uint32_t>(share * static_cast<float>(own - single));
  return direction + std::min(large, own - 1);
}

}  // namespace

std::vector<float> relative_bias(const Source& source, const std::string& table, uint32_t heads,
                                 uint32_t context, const RelativeBuckets& buckets) {
  const auto found = source.tensors.find(table);
  if (found == source.tensors.end()) fail("tensor {} is missing", table);
  if (found->second.shape != std::vector<uint64_t>{buckets.count, heads})
    fail("tensor {} is not [{}, {}]", table, buckets.count, heads);
  std::vector<std::vector<float>> rows(buckets.count, std::vector<float>(heads));
  for (uint32_t bucket = 0; bucket < buckets.count; ++bucket) read_row(found->second, bucket, rows[bucket]);
  charge_table({heads, 2, context});
  const uint32_t columns = 2 * context - 1;
  std::vector<float> bias(size_t{heads} * columns);
  for (uint32_t column = 0; column < columns; ++column) {
    const int32_t distance = static_cast<int32_t>(column) - static_cast<int32_t>(context - 1);
    const std::vector<float>& row = rows[relative_bucket(distance, buckets)];
    for (uint32_t head = 0; head < heads; ++head) bias[size_t{head} * columns + column] = row[head];
  }
  return bias;
}

}  // namespace mote::convert
