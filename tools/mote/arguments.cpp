// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/arguments.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "host/base/did_you_mean.h"
#include "kernels/families.h"
#include "mote/mote.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

/// The type's name already says what is allowed; --help is not to say it again.
template <class T>
CLI::Validator silent_range(T least, T most) {
  return CLI::Range(least, most).description("");
}

/// Says whether the word before an argument is an option of the command that takes a value.
bool takes_value(const CLI::App& command, const std::string& word) {
  const CLI::Option* option = word[0] == '-' ? command.get_option_no_throw(word) : nullptr;
  return option != nullptr && option->get_items_expected_max() > 0;
}

/// CLI11 2.1 takes an empty word for the name of an option group, and looks for its end forever.
void refuse_empty_words(const CLI::App& app, int argc, char** argv) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (argc < 2 || !command->check_name(argv[1])) continue;
    for (int i = 2; i < argc; ++i) {
      if (argv[i][0] != '\0' || takes_value(*command, argv[i - 1])) continue;
      throw UsageError(fmt::format("argument {} is empty; see mote {} --help", i, argv[1]));
    }
  }
}

/// Returns the values of Option::one_of, which CLI11 writes behind the type: "WHAT:{stop,slide}".
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  const size_t begin = type.find(":{"), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::istringstream list(type.substr(begin + 2, end - begin - 2));
  for (std::string choice; std::getline(list, choice, ',');) choices.push_back(choice);
  return choices;
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  const std::string type = option.get_type_name();
  text.by_position = option.get_positional();
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (text.by_position) text.names.push_back(option.get_name(true, false));
  if (!text.by_position && option.get_items_expected_max() > 0) text.value = type.substr(0, type.find(':'));
  text.choices = choices_of(type);
  text.help = option.get_description();
  text.required = option.get_required();
  text.several = option.get_expected_max() == CLI::detail::expected_max_vector_size ||
                 option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return text;
}

void add_options(const CLI::App& app, std::vector<OptionText>& options) {
  const bool group = app.get_name().empty();  // whose own --help nobody sees
  for (const CLI::Option* option : app.get_options()) {
    if (!group || option != app.get_help_ptr()) options.push_back(text_of(*option));
  }
  for (const CLI::App* inside : app.get_subcommands({})) {
    if (inside->get_name().empty()) add_options(*inside, options);
  }
}

constexpr const char* kExitCodes = "0 done, 1 failed, 2 wrong usage.";

/// Returns a sentence on MOTE_ISA with all families that any build knows.
std::string environment_text() {
  std::string names;
  for (const Family& one : kFamilies) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return "The environment variable MOTE_ISA picks the kernel family: " + names + ".";
}

}  // namespace

Option& Option::type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::range(int32_t least, int32_t most) {
  option_->check(silent_range(least, most));
  return *this;
}

Option& Option::range(uint32_t least, uint32_t most) {
  option_->check(silent_range(least, most));
  return *this;
}

Option& Option::range(float least, float most) {
  option_->check(silent_range(least, most));
  return *this;
}

Option& Option::above_zero(float most) {
  option_->check(CLI::Validator(
      [most](const std::string& text) {
        float value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value > 0 && value <= most;
        return fits ? std::string() : fmt::format("{} is not above 0 and at most {}", text, most);
      },
      ""));
  return *this;
}

Option& Option::one_of(std::initializer_list<const char*> values) {
  option_->check(CLI::IsMember(std::vector<std::string>(values.begin(), values.end())));
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::repeated() {
  option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Option& Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

bool Option::given() const { return option_->count() != 0; }

Option Command::option(const char* names, Value value, const std::string& help) {
  return Option(std::visit([&](auto* into) { return app_->add_option(names, *into, help); }, value));
}

Option Command::flag(const char* names, bool* value, const char* help) {
  return Option(app_->add_flag(names, *value, help));
}

Command Command::group(const char* name, const char* help, size_t least, size_t most) {
  CLI::Option_group* group = app_->add_option_group(name, help);
  group->require_option(least, most);
  return Command(group);
}

void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

void fail_missing(const char* name) { throw CLI::RequiredError(name); }

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>(
          "Converts trained transformers to one file and runs them where a full framework does not fit.")) {
  app_->name("mote");
  app_->set_version_flag("--version", std::string("mote ") + mote_version(), "Print the version and exit");
  app_->get_formatter()->column_width(32);
  app_->require_subcommand(1);
  app_->allow_windows_style_options(false);  // a path may begin with /, and options are the same everywhere
  app_->footer(fmt::format("Exit codes: {} {}", kExitCodes, environment_text()));
}

CommandLine::~CommandLine() = default;

Command CommandLine::command(const char* name, const char* help) {
  return Command(app_->add_subcommand(name, help));
}

HelpText CommandLine::help_text() const {
  HelpText text = {app_->get_description(), kExitCodes, environment_text(), {}, {}};
  for (const CLI::Option* option : app_->get_options()) text.options.push_back(text_of(*option));
  for (const CLI::App* command : std::as_const(*app_).get_subcommands({})) {
    text.commands.push_back({command->get_name(), command->get_description(), {}});
    add_options(*command, text.commands.back().options);
  }
  return text;
}

/// CLI11 speaks of unread words where a subcommand was misspelt.
std::string CommandLine::usage_message(const std::string& error, int argc, char** argv) const {
  const auto given = app_->get_subcommands();
  const std::string help = given.empty() ? "mote --help" : "mote " + given.front()->get_name() + " --help";
  if (given.empty() && argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const CLI::App* command : std::as_const(*app_).get_subcommands({}))
      names.push_back(command->get_name());
    return fmt::format("no command '{}'{}; see {}", argv[1], convert::did_you_mean(argv[1], names), help);
  }
  if (given.empty() && argc == 1) return "no command given; see " + help;
  return fmt::format("{}; see {}", error, help);
}

/// Returns a message on the words that the command does not take: CLI11 lists all, the last one first.
std::string CommandLine::extras_message() const {
  const CLI::App& command = *app_->get_subcommands().front();
  const std::vector<std::string> left = command.remaining();
  const std::string help = "see mote " + command.get_name() + " --help";
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& word : left) {
    if (!word.starts_with("-") || word == "-") continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("mote {} has no option {}{}; {}", command.get_name(), name,
                       convert::did_you_mean(name, names), help);
  }
  return fmt::format("mote {} does not take '{}' there; {}", command.get_name(),
                     left.empty() ? std::string() : left.front(), help);
}

void CommandLine::run(int argc, char** argv) {
  refuse_empty_words(*app_, argc, argv);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print("{}", app_->help());  // of the command given, if any
  } catch (const CLI::CallForVersion& version) {
    print("{}\n", version.what());
  } catch (const CLI::ExtrasError& error) {
    if (app_->get_subcommands().empty()) throw UsageError(usage_message(error.what(), argc, argv));
    throw UsageError(extras_message());
  } catch (const CLI::ParseError& error) {
    throw UsageError(usage_message(error.what(), argc, argv));
  }
}

}  // namespace mote::cli
