// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/template.h"

#include "host/base/work_budget.h"
#include "host/chat/jinja/parser.h"
#include "host/chat/jinja/renderer.h"

namespace mote::convert::jinja {
namespace {

bool reads_below(const Node& node, std::string_view name) {
  bool found = node.kind == NodeKind::name && node.text == name;
  for_each_child(node, [&](const Node& child) { found = found || reads_below(child, name); });
  return found;
}

NodeRef parsed(std::string_view source) {
  const WorkBudget budget("a template", source.size());
  try {
    charge_work(source.size());
    return parse(source);
  } catch (const WorkExceeded& error) {
    throw Unsupported(error.what());
  }
}

}  // namespace

Template::Template(std::string_view source) : program_(parsed(source)) {}
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

std::string Template::render(const Variables& variables, const Time& now, const Limits& limits) const {
  return Renderer(variables, now, limits).run(*program_);
}

bool Template::reads(std::string_view name) const { return reads_below(*program_, name); }

}  // namespace mote::convert::jinja
