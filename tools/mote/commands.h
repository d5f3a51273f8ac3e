// SPDX-License-Identifier: Apache-2.0
//
// The subcommands. Each adds itself to the application; CLI11 calls it back once the arguments are read. A
// command throws UsageError (exit 2) or any other exception (exit 1) to fail.
#pragma once

namespace CLI {
class App;
}

namespace mote::cli {

void add_convert(CLI::App& app);
void add_run(CLI::App& app);
void add_chat(CLI::App& app);
void add_embed(CLI::App& app);
void add_classify(CLI::App& app);
void add_forward(CLI::App& app);
void add_bench(CLI::App& app);
void add_inspect(CLI::App& app);
void add_eval(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_verify(CLI::App& app);

}  // namespace mote::cli
