// SPDX-License-Identifier: Apache-2.0
#include "host/media/picture_steps.h"

namespace mote::pictures {
namespace {

using Step = mote_picture_step;

void resize(const Step& step, Prepared& made) { made.sides = {step.height, step.width}; }

void resize_shorter(const Step& step, Prepared& made) { made.sides = shorter_sides(made.sides, step.height); }

void resize_bounded(const Step& step, Prepared& made) {
  made.sides = bounded_sides(made.sides, step.height, step.most, step.multiple);
  made.takes_others = true;
}

void resize_evenly(const Step& step, Prepared& made) {
  made.sides = even_sides(made.sides, {step.height, step.width}, step.multiple);
  made.takes_others = true;
}

void resize_pixels(const Step& step, Prepared& made) {
  made.sides = rounded_sides(made.sides, step.multiple, step.least, step.most, double{step.factor});
}

void resize_patches(const Step& step, Prepared& made) {
  made.sides = patched_sides(made.sides, step.multiple, step.most);
}

void resize_longer(const Step& step, Prepared& made) {
  made.sides = longest_sides(made.sides, step.height, step.most);
}

void crop(const Step& step, Prepared& made) { made.crop = {step.height, step.width}; }

void tile(const Step& step, Prepared& made) { made.tile = step.height; }

void rescale(const Step& step, Prepared& made) { made.factor = step.factor; }

void normalize(const Step& step, Prepared& made) {
  made.mean = step.mean;
  made.deviation = step.deviation;
}

/// The functions of steps, by mote_picture_step_kind.
constexpr void (*kSteps[])(const Step&, Prepared&) = {
    resize, resize_shorter, resize_bounded, resize_evenly, resize_pixels, resize_longer,
    crop,   tile,           rescale,        normalize,     resize_patches};

}  // namespace

Prepared prepare(const mote_picture_info& info, Sides own) {
  Prepared made;
  made.sides = own;
  for (uint32_t i = 0; i < info.step_count; ++i) {
    const Step& step = info.steps[i];
    if (step.filter != 0) made.filter = static_cast<Filter>(step.filter);
    kSteps[step.kind](step, made);
  }
  return made;
}

}  // namespace mote::pictures
