// SPDX-License-Identifier: Apache-2.0
//
// Self-contained pages: markup, style, script and data in one file that asks for nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mote::cli {

struct HtmlPage {
  std::string title;
  const char* style;  // besides that of all pages
  const char* body;   // between the heading and the script
  // Has the data as `data`. It defines at(id), an element; open(part), which shows a part of the data from
  // its start; and move(down, right), which the arrow keys and the buttons up, down, left and right call.
  const char* script;
};

/// As text of an element of HTML or SVG.
std::string markup_text(const std::string& text);

/// Data are text to the page, whatever they hold: no '<' is in them that could end the element.
std::string to_html(const HtmlPage& page, const nlohmann::json& data);

void write_markup(const std::string& path, const std::string& text);

}  // namespace mote::cli
