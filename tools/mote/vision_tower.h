// SPDX-License-Identifier: Apache-2.0
//
// The file --vision names, which makes vectors of pictures.
#pragma once

#include <string>

#include "host/tasks/vision.h"
#include "tools/mote/session.h"

namespace mote::cli {

class VisionTower {
 public:
  /// Throws convert::Error for a file that makes none.
  VisionTower(const std::string& path, const SessionFlags& flags);

  /// Reads and encodes a picture. Ctrl-C ends it with Interrupted.
  host::SeenPicture see(const std::string& path) const;
  uint32_t features() const { return file_.host().output().width; }

 private:
  const SessionFlags flags_;
  ModelFile file_;
  ThreadPool pool_;
};

}  // namespace mote::cli
