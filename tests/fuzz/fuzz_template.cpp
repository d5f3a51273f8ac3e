// SPDX-License-Identifier: Apache-2.0
//
// A chat template: parsed, and rendered for a conversation with little work allowed.
#include <nlohmann/json.hpp>

#include "host/chat/conversation.h"
#include "host/chat/jinja/template.h"
#include "tests/fuzz/fuzz.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const jinja::Variables variables = [] {
    const nlohmann::ordered_json messages = {{{"role", "user"}, {"content", "b \xC3\xA9"}},
                                             {{"role", "assistant"}, {"content", " a\n"}},
                                             {{"role", "user"}, {"content", "c"}}};
    const nlohmann::ordered_json others = {{"a", 1}, {"b", {1.5, nullptr, true}}, {"items", "x"}};
    return jinja::Variables{{"messages", jinja::from_json(messages)},
                            {"ms", jinja::from_json(messages)},
                            {"d", jinja::from_json(others)},
                            {"l", jinja::from_json({1, 2, 3})},
                            {"s", jinja::make_text("ctx")}};
  }();
  try {
    const jinja::Template chat({reinterpret_cast<const char*>(data), size});
    chat.render(variables, {2026, 11, 5, 9, 3, 7}, {200'000});
  } catch (const Error&) {
  }
  return 0;
}
