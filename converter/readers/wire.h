// SPDX-License-Identifier: Apache-2.0
//
// Messages in the wire format of protocol buffers, read in place.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {

struct WireField {
  uint32_t number;
  uint32_t wire;  // 0: a varint, 1: 8 bytes, 2: bytes, 5: 4 bytes
  uint64_t value;
  std::span<const std::byte> bytes;

  std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// The fields of one message. Errors call the file `where`, of the kind `kind`.
class WireMessage {
 public:
  WireMessage(std::span<const std::byte> bytes, const std::string& where, const char* kind)
      : bytes_(bytes), where_(where), kind_(kind) {}

  bool done() const { return bytes_.empty(); }

  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<uint64_t>(take(1)[0]);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail("{}: a number of more than 64 bits: the file is damaged", where_);
  }

  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes_.size())
      fail("{}: an entry of {} bytes, where {} are left: the file is cut or damaged, fetch it again", where_,
           count, bytes_.size());
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  WireField next() {
    const uint64_t tag = varint();
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX) fail("{} is no {}, or damaged", where_, kind_);
    WireField field{static_cast<uint32_t>(tag >> 3), static_cast<uint32_t>(tag & 7), 0, {}};
    switch (field.wire) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.bytes = take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.bytes = take(4);
        break;
      default:
        fail("{} is no {}, or damaged", where_, kind_);
    }
    return field;
  }

  void each(const std::function<void(const WireField&)>& visit) {
    while (!done()) visit(next());
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& where_;
  const char* kind_;
};

}  // namespace mote::convert
