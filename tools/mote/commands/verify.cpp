// SPDX-License-Identifier: Apache-2.0
//
// mote verify: hashes every tensor and replays the run that the converter stored.
#include <memory>

#include "host/base/error.h"
#include "schema/mote_generated.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"

namespace mote::cli {
namespace {

struct VerifyArguments {
  std::string file;
  SessionFlags session;
};

void verify_model(const VerifyArguments& arguments) {
  const ModelFile file(arguments.file, MOTE_OPEN_CHECK_HASHES, arguments.session.huge_pages);
  const file::Model* model = file::GetSizePrefixedModel(file.bytes().data());
  print("ok: structure of {}\n", human_bytes(file.bytes().size()));
  print("ok: hashes of {} tensors, {}\n", model->tensors()->size(), human_bytes(file.info().weight_bytes));
  if (model->self_test() == nullptr) {
    print("no self test in the file\n");
    return;
  }
  const ThreadPool pool(file, arguments.session);
  Session session(file, session_options(file, arguments.session, pool));
  mote_self_test result = {};
  mote_error error = {};
  const mote_status status = mote_session_self_test(session.get(), &result, &error);
  if (status != MOTE_OK) flush_output();
  check(status, error, file.path() + ": self test");
  const std::string ids =
      result.ids == 0 ? "" : fmt::format(", {} of {} ids equal", result.equal_ids, result.ids);
  print("ok: self test on {}{}, {} within {:.3g} (tolerance {:.3g})\n", session.isa(), ids,
        is_encoder(file) ? "outputs" : "logits", result.largest_difference, result.tolerance);
}

}  // namespace

void add_verify(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "verify", "Check a .mote file's hashes and replay its self test", verify_model);
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
