// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/pages/graph_page.h"

#include <nlohmann/json.hpp>

#include "tools/mote/pages/buffer_life.h"
#include "tools/mote/pages/graph_script.h"
#include "tools/mote/pages/html_page.h"

namespace mote::cli {

using nlohmann::json;

json graph_data(const json& programs) {
  json data = programs;
  for (json& program : data) {
    json& buffers = program.at("plan").at("buffers");
    const auto stretches = buffer_stretches(program.at("ops"), buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i]["stretches"] = stretches[i];
  }
  return data;
}

std::string graph_page(const std::string& title, const json& data) {
  return to_html({title, kGraphStyle, kGraphBody, kGraphScript}, data);
}

}  // namespace mote::cli
