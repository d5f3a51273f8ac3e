// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: labels, vectors, boxes and depths of pictures.
#include <algorithm>

#include "host/api/media.h"
#include "host/base/options.h"
#include "host/media/stretch.h"
#include "host/tasks/labels.h"
#include "host/tasks/picture_encoder.h"
#include "host/tasks/picture_texts.h"

namespace mote::api {
namespace {

using nlohmann::json;

/// Encodes a picture; returns its sides before it became pixel values.
host::Result<pictures::Sides> encode(host::PictureEncoder& encoder, const mote_host_input& input,
                                     const host::Hooks& hooks) {
  const Picture picture(input);
  pictures::Sides sides{};
  const std::vector<float> pixels =
      pictures::pixel_values(picture.rows(hooks), encoder.picture(), {}, &sides);
  MOTE_TRY(encoder.encode(pixels, hooks, picture.name()));
  return sides;
}

host::Result<host::PictureEncoder*> encoder_of(mote_host& opened, Turn& turn) {
  return turn->task<host::PictureEncoder>("pictures", [&] {
    return host::PictureEncoder::make(*opened.model, opened.choices(turn->platform()));
  });
}

host::Status detect(mote_host& opened, Inputs inputs, const char* json_options, const mote_host_calls* calls,
                    Reply& reply) {
  Options options(json_options);
  float threshold = 0.5f;
  options.read("threshold", threshold, 0.0f, 1.0f);
  options.finish();
  if (opened.model->output().kind != MOTE_OUTPUT_BOXES)
    return host::failed("{} finds no boxes", opened.model->name());
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(host::PictureEncoder* const encoder, encoder_of(opened, turn));
  reply.json = json::array();
  for (const mote_host_input& input : inputs) {
    MOTE_TAKE(const pictures::Sides sides, encode(*encoder, input, hooks));
    MOTE_TAKE(const std::vector<host::Box> boxes, encoder->boxes(sides, threshold));
    json found = json::array();
    for (const host::Box& box : boxes) {
      found.push_back({{"label", box.label},
                       {"probability", box.probability},
                       {"box", {box.left, box.top, box.right, box.bottom}}});
    }
    reply.json.push_back({{"width", sides.width}, {"height", sides.height}, {"boxes", std::move(found)}});
  }
  return {};
}

host::Status depth(mote_host& opened, const mote_host_input& input, const mote_host_calls* calls,
                   Reply& reply) {
  if (opened.model->output().kind != MOTE_OUTPUT_DEPTH)
    return host::failed("{} measures no depth", opened.model->name());
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(host::PictureEncoder* const encoder, encoder_of(opened, turn));
  MOTE_TAKE(const pictures::Sides sides, encode(*encoder, input, hooks));
  const std::vector<float> depths = encoder->depths();
  pictures::Stretch stretch(depths, {encoder->picture().height, encoder->picture().width}, sides);
  reply.values.resize(size_t{sides.height} * sides.width);
  for (uint32_t y = 0; y < sides.height; ++y) {
    if (hooks.stopped()) return host::cancelled();
    stretch.row(y, reply.values.data() + size_t{y} * sides.width);
  }
  reply.shape = {sides.height, sides.width};
  const auto [least, most] = std::minmax_element(reply.values.begin(), reply.values.end());
  reply.json = {{"width", sides.width}, {"height", sides.height}, {"least", *least}, {"most", *most}};
  return {};
}

}  // namespace

json labels_json(const std::vector<float>& probabilities, uint32_t top,
                 const std::function<std::string(uint32_t)>& label) {
  json labels = json::array();
  for (const uint32_t i : host::largest(probabilities, top))
    labels.push_back({{"label", label(i)}, {"probability", probabilities[i]}});
  return labels;
}

host::Status embed_pictures(mote_host& opened, Inputs inputs, const mote_host_calls* calls, Reply& reply) {
  if (opened.model->output().kind != MOTE_OUTPUT_EMBEDDING)
    return host::failed("{} gives no vectors", opened.model->name());
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(host::PictureEncoder* const encoder, encoder_of(opened, turn));
  for (const mote_host_input& input : inputs) {
    MOTE_TRY(encode(*encoder, input, hooks).status());
    const std::vector<float> vector = encoder->row();
    reply.values.insert(reply.values.end(), vector.begin(), vector.end());
  }
  reply.shape = {inputs.size(), encoder->output().width};
  reply.json = {{"rows", inputs.size()}, {"width", encoder->output().width}};
  return {};
}

host::Status classify_pictures(mote_host& opened, Inputs inputs, uint32_t top, const mote_host_calls* calls,
                               Reply& reply) {
  const host::Model& model = *opened.model;
  size_t shown = 0;
  while (shown < inputs.size() && !is_text(inputs[shown])) ++shown;
  const std::vector<std::string> words = texts_of(inputs.subspan(shown));
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(host::PictureEncoder* const encoder, encoder_of(opened, turn));
  const bool own = encoder->output().kind == MOTE_OUTPUT_SEQUENCE_LABELS;
  std::optional<host::PictureTexts> texts;
  if (own && !words.empty()) return host::failed("{} has labels of its own", model.name());
  if (!own) {
    MOTE_TRY(host::require_similarity(model, encoder->picture()));
    if (opened.text_tower == nullptr)
      return host::failed("{} was opened without a text tower, which texts beside pictures take",
                          model.name());
    if (words.empty()) return host::failed("there are no texts to compare with");
    MOTE_TAKE(texts, host::PictureTexts::make(opened.text_tower->model, opened.choices(turn->platform()),
                                              words, hooks));
  }
  reply.json = json::array();
  for (const mote_host_input& input : inputs.first(shown)) {
    MOTE_TRY(encode(*encoder, input, hooks).status());
    MOTE_TAKE(const std::vector<float> probabilities,
              own ? encoder->probabilities() : texts->probabilities(encoder->row(), encoder->picture()));
    reply.json.push_back({{"labels", labels_json(probabilities, top, [&](uint32_t i) {
                             return own ? std::string(model.label(i)) : words[i];
                           })}});
  }
  return {};
}

}  // namespace mote::api

using mote::api::Reply;
using mote::api::respond;
using mote::host::Status;

mote_host_result* mote_host_detect(mote_host* model, const mote_host_input* pictures, size_t count,
                                   const char* options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::detect(*model, mote::api::inputs_of(pictures, count, 1), options, calls, reply);
  });
}

mote_host_result* mote_host_depth(mote_host* model, const mote_host_input* picture, const char* options,
                                  const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    mote::api::Options(options).finish();
    return mote::api::depth(*model, mote::api::inputs_of(picture, 1, 1)[0], calls, reply);
  });
}
