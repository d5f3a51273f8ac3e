// SPDX-License-Identifier: Apache-2.0
//
// Self-contained pages: markup, style, script and data in one file that asks for nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mote::cli {

struct HtmlPage {
  std::string title;
  const char* style;   // besides that of all pages
  const char* body;    // between the heading and the script
  const char* script;  // has the data as `data`
};

/// Data are text to the page, whatever they hold: no '<' is in them that could end the element.
std::string to_html(const HtmlPage& page, const nlohmann::json& data);

void write_html(const std::string& path, const std::string& html);

}  // namespace mote::cli
