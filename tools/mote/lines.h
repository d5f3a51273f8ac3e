// SPDX-License-Identifier: Apache-2.0
//
// The texts that a command takes one by one: lines, cells of a column, values of a key.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/mote/arguments.h"
#include "tools/mote/host_model.h"

namespace mote::cli {

/// Says where texts are, and what becomes of empty ones.
struct LineFlags {
  std::string file = "-";
  std::string csv;             // the column, by its name or its number from 1
  std::string jsonl;           // the key
  std::string empty = "text";  // text, skip, fail; of vectors also zero
};

/// Adds --file, --csv, --jsonl and --empty, which takes "zero" too where `zero` is set. Returns --file.
Option add_line_flags(Command& command, LineFlags& flags, bool zero);

struct Line {
  std::string text;
  uint64_t number;  // of the line that it begins on, from 1
};

/// The part of the file that is read; negative where its size is not known.
using TakeLine = std::function<void(Line line, double part)>;

/// Calls take() for each text in order. An empty line is an empty text, which "skip" leaves out and "fail"
/// refuses; in CSV and JSON lines an empty line is nothing. Throws convert::Error, with the line's number.
void for_each_line(const LineFlags& flags, const TakeLine& take);

/// Calls call(lines, inputs). Where that fails, calls it for one line after the other, each of `each` inputs,
/// and throws the first failure again with the number of its line before it.
HostResult call_with_lines(const std::string& file, std::span<const Line> lines, size_t each,
                           const std::vector<mote_host_input>& inputs,
                           const std::function<HostResult(std::span<const mote_host_input>)>& call);

}  // namespace mote::cli
