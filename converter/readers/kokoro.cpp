// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/kokoro.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "host/base/error.h"

namespace mote::convert {
namespace {

[[noreturn]] void fail_kokoro(const std::string& where) {
  fail(
      "{} is of a Kokoro (StyleTTS 2), which is not supported: its LSTMs run in both directions, and its "
      "decoder takes sines of values (Snake, a harmonic source, an inverse Fourier transform), for which "
      "there are no operations; voices of Piper and VITS are",
      where);
}

}  // namespace

void refuse_kokoro(const nlohmann::json& config, const std::string& where) {
  const auto has = [&](const char* key) { return config.contains(key) && config[key].is_object(); };
  if (has("istftnet") && has("plbert")) fail_kokoro(where);
  if (config.is_object() && config.value("model_type", nlohmann::json()) == "style_text_to_speech_2")
    fail_kokoro(where);
}

void refuse_kokoro(const OnnxGraph& graph, const std::string& where) {
  const auto takes = [&](std::string_view name) {
    return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                       [&](const OnnxInput& input) { return input.name == name; });
  };
  if (takes("style") && takes("speed") && (takes("tokens") || takes("input_ids"))) fail_kokoro(where);
}

}  // namespace mote::convert
