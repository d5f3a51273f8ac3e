// SPDX-License-Identifier: Apache-2.0
//
// What the command asks of the operating system beside host/base/system.h. tools/mote/posix and
// tools/mote/windows have these functions, those of signals.h, measure/board.h and measure/resident.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace mote::cli {

/// Makes standard streams carry bytes as they are, UTF-8 on a terminal, and a closed pipe a failed write.
/// Returns the arguments in UTF-8, as many as there were. Called once, when the program starts.
char** begin_program(int count, char** arguments);

/// Returns the path of the program; empty where the system does not tell.
std::filesystem::path own_program();

/// Returns the folder for what this user's programs may lose; empty where there is none.
std::filesystem::path cache_folder();
/// Names the variables that decide cache_folder(), for a message.
const char* cache_variables();

/// Returns the cores that this process may use, small ones too.
uint32_t usable_cores();

enum class Typed { line, interrupt, end };
/// Reads a line of the terminal at standard input, without its end. Ctrl-C drops what was typed.
Typed read_terminal_line(std::string& line);

/// Ends this process by becoming Python with a program and two arguments, or, where a process cannot become
/// another, by ending as Python does. Returns only where there is no Python, with errno.
void become_python(const std::filesystem::path& program, const std::string& first, const std::string& second);

}  // namespace mote::cli
