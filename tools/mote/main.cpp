// SPDX-License-Identifier: Apache-2.0
//
// mote, the command line: registers the subcommands and turns what they throw into a line and an exit code.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "converter/did_you_mean.h"
#include "mote/mote.h"
#include "tools/mote/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"
#include "tools/mote/usage.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int report(const std::string& message, int code) {
  mote::cli::clear_progress();
  fmt::print(stderr, "mote: {}\n", mote::cli::one_line(message));
  return code;
}

/// CLI11 speaks of unread words where a subcommand was misspelt.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const auto given = app.get_subcommands();
  const std::string help = given.empty() ? "mote --help" : "mote " + given.front()->get_name() + " --help";
  if (given.empty() && argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    return fmt::format("no command '{}'{}; see {}", argv[1], mote::convert::did_you_mean(argv[1], names),
                       help);
  }
  if (given.empty() && argc == 1) return "no command given; see " + help;
  return fmt::format("{}; see {}", error.what(), help);
}

int run(int argc, char** argv) {
  CLI::App app{
      "Converts trained transformers to one file and runs them where a full framework does not fit."};
  app.name("mote");
  app.set_version_flag("--version", std::string("mote ") + mote_version(), "Print the version and exit");
  app.get_formatter()->column_width(32);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage. The environment variable MOTE_ISA (ref, avx2, ...) picks "
      "the "
      "kernel family.");
  mote::cli::add_convert(app);
  mote::cli::add_run(app);
  mote::cli::add_chat(app);
  mote::cli::add_embed(app);
  mote::cli::add_classify(app);
  mote::cli::add_forward(app);
  mote::cli::add_bench(app);
  mote::cli::add_inspect(app);
  mote::cli::add_eval(app);
  mote::cli::add_tokenize(app);
  mote::cli::add_verify(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    mote::cli::print("{}", app.help());  // of the command given, if any
  } catch (const CLI::CallForVersion& version) {
    mote::cli::print("{}\n", version.what());
  } catch (const CLI::ParseError& error) {
    return report(usage_message(app, error, argc, argv), kUsage);
  }
  mote::cli::flush_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write, and reported as one
  mote::cli::install_signal_handlers();
  try {
    return run(argc, argv);
  } catch (const mote::cli::UsageError& error) {
    return report(error.what(), kUsage);
  } catch (const mote::cli::Interrupted&) {
    mote::cli::clear_progress();
    std::fflush(stdout);  // what was printed before it holds
    mote::cli::end_interrupted();
  } catch (const std::bad_alloc&) {
    return report("not enough memory", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}
