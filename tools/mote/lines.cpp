// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/base/error.h"
#include "tools/mote/csv.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

using nlohmann::json;

std::string named(const std::string& file) { return file == "-" ? "standard input" : file; }

/// Standard input or a file, and how far it is read.
class Source {
 public:
  explicit Source(const std::string& path) {
    if (path == "-") return;
    refuse_directory(path);
    file_.open(std::filesystem::path(path), std::ios::binary);
    if (!file_) convert::fail("cannot read {}: is it there, and may it be read?", path);
    std::error_code none;
    const auto bytes = std::filesystem::is_regular_file(path, none) ? std::filesystem::file_size(path, none)
                                                                    : std::uintmax_t{0};
    if (!none && bytes != static_cast<std::uintmax_t>(-1)) bytes_ = static_cast<double>(bytes);
  }
  std::istream& in() { return file_.is_open() ? file_ : std::cin; }
  double part() {
    if (bytes_ == 0) return -1;
    const std::streampos at = file_.tellg();
    return at < 0 ? 1 : static_cast<double>(at) / bytes_;
  }

 private:
  std::ifstream file_;
  double bytes_ = 0;
};

/// Reads the next line without its end; false: there is none.
bool read_line(std::istream& in, std::string& line) {
  if (!std::getline(in, line)) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

/// Returns the text of the key in a line that is a JSON object; nothing: an empty line.
std::optional<std::string> value_of(const std::string& line, const std::string& key,
                                    const std::string& place) {
  if (line.find_first_not_of(" \t") == std::string::npos) return std::nullopt;
  json object;
  try {
    object = json::parse(line);
  } catch (const json::parse_error&) {
    convert::fail("{}: not a JSON object", place);
  }
  if (!object.is_object()) convert::fail("{}: not a JSON object", place);
  const auto value = object.find(key);
  if (value == object.end()) convert::fail("{}: there is no key \"{}\"", place, one_line(key));
  if (!value->is_string()) convert::fail("{}: \"{}\" is no text", place, one_line(key));
  return value->get<std::string>();
}

}  // namespace

Option add_line_flags(Command& command, LineFlags& flags, bool zero) {
  Option file = command.option("--file", &flags.file, "A text file, a text a line (default: standard input)")
                    .type("LINES");
  Option csv = command
                   .option("--csv", &flags.csv,
                           "The file has commas or tabs and a header: take this column, by name or number")
                   .type("COLUMN");
  command.option("--jsonl", &flags.jsonl, "The file has a JSON object a line: take the text of this key")
      .type("KEY")
      .excludes(csv);
  Option empty =
      command.option("--empty", &flags.empty,
                     zero ? "An empty line is an empty text: its vector (text), zeros (zero), left out "
                            "(skip), an error (fail)"
                          : "An empty line is an empty text (text), is left out (skip), or an error (fail)");
  empty.type("WHAT");
  if (zero) {
    empty.one_of({"text", "zero", "skip", "fail"});
  } else {
    empty.one_of({"text", "skip", "fail"});
  }
  return file;
}

void for_each_line(const LineFlags& flags, const TakeLine& take) {
  Source source(flags.file);
  const auto place = [&](uint64_t number) { return fmt::format("{}: line {}", named(flags.file), number); };
  const auto give = [&](std::string text, uint64_t number) {
    if (text.empty() && flags.empty == "skip") return;
    if (text.empty() && flags.empty == "fail") convert::fail("{}: an empty text", place(number));
    take({std::move(text), number}, source.part());
  };
  if (!flags.csv.empty()) {
    CsvColumn column(source.in(), named(flags.file), flags.csv);
    for (std::string text; column.read(text);) give(std::move(text), column.line());
    return;
  }
  uint64_t number = 0;
  for (std::string line; read_line(source.in(), line);) {
    ++number;
    if (flags.jsonl.empty()) {
      give(std::move(line), number);
    } else if (std::optional<std::string> text = value_of(line, flags.jsonl, place(number))) {
      give(*std::move(text), number);
    }
  }
  if (source.in().bad()) convert::fail("cannot read {}: reading failed", named(flags.file));
}

HostResult call_with_lines(const std::string& file, std::span<const Line> lines, size_t each,
                           const std::vector<mote_host_input>& inputs,
                           const std::function<HostResult(std::span<const mote_host_input>)>& call) {
  try {
    return call(inputs);
  } catch (const HostFailure&) {
    for (size_t i = 0; i < lines.size(); ++i) {
      try {
        call(std::span(inputs).subspan(i * each, each));
      } catch (const HostFailure& failure) {
        const char* advice = lines[i].text.empty() ? "; --empty says what else becomes of empty lines" : "";
        throw HostFailure(
            fmt::format("{}: line {}: {}{}", named(file), lines[i].number, failure.what(), advice),
            failure.code(), failure.remedy());
      }
    }
    throw;
  }
}

}  // namespace mote::cli
