// SPDX-License-Identifier: Apache-2.0
//
// The command line's arguments: what a command takes, where each value goes, and which values are wrong
// usage. Only arguments.cpp sees the library that reads them, whose header takes longer to compile than a
// command.
//
//   void add_run(CommandLine& line) {
//     auto arguments = std::make_shared<Arguments>();
//     Command command = line.command("run", "Continue a prompt");
//     command.option("--threads", &arguments->threads, "Threads").type("N").range(1u, 256u);
//     command.flag("--json", &arguments->json, "Print a JSON object");
//     command.callback([arguments] { run_model(*arguments); });
//   }
//
// Command and Option are handles of what the CommandLine owns; values must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mote::cli {

/// Where the value of an option goes. It keeps what it has where the option is not given; a vector takes
/// more.
using Value =
    std::variant<std::string*, std::optional<std::string>*, std::vector<std::string>*, uint32_t*, uint64_t*,
                 std::optional<uint32_t>*, std::optional<int32_t>*, float*, std::optional<float>*>;

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  /// Sets the name of the value in --help; "" for nothing.
  Option& type(const std::string& name);
  /// Values are read as this type and both ends are allowed.
  Option& range(int32_t least, int32_t most);
  Option& range(uint32_t least, uint32_t most);
  Option& range(float least, float most);
  /// More than 0 and at most this.
  Option& above_zero(float most);
  Option& one_of(std::initializer_list<const char*> values);
  Option& required();
  /// For a vector: one value each time that the option is given.
  Option& repeated();
  Option& needs(Option other);
  Option& excludes(Option other);
  bool given() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  /// `names` is "--name", "-n,--name", or "NAME" for an argument by position.
  Option option(const char* names, Value value, const std::string& help);
  Option flag(const char* names, bool* value, const char* help);
  /// Options of which at least `least` and at most `most` are given.
  Command group(const char* name, const char* help, size_t least, size_t most);
  /// Called once all arguments are read.
  void callback(std::function<void()> run);

 private:
  CLI::App* app_;
};

/// An option or an argument by position, as --help has it.
struct OptionText {
  std::vector<std::string> names;    // "-p", "--prompt"; of an argument by position "FILE"
  std::string value;                 // "TEXT"; empty for a flag
  std::vector<std::string> choices;  // the only values, where they are few
  std::string help;
  bool by_position = false, required = false, several = false;
};

struct CommandText {
  std::string name, help;
  std::vector<OptionText> options;  // those of groups too
};

/// Holds the texts of all --help, for completions and the manual page.
struct HelpText {
  std::string help, exit_codes, environment;
  std::vector<OptionText> options;  // before any command
  std::vector<CommandText> commands;
};

/// Ends a callback as wrong usage, as if the option had been required().
[[noreturn]] void fail_missing(const char* name);

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  Command command(const char* name, const char* help);
  HelpText help_text() const;
  /// Runs the command given, or prints help or version. Throws UsageError, and what the command throws.
  void run(int argc, char** argv);

 private:
  std::string usage_message(const std::string& error, int argc, char** argv) const;
  std::string extras_message() const;

  std::unique_ptr<CLI::App> app_;
};

}  // namespace mote::cli
