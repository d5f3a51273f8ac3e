// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: chat templates.
#include "host/api/answers.h"
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
    options.read("date", date);
    options.read("no-answer", no_answer);
    const mote::api::Variables variables = mote::api::template_options(options);
    options.finish();
    const std::string name = mote::api::name_of(given[0], "the template");
    mote::convert::Conversation conversation = mote::convert::read_conversation(
        mote::api::text_of(given[1]), mote::api::name_of(given[1], "the conversation"));
    if (no_answer) conversation.answer = false;
    if (!date.empty()) conversation.now = jinja::parse_time(date);
    for (const auto& [variable, value] : variables) conversation.set(variable, value);
    try {
      const std::string text =
          mote::convert::render_chat(jinja::Template(mote::api::text_of(given[0])), conversation);
      const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
      reply.bytes.assign(bytes, bytes + text.size());
      reply.json = {{"text", text}};
    } catch (const jinja::Unsupported& error) {
      mote::convert::fail("{}: not understood: {}", name, error.what());
    } catch (const jinja::Refusal& error) {
      mote::convert::fail("{}: refused: {}", name, error.what());
    }
    return {};
  });
}
