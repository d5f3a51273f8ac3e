// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: chat templates.
#include "host/api/inputs.h"
#include "host/api/result.h"
#include "host/base/error.h"
#include "host/base/options.h"
#include "host/chat/conversation.h"

using mote::api::Reply;
using mote::host::Status;
namespace jinja = mote::convert::jinja;

mote_host_result* mote_host_template(const mote_host_input* inputs, size_t count, const char* json_options) {
  return mote::api::respond([&](Reply& reply) -> Status {
    const mote::api::Inputs given = mote::api::inputs_of(inputs, count, 2, 2);
    mote::api::Options options(json_options);
    std::string date;
    bool no_answer = false;
    nlohmann::json variables = nlohmann::json::object();
    options.read("date", date);
    options.read("no-answer", no_answer);
    options.read("set", variables);
    options.finish();
    if (!variables.is_object())
      throw mote::api::OptionError("option \"set\": expected an object of variables");
    mote::convert::Conversation conversation =
        mote::convert::read_conversation(mote::api::text_of(given[1]), "the conversation");
    if (no_answer) conversation.answer = false;
    if (!date.empty()) conversation.now = jinja::parse_time(date);
    for (const auto& [name, value] : variables.items())
      conversation.set(name, mote::convert::parse_ordered_json(value.dump(), name));
    try {
      reply.json = {
          {"text", mote::convert::render_chat(jinja::Template(mote::api::text_of(given[0])), conversation)}};
    } catch (const jinja::Unsupported& error) {
      mote::convert::fail("the template is not understood: {}", error.what());
    } catch (const jinja::Refusal& error) {
      mote::convert::fail("the template refuses: {}", error.what());
    }
    return {};
  });
}
