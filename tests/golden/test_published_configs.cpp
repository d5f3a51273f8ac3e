// SPDX-License-Identifier: Apache-2.0
//
// Configs in tests/published, with all their published keys and tiny sizes: each converts, with weights of
// the names and shapes that the original saves, and computes what the original does (scripts/make_published).
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/support/files.h"
#include "tests/support/written.h"

namespace {

using nlohmann::json;

std::vector<std::filesystem::path> published_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/published")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// As values_of in scripts/make_published.
std::vector<float> values_of(const std::string& name, const std::vector<uint64_t>& shape) {
  uint64_t seed = 0xCBF29CE484222325u, count = 1;
  for (const char letter : name) seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001B3u;
  for (const uint64_t size : shape) count *= size;
  const double spread = shape.size() < 2 ? 0.25 : std::sqrt(12.0 / static_cast<double>(shape.back()));
  const bool around_one = name.ends_with("weight") || name.ends_with("running_var");
  const double middle = shape.size() < 2 && around_one ? 1.0 : 0.0;
  std::vector<float> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const double unit =
        static_cast<double>(mixed(seed + (i + 1) * 0x9E3779B97F4A7C15u) >> 40) / (1 << 24) - 0.5;
    values[i] = static_cast<float>(unit * spread + middle);
  }
  return values;
}

/// A file of safetensors with the weights, whose names begin with `wrapper`, or with it in place of "model.".
std::string weights_file(const json& tensors, const std::string& wrapper, bool replaces) {
  json header = json::object();
  std::string data;
  for (const auto& [name, shape] : tensors.items()) {
    const std::vector<float> values = values_of(name, shape.get<std::vector<uint64_t>>());
    const size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    std::string stored = wrapper + name;
    if (replaces) stored = name.starts_with("model.") ? wrapper + name.substr(6) : name;
    header[stored] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string size(8, '\0');
  for (size_t i = 0; i < 8; ++i) size[i] = static_cast<char>(text.size() >> (8 * i));
  return size + text + data;
}

/// The largest distance of the outputs for `ids` from the stored ones, of the largest of these, or of 1.
float difference(const test::OpenModel& model, const json& ids, const json& outputs) {
  const std::vector<float> all = test::outputs_of(model, ids.get<std::vector<int32_t>>());
  const auto expected = outputs.get<std::vector<float>>();
  REQUIRE(all.size() >= expected.size());
  float largest = 1.0f, farthest = 0.0f;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    farthest = std::max(farthest, std::fabs(expected[i] - all[all.size() - expected.size() + i]));
  }
  return farthest / largest;
}

float difference(const test::AlignedBytes& file, const json& entry) {
  const test::OpenModel model(file);
  float farthest =
      difference(model, entry.value("ids", json({3, 41, 7, 7, 60, 22, 5, 88, 13})), entry.at("outputs"));
  for (const json& other : entry.value("others", json::array()))
    farthest = std::max(farthest, difference(model, other.at("ids"), other.at("outputs")));
  return farthest;
}

/// What the converter says of the entry's model, which is `file` then: an error, or its notes.
std::string converted(const std::filesystem::path& path, const json& entry, test::AlignedBytes& file,
                      const std::string& wrapper = "", bool replaces = false) {
  const mote::testing::TempDirectory folder;
  mote::testing::write_text(folder / "config.json", entry.value("config_text", entry.at("config").dump()));
  mote::testing::write_text(folder / "model.safetensors",
                            weights_file(entry.at("tensors"), wrapper, replaces));
  const json files = entry.value("files", json::object());
  for (const auto& [name, values] : files.items()) mote::testing::write_text(folder / name, values.dump());
  mote::convert::ConvertOptions options;
  options.type = "f32";
  options.no_tokenizer = true;
  options.tower = entry.value("tower", "");
  try {
    const auto report =
        mote::convert::convert(folder.path(), folder / (path.stem().string() + ".mote"), options);
    file = test::read_file(folder / (path.stem().string() + ".mote"));
    std::string notes;
    for (const std::string& note : report.notes) notes += note + "\n";
    return notes;
  } catch (const std::exception& error) {
    return std::string("error: ") + error.what();
  }
}

}  // namespace

TEST("published: each config converts and computes what the original does") {
  const auto files = published_files();
  TEST_ASSERT_GREATER_OR_EQUAL(60, files.size());
  for (const std::filesystem::path& path : files) {
    const std::string name = path.stem().string();
    const json entry = json::parse(mote::testing::read_text(path));
    test::AlignedBytes file(0);
    const std::string notes = converted(path, entry, file);
    CAPTURE(name, notes);
    CHECK_FALSE(notes.starts_with("error"));
    if (notes.starts_with("error") || !entry.contains("outputs")) continue;
    const float distance = difference(file, entry);
    CAPTURE(distance);
    CHECK(distance <= 1e-5f);
  }
}

TEST("published: a decoder labels texts by their last token that is no padding") {
  for (const char* name : {"gpt2_texts", "gemma3_texts", "mistral_texts", "qwen3_reranker_seq_cls"}) {
    const std::filesystem::path path =
        std::filesystem::path(MOTE_SOURCE_DIR) / "tests/published" / (std::string(name) + ".json");
    const json entry = json::parse(mote::testing::read_text(path));
    test::AlignedBytes file(0);
    const std::string notes = converted(path, entry, file);
    CAPTURE(name, notes);
    REQUIRE(!notes.starts_with("error"));
    REQUIRE(entry.at("others").size() >= 3);  // padding at the end, alone, and inside
    CHECK(difference(file, entry) <= 1e-5f);
  }
}

TEST("published: names behind a wrapper are read without it, and a note names it") {
  const std::tuple<const char*, const char*, bool> wrapped[] = {
      {"all_minilm_l6_v2", "module.", false},
      {"bert_base_uncased", "_orig_mod.module.", false},
      {"distilbert_sst2", "model.", false},
      {"qwen3", "model.language_model.", true},
      {"gemma_3_270m", "language_model.model.", true},
      {"gpt2", "base_model.", false}};
  for (const auto& [name, wrapper, replaces] : wrapped) {
    CAPTURE(name, wrapper);
    const std::filesystem::path path =
        std::filesystem::path(MOTE_SOURCE_DIR) / "tests/published" / (std::string(name) + ".json");
    const json entry = json::parse(mote::testing::read_text(path));
    test::AlignedBytes file(0);
    const std::string notes = converted(path, entry, file, wrapper, replaces);
    CAPTURE(notes);
    REQUIRE(!notes.starts_with("error"));
    CHECK(mote::testing::contains(notes, "read without"));
    CHECK(difference(file, entry) <= 1e-5f);
  }
}

TEST("published: Infinity as Python writes it is what transformers 5 writes") {
  json entry = json::parse(
      mote::testing::read_text(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/published/mamba2.json"));
  const std::string wrapped = R"({"__float__":"Infinity"})";
  std::string text = entry.at("config").dump();
  REQUIRE(mote::testing::contains(text, wrapped));
  entry["config_text"] = text.replace(text.find(wrapped), wrapped.size(), "Infinity");
  test::AlignedBytes file(0);
  const std::string notes = converted("mamba2.json", entry, file);
  CAPTURE(notes);
  REQUIRE(!notes.starts_with("error"));
  CHECK(difference(file, entry) <= 1e-5f);
}
