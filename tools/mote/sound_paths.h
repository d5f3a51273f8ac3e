// SPDX-License-Identifier: Apache-2.0
//
// The files of sound, or pictures, that a command is given by their names and by folders.
#pragma once

#include <string>
#include <vector>

namespace mote::cli {

struct MediaPath {
  std::string path;
  std::string name;  // without ending; of a file in a folder the path from there
};

enum class Media { sounds, pictures };

/// Returns the files, those of folders and of all folders in them by the endings of their names, in order.
/// "-" stays. Throws convert::Error for a folder without any, and where it cannot be read.
std::vector<MediaPath> media_paths(const std::vector<std::string>& given, Media media);

}  // namespace mote::cli
