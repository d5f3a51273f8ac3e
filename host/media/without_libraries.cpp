// SPDX-License-Identifier: Apache-2.0
#include "host/base/error.h"
#include "host/media/png_writer.h"
#include "host/media/rows.h"

namespace mote::pictures {
namespace {

[[noreturn]] void refuse() {
  convert::fail(
      "this build reads no pictures: install libpng and libjpeg-turbo (scripts/install_packages pictures) "
      "and build again");
}

}  // namespace

void read_png(std::span<const std::byte>, const Limits&, RowSink&) { refuse(); }
void write_grey_png(const std::string&, Sides, const std::function<void(uint32_t, uint16_t*)>&) { refuse(); }
void read_jpeg(std::span<const std::byte>, const Limits&, RowSink&) { refuse(); }

}  // namespace mote::pictures
