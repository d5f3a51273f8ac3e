// SPDX-License-Identifier: Apache-2.0
#include "host/media/deflated.h"

#ifdef MOTE_HAS_ZLIB
#include <zlib.h>

#include <vector>
#endif

namespace mote::host {

#ifdef MOTE_HAS_ZLIB

std::function<size_t(std::span<const std::byte>)> deflater() {
  return [](std::span<const std::byte> bytes) -> size_t {
    const auto length = static_cast<uLong>(bytes.size());
    uLongf size = compressBound(length);
    std::vector<Bytef> room(size);
    compress2(room.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()), length,
              Z_DEFAULT_COMPRESSION);
    return size;
  };
}

#else

std::function<size_t(std::span<const std::byte>)> deflater() { return {}; }

#endif

}  // namespace mote::host
