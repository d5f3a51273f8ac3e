// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/pages/html_page.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "host/base/output_file.h"

namespace mote::cli {
namespace {

// Arrow keys and the buttons of their names move; both pages begin at their first part.
constexpr const char* kMoves = R"(
const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
addEventListener('keydown', event => {
  if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  move(...moves[event.key]);
});
at('up').onclick = () => move(-1, 0);
at('down').onclick = () => move(1, 0);
at('left').onclick = () => move(0, -1);
at('right').onclick = () => move(0, 1);
open(0);
)";

constexpr const char* kHtmlStyle = R"(
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fdfdfb; --line: #b9c2cc; --mark: #1f6fb2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --paper: #161b20; --line: #46515c; --mark: #6bb5f0; }
}
body { margin: 0 auto; max-width: 72rem; padding: 0.75rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.2rem; margin: 0 0 0.5rem; }
button { font: inherit; min-width: 2.75rem; min-height: 2.75rem; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 0.4rem; cursor: pointer; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 1px; }
)";

std::string with_escapes(const std::string& text,
                         std::initializer_list<std::pair<char, const char*>> escapes) {
  std::string result;
  for (const char c : text) {
    const auto* const found =
        std::find_if(escapes.begin(), escapes.end(), [&](const auto& escape) { return escape.first == c; });
    if (found == escapes.end()) {
      result += c;
    } else {
      result += found->second;
    }
  }
  return result;
}

/// JSON in which '<', '>' and '&' are escapes.
std::string as_data(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return with_escapes(text, {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}});
}

}  // namespace

std::string markup_text(const std::string& text) {
  return with_escapes(text, {{'<', "&lt;"}, {'&', "&amp;"}});
}

std::string to_html(const HtmlPage& page, const nlohmann::json& data) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n";
  html += "<title>" + markup_text(page.title) + "</title>\n<style>" + kHtmlStyle + page.style +
          "</style>\n</head>\n";
  html += "<body>\n<h1>" + markup_text(page.title) + "</h1>\n" + page.body;
  html += "<script type=\"application/json\" id=\"data\">" + as_data(data) + "</script>\n";
  html += "<script>\n'use strict';\nconst data = JSON.parse(document.getElementById('data').textContent);\n";
  return html + page.script + kMoves + "</script>\n</body>\n</html>\n";
}

void write_markup(const std::string& path, const std::string& text) {
  convert::OutputFile output(path);
  output.write(std::as_bytes(std::span(text)));
  output.commit();
}

}  // namespace mote::cli
