// SPDX-License-Identifier: Apache-2.0
//
// Pictures as programs give them to the library: as pixel values, without files.
#include <cmath>
#include <numeric>

#include "host/base/mapped_file.h"
#include "host/tasks/picture_encoder.h"
#include "host/tasks/compared_texts.h"
#include "mote/posix.h"
#include "tests/tools/command.h"

using namespace mote::testing;
namespace fs = std::filesystem;
namespace host = mote::host;

namespace {

/// A model in its file.
struct SeeingModel {
  explicit SeeingModel(const std::string& path) : file(path) {
    host::Result<host::Model> opened = host::Model::open(file.bytes(), path);
    REQUIRE(opened.ok());
    model.emplace(*std::move(opened));
    choices.platform = mote_posix_pool_platform(nullptr);
  }
  host::PictureEncoder encoder(bool any_size = false) const {
    host::Result<host::PictureEncoder> made = host::PictureEncoder::make(*model, choices, any_size);
    REQUIRE(made.ok());
    return *std::move(made);
  }
  mote::convert::MappedFile file;
  std::optional<host::Model> model;
  host::SessionChoices choices{};
};

std::vector<float> some_pixels(const mote_picture_info& info) {
  std::vector<float> pixels(size_t{info.channels} * info.height * info.width);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::sin(static_cast<float>(i));
  return pixels;
}

/// The texts' tower of the golden model of pictures and texts.
std::string texts_tower() {
  const fs::path folder = scratch() / "clip_texts";
  std::string path = (folder / "out.mote").string();
  if (fs::exists(path)) return path;
  fs::copy(golden("clip"), folder, fs::copy_options::recursive);
  fs::copy(golden("../tokenizers/small/tokenizer.json"), folder / "tokenizer.json");
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32 --tower text"));
  return path;
}

}  // namespace

TEST("boxes of pixel values lie in the picture that these were made of, the likeliest first") {
  const SeeingModel detector(converted("yolos", "f32"));
  host::PictureEncoder encoder = detector.encoder();
  REQUIRE(encoder.encode(some_pixels(encoder.picture()), {}, "noise").ok());
  host::Result<std::vector<host::Box>> small = encoder.boxes({30, 40}, 0),
                                       large = encoder.boxes({60, 120}, 0);
  REQUIRE((small.ok() && large.ok()));
  TEST_ASSERT_EQUAL_UINT64(encoder.picture().after, small->size());
  TEST_ASSERT_EQUAL_UINT64(small->size(), large->size());
  for (size_t i = 0; i < small->size(); ++i) {
    const host::Box &a = (*small)[i], &b = (*large)[i];
    TEST_ASSERT_EQUAL_STRING(a.label, b.label);
    TEST_ASSERT_FLOAT_WITHIN(1e-4, a.left * 3, b.left);
    TEST_ASSERT_FLOAT_WITHIN(1e-4, a.bottom * 2, b.bottom);
    if (i > 0) TEST_ASSERT_TRUE(a.probability <= (*small)[i - 1].probability);
  }
  host::Result<std::vector<host::Box>> likely = encoder.boxes({30, 40}, small->front().probability);
  REQUIRE((likely.ok() && likely->empty()));
}

TEST("pictures of changing size in one encoder have the bits of an encoder of their own") {
  const std::string path = (scratch() / "any_size.mote").string();
  assert_works(
      run("convert " + golden("vit_classifier") + " -o " + path + " --type q8 --any-picture-size 60x48"));
  const SeeingModel classifier(path);
  host::PictureEncoder encoder = classifier.encoder(true);
  const size_t memory = encoder.memory_bytes();
  const auto labels_of = [](host::PictureEncoder& with, uint32_t height, uint32_t width) {
    REQUIRE(with.set_size(height, width, "noise").ok());
    REQUIRE(with.encode(some_pixels(with.picture()), {}, "noise").ok());
    return with.row();
  };
  for (const auto& [height, width] : {std::pair{60u, 48u}, {12u, 48u}, {24u, 24u}, {48u, 18u}, {60u, 48u}}) {
    CAPTURE(height, width);
    const std::vector<float> labels = labels_of(encoder, height, width);
    host::PictureEncoder own = classifier.encoder(true);
    CHECK(labels_of(own, height, width) == labels);
    CHECK(encoder.memory_bytes() == memory);
  }
  CHECK(encoder.set_size(60, 54, "noise").code() == MOTE_INVALID_ARGUMENT);
  const SeeingModel fixed(converted("vit_classifier", "f32"));
  CHECK(!host::PictureEncoder::make(*fixed.model, fixed.choices, true).ok());
}

TEST("a picture whose encoding is stopped has failed as cancelled") {
  const SeeingModel classifier(converted("vit_classifier", "f32"));
  host::PictureEncoder encoder = classifier.encoder();
  host::Hooks hooks;
  hooks.stop = [] { return true; };
  REQUIRE(encoder.encode(some_pixels(encoder.picture()), hooks, "noise").code() == MOTE_CANCELLED);
  REQUIRE(encoder.encode(some_pixels(encoder.picture()), {}, "noise").ok());
  host::Result<std::vector<float>> labels = encoder.probabilities();
  REQUIRE(labels.ok());
  TEST_ASSERT_FLOAT_WITHIN(1e-5, 1.0, std::accumulate(labels->begin(), labels->end(), 0.0f));
}

TEST("texts fit a picture among themselves, or each by itself where the model has a bias") {
  const SeeingModel tower(texts_tower());
  const std::vector<std::string> texts = {"hello", "the end", "stop"};
  host::Result<host::ComparedTexts> made = host::ComparedTexts::make(*tower.model, tower.choices, texts, {});
  REQUIRE(made.ok());
  std::vector<float> picture(tower.model->output().width);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = std::sin(static_cast<float>(i)) / 4;
  host::Result<std::vector<float>> among = made->probabilities(picture, {8, 0});
  host::Result<std::vector<float>> alone = made->probabilities(picture, {8, -1});
  REQUIRE((among.ok() && alone.ok()));
  TEST_ASSERT_EQUAL_UINT64(texts.size(), among->size());
  TEST_ASSERT_FLOAT_WITHIN(1e-5, 1.0, std::accumulate(among->begin(), among->end(), 0.0f));
  for (size_t i = 1; i < texts.size(); ++i) {
    const auto odds = [&](size_t k) { return (*alone)[k] / (1 - (*alone)[k]); };
    TEST_ASSERT_FLOAT_WITHIN(1e-3, (*among)[i] / (*among)[0], odds(i) / odds(0));
  }
}

TEST("texts of another model, and none, are refused before a picture is compared with them") {
  const SeeingModel tower(texts_tower());
  const std::vector<std::string> texts = {"hello"};
  host::Result<host::ComparedTexts> made = host::ComparedTexts::make(*tower.model, tower.choices, texts, {});
  REQUIRE(made.ok());
  const std::vector<float> other(tower.model->output().width + 1);
  TEST_ASSERT_TRUE(contains(made->probabilities(other, {}).status().text(), "both must be of one model"));
  const auto none = host::ComparedTexts::make(*tower.model, tower.choices, {}, {});
  TEST_ASSERT_TRUE(contains(none.status().text(), "no texts to compare with"));
}
