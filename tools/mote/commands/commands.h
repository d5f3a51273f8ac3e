// SPDX-License-Identifier: Apache-2.0
//
// The subcommands. Each adds itself to the command line, which calls it back once the arguments are read. A
// command throws UsageError (exit 2) or any other exception (exit 1) to fail.
#pragma once

#include "tools/mote/arguments.h"

namespace mote::cli {

void add_convert(CommandLine& line);
void add_run(CommandLine& line);
void add_chat(CommandLine& line);
void add_embed(CommandLine& line);
void add_classify(CommandLine& line);
void add_detect(CommandLine& line);
void add_depth(CommandLine& line);
void add_forward(CommandLine& line);
void add_grammar(CommandLine& line);
void add_bench(CommandLine& line);
void add_inspect(CommandLine& line);
void add_eval(CommandLine& line);
void add_tokenize(CommandLine& line);
void add_template(CommandLine& line);
void add_verify(CommandLine& line);
void add_transcribe(CommandLine& line);
void add_speak(CommandLine& line);
void add_translate(CommandLine& line);
void add_summarize(CommandLine& line);
void add_export_c(CommandLine& line);
void add_textbook(CommandLine& line);
void add_demo(CommandLine& line);
void add_get(CommandLine& line);
void add_completions(CommandLine& line);
void add_manual(CommandLine& line);

}  // namespace mote::cli
