// SPDX-License-Identifier: Apache-2.0
#include "host/base/error.h"
#include "host/media/rows.h"

namespace mote::pictures {

void read_tiff(std::span<const std::byte>, const Limits&, RowSink&) {
  convert::fail(
      "this build reads no TIFF: install libtiff from 4.5 on (scripts/install_packages pictures) and build "
      "again, or make a PNG of it by `ffmpeg -i FILE out.png`");
}

}  // namespace mote::pictures
