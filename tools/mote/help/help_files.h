// SPDX-License-Identifier: Apache-2.0
//
// Files that shells and `man` read, made of the texts of --help.
#pragma once

#include <string>
#include <string_view>

#include "tools/mote/arguments.h"

namespace mote::cli {

std::string bash_completion(const HelpText& text);
std::string zsh_completion(const HelpText& text);
std::string fish_completion(const HelpText& text);
/// Returns mote.1, in the macros of man(7).
std::string manual_page(const HelpText& text, std::string_view version);

/// Says that a value of this name in --help may be a file or a folder.
bool may_be_file(std::string_view value);
/// Returns the words with a blank between two.
std::string joined(const std::vector<std::string>& words, std::string_view between = " ");
/// Returns the text with this before each of these characters.
std::string escaped(std::string_view text, std::string_view characters, std::string_view before = "\\");

}  // namespace mote::cli
