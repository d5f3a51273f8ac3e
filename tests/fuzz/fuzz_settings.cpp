// SPDX-License-Identifier: Apache-2.0
//
// Files of settings beside a model. The first byte chooses which: generation_config.json and a config.json;
// processor_config.json and preprocessor_config.json; adapter_config.json and the adapter's tensors, merged
// into a golden model; vocab.json, tokenizer_config.json and added_tokens.json of a model that hears.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/ctc_texts.h"
#include "converter/architectures/shared/sound_settings.h"
#include "converter/lora.h"
#include "converter/published_code.h"
#include "converter/readers/generation_config.h"
#include "converter/readers/processor_config.h"
#include "converter/readers/readers.h"
#include "converter/speech_tokens.h"
#include "converter/towers.h"
#include "host/base/error.h"
#include "host/base/json_text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_files.h"

using namespace mote::convert;
using nlohmann::json;

namespace {

constexpr uint32_t kVocab = 100;

Source source_of(std::string_view config) {
  Source source;
  source.format = "hf";
  source.directory = fuzz::directory().path();
  source.config_path = fuzz::directory() / "config.json";
  const std::string text = config.empty() ? "{}" : std::string(config);
  source.config =
      std::make_shared<const json>(parse_json_object(std::as_bytes(std::span(text)), "config.json", 32));
  return source;
}

void read_generation(fuzz::InputFiles& input) {
  fuzz::put_file("generation_config.json", input.text());
  Source source = source_of(input.rest());
  source.stop_ids = {1, 2};
  read_generation_defaults(source, kVocab, {}).describe();
  read_task_prefixes(source);
  unread_generation_keys(source);
  unread_speech_keys(source);
  try {
    read_beam_defaults(source, kVocab, {});
  } catch (const Error&) {
  }
  read_speech_tokens(source, nullptr, kVocab);
}

void read_config(fuzz::InputFiles& input) {
  Source source = source_of(input.rest());
  take_published_code(source);
  enter_text_tower(source);
}

void read_processor(fuzz::InputFiles& input) {
  fuzz::put_file("processor_config.json", input.text());
  fuzz::put_file("preprocessor_config.json", input.rest());
  const Source source = source_of("");
  read_picture_settings(source);
  SoundSpec sound;
  read_waveform_settings(source, sound);
  for (const auto check : {check_whisper_settings, check_parakeet_settings}) {
    try {
      check(source, sound);
    } catch (const Error&) {
    }
  }
}

void read_adapter(fuzz::InputFiles& input, bool is_safe) {
  fuzz::put_file("adapter_model.safetensors", "");
  fuzz::put_file("adapter_model.bin", "");
  fuzz::put_file("adapter_config.json", input.text());
  fuzz::put_file(is_safe ? "adapter_model.safetensors" : "adapter_model.bin", input.rest());
  Source source = read_source(MOTE_SOURCE_DIR "/tests/golden/models/qwen2");
  merge_adapter(source, fuzz::directory().path(), 1.0f);
}

void read_labels(fuzz::InputFiles& input) {
  fuzz::put_file("tokenizer_config.json", input.text());
  fuzz::put_file("added_tokens.json", input.text());
  fuzz::put_file("vocab.json", input.rest());
  read_ctc_texts(source_of(""), kVocab);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::InputFiles input(data, size);
  try {
    switch (input.byte() % 6) {
      case 0:
        read_generation(input);
        break;
      case 1:
        read_processor(input);
        break;
      case 2:
        read_labels(input);
        break;
      case 3:
        read_adapter(input, true);
        break;
      case 4:
        read_adapter(input, false);
        break;
      default:
        read_config(input);
    }
  } catch (const Error&) {
  }
  return 0;
}
