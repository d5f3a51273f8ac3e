// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/vision_tower.h"

#include "host/media/pixel_values.h"
#include "tools/mote/signals.h"

namespace mote::cli {
namespace {

/// Returns the flags that are meant for any session: the picture decides the rest.
SessionFlags flags_of_tower(const SessionFlags& flags) {
  SessionFlags own;
  own.threads = flags.threads;
  own.backend = flags.backend;
  own.huge_pages = flags.huge_pages;
  return own;
}

}  // namespace

VisionTower::VisionTower(const std::string& path, const SessionFlags& flags)
    : flags_(flags_of_tower(flags)), file_(path, flags_), pool_(file_, flags_) {
  check(host::require_vision(file_.host()));
}

host::SeenPicture VisionTower::see(const std::string& path) const {
  mote_picture_info info;
  mote_error error{};
  check(mote_model_get_picture(file_.model(), &info, &error), error, file_.path());
  const convert::MappedFile file(path);
  const pictures::PictureParts parts = pictures::picture_parts(file.bytes(), path, info);
  const InterruptGuard guard;
  return take(host::see_picture(file_.host(), session_choices(file_, flags_, pool_), parts, hooks(), path));
}

}  // namespace mote::cli
