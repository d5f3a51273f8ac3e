// SPDX-License-Identifier: Apache-2.0
//
// A caller's stop, at each place where a call asks for it: the call ends there, and leaves no trace.
#include <filesystem>
#include <fstream>
#include <functional>

#include "mote/convert.h"
#include "tests/host/host_calls.h"
#include "tests/support/speech_files.h"

namespace fs = std::filesystem;
using namespace mote::testing;

namespace {

const fs::path kGolden = fs::path(MOTE_SOURCE_DIR) / "tests/golden";

struct NamedFile {
  std::string name;
  json content;
};

json small_tokenizer() {
  std::ifstream in(kGolden / "tokenizers/small/tokenizer.json");
  return json::parse(in);
}

/// The small tokenizer with marks of a Whisper.
json marked_tokenizer() {
  json root = small_tokenizer();
  const char* const marks[] = {"<58>", "<59>", "<|endoftext|>", "<|startoftranscript|>"};
  for (size_t i = 0; i < std::size(marks); ++i) {
    root["added_tokens"].push_back({{"id", 58 + i},
                                    {"content", marks[i]},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  return root;
}

/// So many letters.
json letters_tokenizer(int count) {
  json root = small_tokenizer();
  root["added_tokens"] = json::array();
  root["post_processor"] = nullptr;
  json& model = root["model"];
  model["merges"] = json::array();
  model["unk_token"] = nullptr;
  model["vocab"] = json::object();
  for (int id = 0; id < count; ++id) model["vocab"][std::string(1, static_cast<char>('A' + id))] = id;
  return root;
}

json letters(json first, int begin) {
  for (int i = 0; i < 26; ++i) first[std::string(1, static_cast<char>('a' + i))] = begin + i;
  return first;
}

json picture_steps(json steps) {
  steps.update({{"do_resize", true},
                {"do_rescale", true},
                {"rescale_factor", 0.00392156862745098},
                {"do_normalize", true},
                {"image_mean", {0.5, 0.5, 0.5}},
                {"image_std", {0.5, 0.5, 0.5}}});
  return steps;
}

json config_of(const std::string& name, const json& changes) {
  std::ifstream in(kGolden / "models" / name / "config.json");
  json config = json::parse(in);
  config.update(changes);
  return config;
}

/// A golden model with files beside it, converted once.
std::string stopped_model(const std::string& name, const std::vector<NamedFile>& files,
                          const char* options = R"({"type": "f32"})") {
  const fs::path folder = models_folder() / "stops" / name;
  const fs::path file = folder / "out.mote";
  if (fs::exists(file)) return file;
  fs::create_directories(folder.parent_path());
  fs::copy(kGolden / "models" / name, folder, fs::copy_options::recursive);
  for (const NamedFile& one : files) std::ofstream(folder / one.name) << one.content;
  if (name == "speech_to_text") write_speech_files(known_speech("beams"), folder);
  mote_convert_result* done = mote_convert(folder.c_str(), file.c_str(), options, nullptr);
  INFO(name << ": " << mote_convert_sentence(done));
  REQUIRE(mote_convert_status(done) == MOTE_OK);
  mote_convert_free(done);
  return file;
}

/// Counts the questions of a call, and says yes to one of them.
struct Asked {
  uint64_t stop_at = 0, questions = 0, after = 0;
  mote_host_calls calls() {
    mote_host_calls calls = {};
    calls.user = this;
    calls.stop = [](void* user) -> int {
      Asked& self = *static_cast<Asked*>(user);
      ++self.questions;
      if (self.stop_at != 0 && self.questions > self.stop_at) ++self.after;
      return self.stop_at != 0 && self.questions >= self.stop_at ? 1 : 0;
    };
    return calls;
  }
};

using Call = std::function<mote_host_result*(mote_host* model, const mote_host_calls* calls)>;

/// The findings of a call, but for times.
struct Answer {
  json found;
  std::vector<float> values;
  bool operator==(const Answer&) const = default;
};

Answer answer_of(const Got& got) {
  json found = assert_ok(got);
  for (const char* key :
       {"load_ms", "prompt_ms", "decode_ms", "prompt_tokens_per_s", "decode_tokens_per_s"}) {
    if (found.is_object()) found.erase(key);
  }
  return {std::move(found), got.values()};
}

bool was_cancelled(const Got& got) {
  if (got.status() == MOTE_CANCELLED) return true;
  const json found = got.answer();
  return found.is_object() && found.value("finish", "") == "cancelled";
}

/// Ends the call at its first question, its second, and so on until it ends by itself; behind each end the
/// same call gives what a fresh model gives.
void assert_stops_anywhere(const std::string& file, uint64_t least_questions, const Call& call,
                           const char* options = R"({"threads": 1})") {
  INFO(file);
  Asked free;
  const mote_host_calls counted = free.calls();
  const Opened fresh(file, options);
  const Answer expected = answer_of(Got(call(fresh.get(), &counted)));
  TEST_ASSERT_TRUE(free.questions >= least_questions);
  const Opened model(file, options);
  for (uint64_t stop_at = 1;; ++stop_at) {
    Asked asked;
    asked.stop_at = stop_at;
    const mote_host_calls calls = asked.calls();
    CAPTURE(stop_at);
    const Got got(call(model.get(), &calls));
    if (asked.questions < stop_at) {  // it ended before
      TEST_ASSERT_TRUE(answer_of(got) == expected);
      TEST_ASSERT_TRUE(stop_at > least_questions);
      return;
    }
    TEST_ASSERT_TRUE(was_cancelled(got));
    TEST_ASSERT_EQUAL(0, asked.after);
    const uint64_t every = free.questions / 8 + 1;
    if (stop_at % every == 0) TEST_ASSERT_TRUE(answer_of(Got(call(model.get(), nullptr))) == expected);
  }
}

mote_host_input noise_input(size_t count) {
  static const std::vector<float> samples = [] {
    std::vector<float> all(48000);
    uint32_t seed = 7;
    for (float& sample : all) {
      seed = seed * 1664525u + 1013904223u;
      sample = static_cast<float>(seed >> 16) / 32768.0f - 1.0f;
    }
    return all;
  }();
  mote_host_input input = {};
  input.samples = samples.data();
  input.sample_count = count;
  input.rate = 16000;
  return input;
}

mote_host_input pixels_input() {
  static const std::vector<uint8_t> pixels = [] {
    std::vector<uint8_t> all(24 * 24 * 3);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i * 7);
    return all;
  }();
  mote_host_input input = {};
  input.pixels = pixels.data();
  input.width = input.height = 24;
  return input;
}

std::string talker() {
  return stopped_model("llama",
                       {{"tokenizer.json", small_tokenizer()},
                        {"config.json", config_of("llama", {{"max_position_embeddings", 2048}})}},
                       R"({"type": "q8", "chat-format": "zephyr"})");
}
std::string translator() { return stopped_model("t5", {{"tokenizer.json", small_tokenizer()}}); }
std::string embedder() { return stopped_model("bert_sentence_dense", {}); }

const mote_host_input kTexts[] = {text("hello world"), text("the world"), text("a cat")};

}  // namespace

TEST_CASE("stops: an answer ends at any question, also while a long prompt is computed", "[stops]") {
  const std::string prompt(600, 'a');
  const mote_host_input input = text(prompt.c_str());
  assert_stops_anywhere(talker(), 8, [&](mote_host* model, const mote_host_calls* calls) {
    return mote_host_generate(model, &input, 1, R"({"tokens": 6, "greedy": true, "ignore-stop": true})",
                              calls);
  });
}

TEST_CASE("stops: a chat goes on behind a message that was stopped at any question", "[stops]") {
  const auto say = [](mote_host* model, const mote_host_calls* calls) {
    mote_host_chat* chat = nullptr;
    mote_host_free(
        mote_host_chat_begin(model, R"({"tokens": 4, "greedy": true, "ignore-stop": true})", &chat));
    mote_host_result* const said = mote_host_chat_say(chat, kTexts, 1, calls);
    mote_host_chat_end(chat);
    return said;
  };
  assert_stops_anywhere(talker(), 5, say);
}

TEST_CASE("stops: vectors, ranks, labels and attention maps of texts end at any question",
          "[stops][values]") {
  assert_stops_anywhere(embedder(), 4, [](mote_host* model, const mote_host_calls* calls) {
    return mote_host_embed(model, kTexts, 3, nullptr, calls);
  });
  assert_stops_anywhere(embedder(), 4, [](mote_host* model, const mote_host_calls* calls) {
    return mote_host_rank(model, kTexts, 3, nullptr, calls);
  });
  assert_stops_anywhere(stopped_model("bert_cross_encoder", {}), 3,
                        [](mote_host* model, const mote_host_calls* calls) {
                          return mote_host_rerank(model, kTexts, 3, nullptr, calls);
                        });
  assert_stops_anywhere(stopped_model("bert_classifier", {{"tokenizer.json", small_tokenizer()}}), 4,
                        [](mote_host* model, const mote_host_calls* calls) {
                          return mote_host_classify(model, kTexts, 3, nullptr, calls);
                        });
  for (const std::string& file : {embedder(), talker(), translator()}) {
    assert_stops_anywhere(file, 1, [](mote_host* model, const mote_host_calls* calls) {
      return mote_host_attention(model, kTexts, calls);
    });
  }
}

TEST_CASE("stops: a measure ends at any question, within a chunk of a text too", "[stops]") {
  // Ten chunks of 64 tokens, each of several steps.
  const std::string words(600, 'a');
  const mote_host_input input = text(words.c_str());
  assert_stops_anywhere(talker(), 15, [&](mote_host* model, const mote_host_calls* calls) {
    return mote_host_evaluate(model, nullptr, &input, R"({"perplexity": true})", calls);
  });
}

TEST_CASE("stops: a search over a source ends at any question, within the search too", "[stops]") {
  for (const char* options : {R"({"tokens": 5, "beams": 3})", R"({"tokens": 5, "beams": 1})"}) {
    // The source, the start token, and each step: the choice of each beam and a run.
    assert_stops_anywhere(translator(), 9, [&](mote_host* model, const mote_host_calls* calls) {
      return mote_host_translate(model, kTexts, 1, options, calls);
    });
  }
  assert_stops_anywhere(translator(), 9, [](mote_host* model, const mote_host_calls* calls) {
    return mote_host_summarize(model, kTexts, 1, R"({"tokens": 5})", calls);
  });
}

TEST_CASE("stops: speech ends at any question, within each of its programs", "[stops]") {
  const std::string voice = stopped_model(
      "vits", {{"vocab.json", letters({{"<pad>", 0}, {" ", 27}}, 1)},
               {"tokenizer_config.json", {{"tokenizer_class", "VitsTokenizer"}, {"phonemize", false}}}});
  // Four programs; between them a step begins the next.
  assert_stops_anywhere(voice, 7, [](mote_host* model, const mote_host_calls* calls) {
    return mote_host_speak(model, kTexts, nullptr, calls);
  });
}

TEST_CASE("stops: what is heard ends at any question, for models of each kind", "[stops]") {
  const json whisper = config_of("whisper", {{"decoder_start_token_id", 61}, {"eos_token_id", 60}});
  const std::string files[] = {
      stopped_model("whisper", {{"tokenizer.json", marked_tokenizer()},
                                {"config.json", whisper},
                                {"generation_config.json", {{"eos_token_id", 60}}}}),
      stopped_model("moonshine", {{"tokenizer.json", marked_tokenizer()}}),
      stopped_model("parakeet_tdt", {{"tokenizer.json", letters_tokenizer(12)}}),
      stopped_model("parakeet_ctc", {{"tokenizer.json", letters_tokenizer(32)}}),
      stopped_model("speech_to_text", {}),
      stopped_model(
          "wav2vec2_ctc",
          {{"vocab.json", letters({{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<unk>", 3}, {"|", 4}}, 5)}})};
  for (const std::string& file : files) {
    const mote_host_input sound = noise_input(8000);
    assert_stops_anywhere(file, 2, [&](mote_host* model, const mote_host_calls* calls) {
      return mote_host_transcribe(model, &sound, nullptr, calls);
    });
  }
}

TEST_CASE("stops: pictures end at any question, while their rows are read too", "[stops]") {
  const json vit = picture_steps({{"image_processor_type", "ViTImageProcessor"},
                                  {"size", {{"height", 24}, {"width", 24}}},
                                  {"resample", 2}});
  const mote_host_input picture = pixels_input();
  assert_stops_anywhere(stopped_model("vit_classifier", {{"preprocessor_config.json", vit}}), 25,
                        [&](mote_host* model, const mote_host_calls* calls) {
                          return mote_host_classify(model, &picture, 1, nullptr, calls);
                        });
  const json yolos = picture_steps({{"feature_extractor_type", "YolosFeatureExtractor"},
                                    {"format", "coco_detection"},
                                    {"max_size", 100},
                                    {"size", 48}});
  assert_stops_anywhere(stopped_model("yolos", {{"preprocessor_config.json", yolos}},
                                      R"({"type": "f32", "picture-size": "48x48"})"),
                        25, [&](mote_host* model, const mote_host_calls* calls) {
                          return mote_host_detect(model, &picture, 1, R"({"threshold": 0})", calls);
                        });
  const json depth = picture_steps({{"image_processor_type", "DPTImageProcessor"},
                                    {"size", {{"height", 24}, {"width", 24}}},
                                    {"keep_aspect_ratio", true},
                                    {"ensure_multiple_of", 6},
                                    {"resample", 3}});
  assert_stops_anywhere(stopped_model("depth_anything", {{"preprocessor_config.json", depth}}), 49,
                        [&](mote_host* model, const mote_host_calls* calls) {
                          return mote_host_depth(model, &picture, nullptr, calls);
                        });
  assert_stops_anywhere(
      stopped_model("trocr", {{"tokenizer.json", marked_tokenizer()}, {"preprocessor_config.json", vit}}), 27,
      [&](mote_host* model, const mote_host_calls* calls) {
        return mote_host_transcribe(model, &picture, nullptr, calls);
      });
}

TEST_CASE("stops: a verification ends at any question, of which each tensor asks one", "[stops]") {
  for (const std::string& file : {talker(), embedder(), translator()}) {
    assert_stops_anywhere(file, 10, [](mote_host* model, const mote_host_calls* calls) {
      return mote_host_verify(model, calls);
    });
  }
}
