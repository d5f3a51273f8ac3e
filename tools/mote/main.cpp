// SPDX-License-Identifier: Apache-2.0
//
// mote, the command line: registers the subcommands and turns what they throw into a line and an exit code.
#include <cstdio>
#include <exception>
#include <string>

#include "tools/mote/commands/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"
#include "tools/mote/system.h"
#include "tools/mote/usage.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int report(const std::string& message, int code) {
  mote::cli::clear_progress();
  fmt::print(stderr, "mote: {}\n", mote::cli::one_line(message));
  return code;
}

int run(int argc, char** argv) {
  mote::cli::CommandLine line;
#ifdef MOTE_HAS_CONVERTER
  mote::cli::add_convert(line);
#endif
  mote::cli::add_run(line);
  mote::cli::add_chat(line);
  mote::cli::add_embed(line);
  mote::cli::add_classify(line);
  mote::cli::add_detect(line);
  mote::cli::add_depth(line);
  mote::cli::add_forward(line);
  mote::cli::add_bench(line);
  mote::cli::add_inspect(line);
  mote::cli::add_eval(line);
  mote::cli::add_grammar(line);
  mote::cli::add_tokenize(line);
  mote::cli::add_template(line);
  mote::cli::add_transcribe(line);
  mote::cli::add_speak(line);
  mote::cli::add_translate(line);
  mote::cli::add_summarize(line);
  mote::cli::add_verify(line);
  mote::cli::add_export_c(line);
  mote::cli::add_textbook(line);
  mote::cli::add_demo(line);
  mote::cli::add_get(line);
  mote::cli::add_completions(line);
  mote::cli::add_manual(line);
  line.run(argc, argv);
  mote::cli::flush_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  argv = mote::cli::begin_program(argc, argv);
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
