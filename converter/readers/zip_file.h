// SPDX-License-Identifier: Apache-2.0
//
// The entries of a zip archive that are stored without compression, as PyTorch writes them. Sizes of more
// than 4 GB (zip64) are read.
#pragma once

#include <map>
#include <span>
#include <string>

namespace mote::convert {

/// The bytes of each entry by its name, within `file`; every length and offset checked. `where` names the
/// file in messages. Throws Error.
std::map<std::string, std::span<const std::byte>> parse_zip(std::span<const std::byte> file,
                                                            const std::string& where);

}  // namespace mote::convert
