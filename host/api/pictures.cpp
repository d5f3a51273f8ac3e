// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: labels, vectors, boxes and depths of pictures.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/api/kept_texts.h"
#include "host/api/media.h"
#include "host/base/options.h"
#include "host/media/png_writer.h"
#include "host/media/stretch.h"
#include "host/tasks/labels.h"
#include "host/tasks/picture_encoder.h"

namespace mote::api {
namespace {

using nlohmann::json;

/// Encodes a picture, of wanted sides or, without, those that it chooses or the model's own; returns its
/// sides before it became pixel values.
host::Result<pictures::Sides> encode(host::PictureEncoder& encoder, const mote_host_input& input,
                                     const std::optional<pictures::WantedSides>& wanted,
                                     const host::Hooks& hooks) {
  if (wanted && wanted->kind == pictures::WantedSides::both)
    MOTE_TRY(encoder.check_size(wanted->height, wanted->width));
  const Picture picture(input);
  pictures::Sides sides{};
  if (wanted || encoder.lets_choose()) {
    const pictures::SizedValues sized =
        pictures::sized_values(picture.rows(hooks), encoder.picture(), wanted, {}, &sides);
    MOTE_TRY(encoder.set_size(sized.height, sized.width, picture.name()));
    MOTE_TRY(encoder.encode(sized.values, hooks, picture.name()));
    return sides;
  }
  const std::vector<float> pixels =
      pictures::pixel_values(picture.rows(hooks), encoder.picture(), {}, &sides);
  MOTE_TRY(encoder.encode(pixels, hooks, picture.name()));
  return sides;
}

/// An encoder that a worker keeps, and the last texts that pictures were compared with.
struct KeptPictures {
  host::PictureEncoder encoder;
  KeptTexts compared;
  size_t memory_bytes() const { return encoder.memory_bytes(); }
};

host::Result<KeptPictures*> kept_of(mote_host& opened, Turn& turn, bool any_size = false) {
  const char* const key = any_size ? "pictures of any size" : "pictures";
  return turn->task<KeptPictures>(key, [&]() -> host::Result<KeptPictures> {
    MOTE_TAKE(host::PictureEncoder encoder,
              host::PictureEncoder::make(*opened.model, opened.choices(turn->platform()), any_size));
    return KeptPictures{std::move(encoder), {}};
  });
}

host::Result<host::PictureEncoder*> encoder_of(mote_host& opened, Turn& turn, bool any_size) {
  MOTE_TAKE(KeptPictures* const kept, kept_of(opened, turn, any_size));
  return &kept->encoder;
}

host::Status detect(mote_host& opened, Inputs inputs, const char* json_options, const mote_host_calls* calls,
                    Reply& reply) {
  Options options(json_options);
  float threshold = 0.5f;
  options.read("threshold", threshold, 0.0f, 1.0f);
  const std::optional<pictures::WantedSides> size = read_picture_size(options);
  options.finish();
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(host::PictureEncoder* const encoder, encoder_of(opened, turn, size.has_value()));
  if (opened.model->task() != MOTE_TASK_DETECT)
    return host::failed("{} finds no boxes", opened.model->name());
  reply.json = json::array();
  for (const mote_host_input& input : inputs) {
    MOTE_TAKE(const pictures::Sides sides, encode(*encoder, input, size, hooks));
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

/// Writes depths as a PNG of grey, white where they are most.
void write_depths(const std::string& path, pictures::Stretch& stretch, pictures::Sides sides, float most) {
  constexpr float kWhite = 65535;
  const float scale = most > 0 ? kWhite / most : 0.0f;
  std::vector<float> values(sides.width);
  pictures::write_grey_png(path, sides, [&](uint32_t y, uint16_t* row) {
    stretch.row(y, values.data());
    for (size_t x = 0; x < values.size(); ++x)
      row[x] = static_cast<uint16_t>(std::lround(std::clamp(values[x] * scale, 0.0f, kWhite)));
  });
}

host::Status depth(mote_host& opened, const mote_host_input& input, const char* json_options,
                   const mote_host_calls* calls, Reply& reply) {
  Options options(json_options);
  std::string output;
  options.read("output", output);
  const std::optional<pictures::WantedSides> size = read_picture_size(options);
  options.finish();
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(host::PictureEncoder* const encoder, encoder_of(opened, turn, size.has_value()));
  if (opened.model->task() != MOTE_TASK_MEASURE_DEPTH)
    return host::failed("{} measures no depth", opened.model->name());
  MOTE_TAKE(const pictures::Sides sides, encode(*encoder, input, size, hooks));
  const std::vector<float> depths = encoder->depths();
  pictures::Stretch stretch(depths, {encoder->picture().height, encoder->picture().width}, sides);
  const bool writes = !output.empty();
  reply.values.resize((writes ? 1 : size_t{sides.height}) * sides.width);
  float least = std::numeric_limits<float>::infinity(), most = -least;
  for (uint32_t y = 0; y < sides.height; ++y) {
    if (hooks.stopped()) return host::cancelled();
    float* const row = reply.values.data() + (writes ? 0 : size_t{y} * sides.width);
    stretch.row(y, row);
    const auto [low, high] = std::minmax_element(row, row + sides.width);
    least = std::min(least, *low);
    most = std::max(most, *high);
  }
  reply.shape = {sides.height, sides.width};
  if (writes) {
    reply.values.clear();
    write_depths(output, stretch, sides, most);
  }
  reply.json = {{"width", sides.width}, {"height", sides.height}, {"least", least}, {"most", most}};
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

std::optional<pictures::WantedSides> read_picture_size(Options& options) {
  std::string text;
  options.read("size", text);
  if (text.empty()) return std::nullopt;
  const auto wanted = pictures::read_wanted_sides(text);
  if (!wanted) throw OptionError("option \"size\": expected WIDTHxHEIGHT, longest=N, shortest=N or own");
  return wanted;
}

void require_no_size(const std::optional<pictures::WantedSides>& size) {
  if (size) throw OptionError("option \"size\": only for models of pictures");
}

host::Status embed_pictures(mote_host& opened, Inputs inputs,
                            const std::optional<pictures::WantedSides>& size, const mote_host_calls* calls,
                            Reply& reply) {
  if (opened.model->task() != MOTE_TASK_EMBED_PICTURES)
    return host::failed("{} gives no vectors", opened.model->name());
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(KeptPictures* const kept, kept_of(opened, turn, size.has_value()));
  host::PictureEncoder& encoder = kept->encoder;
  for (const mote_host_input& input : inputs) {
    MOTE_TRY(encode(encoder, input, size, hooks).status());
    const std::vector<float> vector = encoder.row();
    reply.values.insert(reply.values.end(), vector.begin(), vector.end());
  }
  reply.shape = {inputs.size(), encoder.output().width};
  reply.json = {{"rows", inputs.size()}, {"width", encoder.output().width}};
  return {};
}

host::Status classify_pictures(mote_host& opened, Inputs inputs, uint32_t top,
                               const std::optional<pictures::WantedSides>& size, const mote_host_calls* calls,
                               Reply& reply) {
  const host::Model& model = *opened.model;
  size_t shown = 0;
  while (shown < inputs.size() && !is_text(inputs[shown])) ++shown;
  const std::vector<std::string> words = texts_of(inputs.subspan(shown));
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "pictures", hooks);
  MOTE_TAKE(KeptPictures* const kept, kept_of(opened, turn, size.has_value()));
  host::PictureEncoder& encoder = kept->encoder;
  const bool own = model.task() == MOTE_TASK_LABEL_PICTURES;
  if (own && !words.empty()) return host::failed("{} has labels of its own", model.name());
  if (!own) {
    MOTE_TRY(host::require_similarity(model, encoder.picture()));
    MOTE_TRY(kept->compared.take(opened, turn->platform(), words, hooks));
  }
  reply.json = json::array();
  for (const mote_host_input& input : inputs.first(shown)) {
    MOTE_TRY(encode(encoder, input, size, hooks).status());
    MOTE_TAKE(const std::vector<float> probabilities,
              own ? encoder.probabilities()
                  : kept->compared.texts->probabilities(encoder.row(), {encoder.picture().similarity_scale,
                                                                        encoder.picture().similarity_bias}));
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
    return mote::api::detect(*model, mote::api::inputs_of(pictures, count, 0), options, calls, reply);
  });
}

mote_host_result* mote_host_depth(mote_host* model, const mote_host_input* picture, const char* options,
                                  const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::depth(*model, mote::api::inputs_of(picture, 1, 1)[0], options, calls, reply);
  });
}
