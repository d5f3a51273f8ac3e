// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/swin_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint32_t kJoined = 4;        // patches, two in each direction
constexpr float kOtherPart = -100.0f;  // of scores between parts that only the shift made neighbours
constexpr uint32_t kKinds = 4;         // of windows, by the ends of the picture that they lie at

/// A patch of a window, by its row and column in the shifted picture.
struct SwinPlace {
  uint32_t y, x;
};
SwinPlace swin_place(const SwinStage& stage, uint32_t index) {
  const uint32_t across = stage.columns / stage.window, window = index / stage.area(),
                 inside = index % stage.area();
  return {window / across * stage.window + inside / stage.window,
          window % across * stage.window + inside % stage.window};
}

/// The patches window by window, by their numbers.
std::vector<uint32_t> window_order(const SwinStage& stage, uint32_t shift) {
  charge_table({stage.rows, stage.columns});
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < stage.patches(); ++i) {
    const SwinPlace place = swin_place(stage, i);
    order.push_back((place.y + shift) % stage.rows * stage.columns + (place.x + shift) % stage.columns);
  }
  return order;
}

/// Returns the part of a side that a place is in: before the last window, in the part of the last window that
/// the shift left in place, or in the part that the shift brought there.
uint32_t swin_part(uint32_t place, uint32_t side, uint32_t window, uint32_t shift) {
  return (place >= side - window ? 1 : 0) + (place >= side - shift ? 1 : 0);
}

/// [heads * patches, area]: of two patches of a window by their distances, and between parts.
std::vector<float> window_bias(const SwinStage& stage, const std::vector<float>& table, uint32_t shift) {
  charge_table({stage.heads, stage.rows, stage.columns, stage.window, stage.window});
  const uint32_t reach = 2 * stage.window - 1;
  std::vector<float> bias;
  bias.reserve(size_t{stage.heads} * stage.patches() * stage.area());
  for (uint32_t head = 0; head < stage.heads; ++head) {
    for (uint32_t query = 0; query < stage.patches(); ++query) {
      const SwinPlace from = swin_place(stage, query);
      const uint32_t first = query / stage.area() * stage.area();
      for (uint32_t key = first; key < first + stage.area(); ++key) {
        const SwinPlace to = swin_place(stage, key);
        const uint32_t y = from.y + stage.window - 1 - to.y, x = from.x + stage.window - 1 - to.x;
        const auto parts = [&](const SwinPlace& place) {
          return 3 * swin_part(place.y, stage.rows, stage.window, shift) +
                 swin_part(place.x, stage.columns, stage.window, shift);
        };
        const float apart = shift != 0 && parts(from) != parts(to) ? kOtherPart : 0.0f;
        bias.push_back(table[size_t{y * reach + x} * stage.heads + head] + apart);
      }
    }
  }
  return bias;
}

