// SPDX-License-Identifier: Apache-2.0
//
// An encoder of pictures of 8 x 8 pixels, in patches of 4 x 4, with any steps.
#pragma once

#include "tests/support/graph_file.h"

namespace test {

inline constexpr uint32_t kPictureSide = 8, kPicturePatch = 4;

/// A step of the kind that fits these pictures.
inline mote::convert::PictureStep step_of(mote::convert::PictureStepKind kind) {
  using enum mote::convert::PictureStepKind;
  mote::convert::PictureStep step{kind};
  if (kind < crop || kind == tile || kind == resize_patches) step.filter = 2;
  if (kind < rescale) step.height = step.width = kPictureSide;
  if (kind == resize_bounded || kind == resize_longer) step.most = 16;
  if (kind == resize_pixels) {
    step.multiple = kPicturePatch;
    step.least = 16;
    step.most = 64;
    step.factor = 200.0f;
  }
  if (kind == resize_patches) {
    step.multiple = kPicturePatch;
    step.most = 16;
  }
  if (kind == rescale) step.factor = 1.0f / 255;
  if (kind == normalize) {
    step.mean = {0.5f, 0.5f, 0.5f};
    step.std = {1.0f, 1.0f, 1.0f};
  }
  return step;
}

/// Such steps, then those that make numbers of bytes.
inline std::vector<mote::convert::PictureStep> steps_of(
    const std::vector<mote::convert::PictureStepKind>& kinds) {
  std::vector<mote::convert::PictureStep> steps;
  for (const auto kind : kinds) steps.push_back(step_of(kind));
  steps.push_back(step_of(mote::convert::PictureStepKind::rescale));
  steps.push_back(step_of(mote::convert::PictureStepKind::normalize));
  return steps;
}

inline mote::convert::Graph picture_graph(const std::vector<mote::convert::PictureStep>& steps) {
  using namespace mote::convert;
  constexpr uint32_t kWidth = 3 * kPicturePatch * kPicturePatch;
  Graph graph = bare_graph(1, kWidth, 4);
  graph.values = {{kWidth, mote::DType::f32, Unit::token}, {kWidth, mote::DType::f32, Unit::selected}};
  const View x{0, 0, kWidth}, out{1, 0, kWidth};
  graph.nodes.push_back(InputNode{x});
  graph.nodes.push_back(SelectNode{x, out});
  graph.output = out;
  graph.output_kind = OutputKind::hidden;
  graph.task = Task::see;
  PictureFormat& picture = graph.picture;
  picture.height = picture.width = kPictureSide;
  picture.channels = 3;
  picture.patch = kPicturePatch;
  picture.any_size = true;
  picture.steps = steps;
  return graph;
}

}  // namespace test
