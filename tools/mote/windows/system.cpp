// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/system.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <shellapi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mote/posix.h"
#include "tools/mote/signals.h"

namespace mote::cli {
namespace {

std::string utf8(const wchar_t* text, int count) {
  std::string narrow(static_cast<size_t>(count) * 3, '\0');
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, count, narrow.data(),
                                        static_cast<int>(narrow.size()), nullptr, nullptr);
  narrow.resize(static_cast<size_t>(bytes));
  return narrow;
}

std::filesystem::path variable(const wchar_t* name) {
  const wchar_t* value = _wgetenv(name);
  return value == nullptr ? L"" : value;
}

UINT code_page_before = 0;

/// Makes a terminal show UTF-8 and the sequences that redraw a line, as long as the program runs.
void begin_terminal() {
  for (const DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
    const HANDLE handle = GetStdHandle(stream);
    DWORD mode = 0;
    if (!GetConsoleMode(handle, &mode)) continue;
    SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    if (code_page_before != 0) continue;
    code_page_before = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
    std::atexit([] { SetConsoleOutputCP(code_page_before); });
  }
}

/// Returns an argument as the C library's rules take it from a command line.
std::wstring quoted(const std::wstring& argument) {
  std::wstring text = L"\"";
  size_t backslashes = 0;
  for (const wchar_t character : argument) {
    if (character == L'"') text.append(backslashes + 1, L'\\');
    backslashes = character == L'\\' ? backslashes + 1 : 0;
    text += character;
  }
  return text.append(backslashes, L'\\') + L'"';
}

}  // namespace

char** begin_program(int count, char** arguments) {
  for (FILE* const stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  begin_terminal();
  static std::vector<std::string> texts;
  static std::vector<char*> pointers;
  int wide_count = 0;
  wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &wide_count);
  if (wide == nullptr || wide_count != count) return arguments;
  for (int i = 0; i < count; ++i) texts.push_back(utf8(wide[i], static_cast<int>(wcslen(wide[i]))));
  LocalFree(wide);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers.data();
}

std::filesystem::path own_program() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

std::filesystem::path cache_folder() {
  const std::filesystem::path local = variable(L"LOCALAPPDATA");
  return local.is_absolute() ? local : std::filesystem::path();
}

const char* cache_variables() { return "no LOCALAPPDATA"; }

/// The pool counts all cores: Windows does not tell of how fast they are.
uint32_t usable_cores() { return mote_posix_big_cores(); }

Typed read_terminal_line(std::string& line) {
  line.clear();
  const HANDLE terminal = GetStdHandle(STD_INPUT_HANDLE);
  std::wstring typed;
  for (;;) {
    wchar_t part[512];
    DWORD count = 0;
    if (InterruptGuard::interrupted()) return Typed::interrupt;
    SetLastError(0);
    if (!ReadConsoleW(terminal, part, static_cast<DWORD>(std::size(part)), &count, nullptr))
      return Typed::end;
    if (count == 0 && GetLastError() == ERROR_OPERATION_ABORTED) {
      for (int waited = 0; waited < 100 && !InterruptGuard::interrupted(); ++waited)
        Sleep(1);  // for its handler
      return Typed::interrupt;
    }
    if (count == 0 || (typed.empty() && (part[0] == L'\x04' || part[0] == L'\x1A')))
      return Typed::end;  // Ctrl-D, Ctrl-Z
    typed.append(part, count);
    if (typed.back() == L'\n') break;
  }
  while (!typed.empty() && (typed.back() == L'\n' || typed.back() == L'\r')) typed.pop_back();
  line = utf8(typed.data(), static_cast<int>(typed.size()));
  return Typed::line;
}

void become_python(const std::filesystem::path& program, const std::string& first,
                   const std::string& second) {
  const std::wstring words[] = {quoted(program.wstring()), quoted(std::filesystem::path(first).wstring()),
                                quoted(std::filesystem::path(second).wstring())};
  for (const wchar_t* const python : {L"python", L"py"}) {
    const intptr_t code =
        _wspawnlp(_P_WAIT, python, python, words[0].c_str(), words[1].c_str(), words[2].c_str(), nullptr);
    if (code >= 0) std::exit(static_cast<int>(code));
  }
}

}  // namespace mote::cli