/// [kinds * heads * area, area]: the same for a window of each kind, in a picture of one for each; without a
/// shift all are of one kind.
std::vector<float> bias_of_kinds(const SwinStage& stage, const std::vector<float>& table, uint32_t shift) {
  SwinStage square = stage;
  square.rows = square.columns = shift == 0 ? stage.window : 2 * stage.window;
  const std::vector<float> by_head = window_bias(square, table, shift);
  const size_t kinds = shift == 0 ? 1 : kKinds, size = size_t{stage.area()} * stage.area();
  std::vector<float> bias;
  bias.reserve(by_head.size());
  for (size_t kind = 0; kind < kinds; ++kind) {
    for (size_t head = 0; head < stage.heads; ++head) {
      const auto begin = by_head.begin() + static_cast<std::ptrdiff_t>((head * kinds + kind) * size);
      bias.insert(bias.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
  }
  return bias;
}

int32_t add_numbers(TransformerBuilder& builder, const std::string& name, uint32_t taps,
                    const std::vector<uint32_t>& numbers) {
  const auto count = static_cast<uint32_t>(numbers.size()) / taps;
  return builder.add_weight({name, DType::f32, true, count, taps, {}, {numbers.begin(), numbers.end()}});
}

/// The rows of `in` in another order, which is `label`'s.
View reorder(TransformerBuilder& builder, const std::string& label, const std::vector<uint32_t>& order,
             View in) {
  if (std::is_sorted(order.begin(), order.end())) return in;
  const View out = builder.new_value(in.width, Unit::token);
  builder.add(GatherRowsNode{1, add_numbers(builder, label, 1, order), in, out});
  return out;
}

std::string order_label(const SwinStage& stage, uint32_t shift) {
  return fmt::format("{}windows.{}", stage.label, shift);
}

}  // namespace

View rows_of_windows(TransformerBuilder& builder, const SwinStage& stage, uint32_t shift, View in) {
  if (!stage.any_size()) return reorder(builder, order_label(stage, shift), window_order(stage, shift), in);
  const View out = builder.new_value(in.width, builder.add_places(stage.filled_up(), stage.least));
  builder.add(GridGatherNode{{}, {stage.window, shift}, 1, in, out});
  return out;
}

View rows_of_patches(TransformerBuilder& builder, const SwinStage& stage, uint32_t shift, View in) {
  if (stage.any_size()) {
    const View out = builder.new_value(in.width, builder.add_places(stage.places(), stage.least));
    builder.add(GridGatherNode{{stage.window, shift}, {}, 1, in, out});
    return out;
  }
  const std::vector<uint32_t> order = window_order(stage, shift);
  std::vector<uint32_t> back(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return reorder(builder, order_label(stage, shift) + ".back", back, in);
}

View attend_in_windows(TransformerBuilder& builder, const SwinStage& stage, const std::string& label,
                       const std::string& table, uint32_t shift, View qkv) {
  const uint32_t width = stage.width, reach = 2 * stage.window - 1;
  AttentionSpec attention;
  attention.heads = attention.kv_heads = stage.heads;
  attention.head_dim = width / stage.heads;
  const std::vector<float> by_distance = builder.tensors().table(table, reach * reach, stage.heads);
  const GridPlaces filled_up = stage.filled_up();
  const uint32_t cache = builder.cache_of(attention, stage.any_size() ? filled_up : GridPlaces{});
  builder.add(KvStoreNode{cache, columns(qkv, width, width), columns(qkv, 2 * width, width)});
  const Unit unit = stage.any_size() ? builder.add_places(filled_up, stage.least) : Unit::token;
  AttentionNode node{cache, stage.heads, 1.0f / std::sqrt(static_cast<float>(attention.head_dim)),
                     columns(qkv, 0, width), builder.new_value(width, unit)};
  node.group = stage.area();
  node.windows = stage.any_size();
  std::vector<float> bias =
      stage.any_size() ? bias_of_kinds(stage, by_distance, shift) : window_bias(stage, by_distance, shift);
  const auto rows = static_cast<uint32_t>(bias.size() / stage.area());
  node.bias = builder.add_weight(
      {label + "attention_bias", DType::f32, true, rows, stage.area(), {}, std::move(bias)});
  const View out = node.out;
  builder.add(std::move(node));
  return out;
}

View join_fours(TransformerBuilder& builder, const SwinStage& stage, View in) {
  if (stage.any_size()) {
    builder.enter_places({1, 2 * stage.every}, stage.least);
    const View joined = builder.new_value(kJoined * in.width, Unit::token);
    builder.add(GridGatherNode{{}, {}, 2, in, joined});
    return joined;
  }
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < stage.patches() / kJoined; ++i) {
    const uint32_t y = i / (stage.columns / 2) * 2, x = i % (stage.columns / 2) * 2;
    for (uint32_t k = 0; k < kJoined; ++k) numbers.push_back((y + k % 2) * stage.columns + x + k / 2);
  }
  builder.enter_groups(kJoined, 1);
  const View joined = builder.new_value(kJoined * in.width, Unit::token);
  builder.add(
      GatherRowsNode{kJoined, add_numbers(builder, stage.label + "joined", kJoined, numbers), in, joined});
  return joined;
}

}  // namespace mote::convert
