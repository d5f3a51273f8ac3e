// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/template_variables.h"

#include "host/base/error.h"
#include "host/base/json_text.h"
#include "tools/mote/usage.h"

namespace mote::cli {

void add_variables_option(Command command, std::vector<std::string>& given) {
  command
      .option("--set", &given,
              "A variable of the chat template, such as enable_thinking=false or bos_token='\"<s>\"'")
      .type("NAME=JSON")
      .repeated();
}

nlohmann::ordered_json given_variables(const std::vector<std::string>& given) {
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
  for (const std::string& one : given) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0) usage_fail("--set: expected NAME=JSON, got '{}'", one);
    const std::string name = one.substr(0, equals);
    try {
      variables[name] = convert::parse_ordered_json(one.substr(equals + 1), "--set " + name);
    } catch (const convert::Error& error) {
      usage_fail("{}; a text stands in double quotes", error.what());
    }
  }
  return variables;
}

}  // namespace mote::cli
