// SPDX-License-Identifier: Apache-2.0
//
// What Speech2Text's files say of features and texts, and what they say that is refused.
#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"
#include "tests/support/speech_files.h"
#include "tests/support/text_tokenizer.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

const json kConfig = {{"model_type", "speech_to_text"}};

/// What a model hears with such a preprocessor_config.json beside it; null: there is none.
SoundSpec sound_of(const json& preprocessor, const json& config = kConfig, const json& processor = nullptr) {
  const TempDirectory folder;
  if (!processor.is_null()) write_text(folder / "processor_config.json", processor.dump());
  if (!preprocessor.is_null()) write_text(folder / "preprocessor_config.json", preprocessor.dump());
  Source source;
  source.format = "hf";
  source.directory = folder.path();
  source.config = std::make_shared<const json>(config);
  Config keys(*source.config);
  return find_architecture(keys).read(source, keys).source->sound.value();
}

std::string refusal_of(const json& preprocessor) {
  return message_of<Error>([&] { sound_of(preprocessor); });
}

/// A directory with the files of a case, of which some may change.
class Files {
 public:
  explicit Files(const std::string& name) : case_(known_speech(name)) {
    source_.config =
        std::make_shared<const json>(json{{"model_type", "speech_to_text"}, {"vocab_size", 100}});
    source_.format = "hf";
    source_.directory = root_.path();
    write_speech_files(case_, root_.path());
  }
  const json& known() const { return case_; }
  Files& file(const std::string& name, const json& content) {
    write_text(root_ / name, content.dump());
    return *this;
  }
  json vocabulary() const { return json::parse(read_text(root_ / "vocab.json")); }
  TokenizerSpec read() const { return read_tokenizer(source_, true).value(); }
  std::string refusal() const {
    return message_of<Error>([&] { read(); });
  }

 private:
  TempDirectory root_;
  Source source_;
  const json& case_;
};

}  // namespace

TEST("speech to text: features are as preprocessor_config.json says, or not known") {
  const SoundSpec all = sound_of({{"sampling_rate", 16000}});
  TEST_ASSERT_TRUE(all.features == SoundFeatures::normalized_filter_bank);
  TEST_ASSERT_TRUE(!all.waveform && all.rate == 16000 && all.bins == 80 && all.window == 400 &&
                   all.hop == 160);
  TEST_ASSERT_TRUE(all.fft == 512 && all.mean == 1.0f && all.scale == 1.0f);
  const SoundSpec means = sound_of({{"feature_extractor_type", "Speech2TextFeatureExtractor"},
                                    {"normalize_vars", false},
                                    {"padding_side", "right"},
                                    {"padding_value", 0.0},
                                    {"feature_size", 80},
                                    {"return_attention_mask", true},
                                    {"processor_class", "Speech2TextProcessor"},
                                    {"dither", 0.0}});
  TEST_ASSERT_TRUE(means.mean == 1.0f && means.scale == 0.0f);
  const SoundSpec deviations = sound_of({{"normalize_means", false}});
  TEST_ASSERT_TRUE(deviations.mean == 0.0f && deviations.scale == 1.0f);
  const SoundSpec plain = sound_of({{"do_ceptral_normalize", false}});
  TEST_ASSERT_TRUE(plain.mean == 0.0f && plain.scale == 0.0f);
  TEST_ASSERT_TRUE(sound_of(nullptr).features == SoundFeatures::none);
  // A processor's own settings are those that count, and the older file's do not contradict them.
  const json processor = {{"feature_extractor", {{"normalize_vars", false}}}};
  TEST_ASSERT_TRUE(sound_of(nullptr, kConfig, processor).scale == 0.0f);
  TEST_ASSERT_TRUE(sound_of({{"normalize_means", false}}, kConfig, processor).mean == 1.0f);
  const std::string refusal = message_of<Error>([&] {
    sound_of({{"normalize_vars", true}}, kConfig, processor);
  });
  TEST_ASSERT_TRUE(
      contains(refusal, "feature_extractor.normalize_vars is false, preprocessor_config.json beside"));
  TEST_ASSERT_TRUE(sound_of({{"normalize_means", false}}, kConfig, {{"processor_class", "x"}}).mean == 0.0f);
  json other = kConfig;
  other["input_feat_per_channel"] = 20;
  other["input_channels"] = 2;
  TEST_ASSERT_EQUAL_UINT32(40, sound_of({{"num_mel_bins", 40}}, other).bins);
}

TEST("speech to text: features that the original would make otherwise are refused by name") {
  const std::pair<json, const char*> cases[] = {
      {{{"sampling_rate", 8000}}, "sampling_rate 8000 is not supported; 16000 is"},
      {{{"num_mel_bins", 40}}, "num_mel_bins 40 is not supported; 80 is"},
      {{{"dither", 0.1}}, "dither adds noise"},
      {{{"feature_extractor_type", "WhisperFeatureExtractor"}}, "is not Speech2TextFeatureExtractor"},
      {{{"normalize_means", 1}}, "normalize_means is 1"},
      {{{"window_type", "hamming"}}, "window_type"}};
  for (const auto& [preprocessor, message] : cases) {
    const std::string refusal = refusal_of(preprocessor);
    CAPTURE(refusal, message);
    TEST_ASSERT_TRUE(contains(refusal, message) && contains(refusal, "preprocessor_config.json"));
  }
}

TEST("speech to text: ids of texts and texts of ids are those of the original's tokenizer") {
  for (const json& one : known_speech().at("cases")) {
    const std::string name = one.at("name");
    const ::test::TextTokenizer tokenizer(Files(name).read());
    for (const auto& [text, ids] : one.at("encoded").items()) {
      CAPTURE(name, text);
      REQUIRE(tokenizer.encode(text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL) ==
              ids.get<std::vector<int32_t>>());
    }
    TEST_ASSERT_EQUAL_STRING(one.at("text").get<std::string>(),
                             tokenizer.decode(one.at("ids").get<std::vector<int32_t>>(), MOTE_SKIP_SPECIAL));
  }
}

TEST("speech to text: languages and large letters that are not known are refused by name") {
  Files languages("a language first");
  TEST_ASSERT_TRUE(contains(languages.file("tokenizer_config.json", {{"lang_codes", "covost"}}).refusal(),
                            "lang_codes 'covost' are not known"));
  languages.file("tokenizer_config.json", {{"lang_codes", "mustc"}, {"tgt_lang", "en"}});
  TEST_ASSERT_TRUE(contains(languages.refusal(), "tgt_lang 'en' is not known"));
  TEST_ASSERT_TRUE(contains(languages.file("tokenizer_config.json", json::object()).refusal(),
                            "the user-defined piece '<lang:pt>' is not supported"));
  json swapped = languages.vocabulary();
  std::swap(swapped["<lang:fr>"], swapped["<lang:de>"]);
  languages.file("vocab.json", swapped).file("tokenizer_config.json", {{"lang_codes", "mustc"}});
  TEST_ASSERT_TRUE(contains(languages.refusal(), "'<lang:fr>' has id 11"));
  Files letters("beams");
  json ligature = letters.vocabulary();
  ligature["ﬁ"] = ligature["bd"];
  ligature.erase("bd");
  letters.file("vocab.json", ligature).file("tokenizer_config.json", {{"do_upper_case", true}});
  TEST_ASSERT_TRUE(contains(letters.refusal(), "do_upper_case"));
  TEST_ASSERT_TRUE(contains(letters.refusal(), "U+FB01"));
}
