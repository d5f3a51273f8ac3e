// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/pages/buffer_life.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace mote::cli {
namespace {

using nlohmann::json;

/// Elements begin..end - 1 of a buffer, which an operation reads or writes.
struct Access {
  size_t op, buffer, begin, end;
  bool writes;
};

size_t number_at(const std::string& text, size_t& at) {
  size_t value = 0;
  const char* const end = text.data() + text.size();
  at = static_cast<size_t>(std::from_chars(text.data() + at, end, value).ptr - text.data());
  return value;
}

/// Adds the operands "b3[64:128] b7[0:8]" of a list.
void add_operands(const std::string& operands, size_t op, bool writes, std::vector<Access>& found) {
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    const bool starts = i == 0 || std::isalnum(static_cast<unsigned char>(operands[i - 1])) == 0;
    if (!starts || operands[i] != 'b' || std::isdigit(static_cast<unsigned char>(operands[i + 1])) == 0)
      continue;
    Access access = {op, 0, 0, SIZE_MAX, writes};
    size_t at = i + 1;
    access.buffer = number_at(operands, at);
    if (at < operands.size() && operands[at] == '[') {
      access.begin = number_at(operands, ++at);
      if (at < operands.size() && operands[at] == ':') access.end = number_at(operands, ++at);
    }
    found.push_back(access);
  }
}

/// Returns the buffer that details name behind a "+ ", a residual; or nothing.
std::string added_in(const std::string& details) {
  const size_t at = details.find("+ b");
  return at == std::string::npos ? "" : details.substr(at + 2, details.find(']', at) - at);
}

/// In the order in which they happen: an operation reads before it writes.
std::vector<Access> accesses_of(const json& ops) {
  std::vector<Access> found;
  for (size_t op = 0; op < ops.size(); ++op) {
    add_operands(ops[op].at("in").get<std::string>(), op, false, found);
    add_operands(added_in(ops[op].at("details").get<std::string>()), op, false, found);
    add_operands(ops[op].at("out").get<std::string>(), op, true, found);
  }
  return found;
}

/// Adds the stretches of one element's values.
void add_stretches(const std::vector<Access>& accesses, size_t buffer, size_t element,
                   std::vector<Stretch>& found) {
  bool holds = false;
  for (const Access& access : accesses) {
    if (access.buffer != buffer || element < access.begin || element >= access.end) continue;
    if (access.writes || !holds) {
      found.emplace_back(access.writes ? access.op : 0, access.op);
      holds = true;
    } else {
      found.back().second = access.op;
    }
  }
}

/// Joins stretches that share an operation.
std::vector<Stretch> joined(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::vector<Stretch> result;
  for (const Stretch& stretch : stretches) {
    if (!result.empty() && stretch.first <= result.back().second) {
      result.back().second = std::max(result.back().second, stretch.second);
    } else {
      result.push_back(stretch);
    }
  }
  return result;
}

}  // namespace

std::vector<std::vector<Stretch>> buffer_stretches(const json& ops, size_t buffers) {
  const std::vector<Access> accesses = accesses_of(ops);
  std::vector<std::vector<Stretch>> result;
  for (size_t buffer = 0; buffer < buffers; ++buffer) {
    std::set<size_t> elements;  // one of each part that operations treat alike
    for (const Access& access : accesses)
      if (access.buffer == buffer) elements.insert(access.begin);
    std::vector<Stretch> found;
    for (const size_t element : elements) add_stretches(accesses, buffer, element, found);
    result.push_back(joined(std::move(found)));
  }
  return result;
}

}  // namespace mote::cli
