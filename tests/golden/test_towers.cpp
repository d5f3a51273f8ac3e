// SPDX-License-Identifier: Apache-2.0
//
// The model of texts in a larger one, of which no published config is in tests/published: the golden model of
// its texts under the larger one's names.
#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/written.h"

namespace {

using nlohmann::json;

/// The file of safetensors with `now` in place of `then` where its names begin so, and one more tensor.
std::string renamed(const std::string& file, const std::string& then, const std::string& now) {
  uint64_t size = 0;
  for (size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(file[i]);
  const json header = json::parse(file.substr(8, size));
  json names = json::object();
  for (const auto& [name, place] : header.items())
    names[name.starts_with(then) ? now + name.substr(then.size()) : name] = place;
  const size_t end = file.size() - 8 - size;
  names["model.vision_tower.patch.weight"] = {
      {"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {end, end + 4}}};
  std::string text = names.dump(), length(8, '\0');
  text.resize((text.size() + 7) / 8 * 8, ' ');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  return length + text + file.substr(8 + size) + std::string(4, '\0');
}

}  // namespace

TEST(
    "towers: the model of texts in Gemma 3n and Gemma 4 computes the bits of that model alone, and a note "
    "names it") {
  for (const std::string parent : {"gemma3n", "gemma4"}) {
    CAPTURE(parent);
    const std::string texts = parent + "_text";
    const mote::testing::TempDirectory folder;
    const json config = json::parse(mote::testing::read_text(test::golden_folder() / texts / "config.json"));
    mote::testing::write_text(folder / "config.json",
                              json{{"model_type", parent}, {"text_config", config}}.dump());
    const std::string weights = mote::testing::read_text(test::golden_folder() / texts / "model.safetensors");
    mote::testing::write_text(folder / "model.safetensors",
                              renamed(weights, "model.", "model.language_model."));
    mote::convert::ConvertOptions options;
    options.type = "f32";
    const auto report = mote::convert::convert(folder.path(), folder / "out.mote", options);
    CHECK(std::any_of(report.notes.begin(), report.notes.end(), [&](const std::string& note) {
      return mote::testing::contains(note, "of " + parent);
    }));
    const test::AlignedBytes file = test::read_file(folder / "out.mote");
    const std::vector<int32_t> ids = {3, 41, 7, 7, 60, 22, 5};
    CHECK(test::outputs_of(test::OpenModel(file), ids) ==
          test::outputs_of(test::OpenModel(test::golden_file(texts, "f32")), ids));
  }
}
