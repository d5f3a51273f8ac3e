// SPDX-License-Identifier: Apache-2.0
//
// mote verify: hashes every tensor and replays the run that the converter stored.
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

struct VerifyArguments {
  std::string file;
  SessionFlags session;
};

/// Verifies; prints the line of the hashes once the self test begins, which says that they are right.
nlohmann::json verify_with_progress(const HostModel& model) {
  bool hashed = false;
  HostCalls calls;
  calls.on_progress = [&](std::string_view stage, double part) {
    if (stage == "self test" && !hashed) {
      hashed = true;
      clear_progress();
      print("ok: hashes of {} tensors, {}\n", model.tensors(), human_bytes(model.info().weight_bytes));
    }
    show_progress(stage, part);
  };
  const HostResult result = calls.take(mote_host_verify(model.get(), calls.get()));
  clear_progress();
  return result.json();
}

void verify_model(const VerifyArguments& arguments) {
  HostModel model(arguments.file, arguments.session);
  print("ok: structure of {}\n", human_bytes(model.bytes()));
  model.begin();
  const nlohmann::json found = verify_with_progress(model);
  if (!found.at("self_test").get<bool>()) return print("no self test in the file\n");
  const auto ids = found.at("ids").get<uint32_t>();
  const std::string equal =
      ids == 0 ? "" : fmt::format(", {} of {} ids equal", found.at("equal_ids").get<uint32_t>(), ids);
  const bool encodes = model.output().kind != MOTE_OUTPUT_NEXT_TOKEN;
  print("ok: self test on {}{}, {} within {:.3g} (tolerance {:.3g})\n", found.at("isa").get<std::string>(),
        equal, encodes ? "outputs" : "logits", found.at("largest_difference").get<float>(),
        found.at("tolerance").get<float>());
}

}  // namespace

void add_verify(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "verify", "Check a .mote file's hashes and replay its self test", verify_model);
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
