// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/state_file.h"

#include <vector>

#include "host/base/error.h"
#include "host/base/output_file.h"

namespace mote::cli {

void save_state(const Session& session, const std::string& path) {
  std::vector<std::byte> state(mote_session_state_bytes(session.get()));
  size_t written = 0;
  mote_error error = {};
  check(mote_session_save(session.get(), state.data(), state.size(), &written, &error), error, path);
  convert::OutputFile output(path);
  output.write(state);
  output.commit();
}

void load_state(Session& session, const std::string& path) {
  const convert::MappedFile file(path);
  if (file.bytes().empty())
    convert::fail("{} is empty: it is no saved session, mote run --save-state writes one", path);
  mote_error error = {};
  check(mote_session_restore(session.get(), file.bytes().data(), file.bytes().size(), &error), error, path);
}

}  // namespace mote::cli
