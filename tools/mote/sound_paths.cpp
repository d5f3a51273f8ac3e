// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/sound_paths.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "host/base/ending.h"
#include "host/base/error.h"

namespace mote::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSounds[] = {".wav",  ".flac", ".mp3", ".ogg", ".oga",  ".opus", ".aif",
                                        ".aiff", ".au",   ".caf", ".w64", ".rf64", ".m4a",  ".mp4",
                                        ".aac",  ".webm", ".mkv", ".mka", ".mov",  ".wma",  ".amr"};
constexpr std::string_view kPictures[] = {".png", ".jpg",  ".jpeg", ".webp", ".gif", ".bmp",
                                          ".tif", ".tiff", ".pbm",  ".pgm",  ".ppm", ".pnm"};

bool has_ending(const fs::path& path, Media media) {
  const std::string ending = convert::lower_ending(path);
  const auto among = [&](const auto& all) {
    return std::find(std::begin(all), std::end(all), ending) != std::end(all);
  };
  return media == Media::sounds ? among(kSounds) : among(kPictures);
}

void add_folder(const std::string& folder, Media media, std::vector<MediaPath>& found) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error) && has_ending(at->path(), media)) paths.push_back(at->path());
  if (error) convert::fail("{}: {}", folder, error.message());
  if (paths.empty())
    convert::fail("{} holds no file of {}, by the endings of names", folder,
                  media == Media::sounds ? "sound" : "a picture");
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths)
    found.push_back({path.string(), path.lexically_relative(folder).replace_extension().string()});
}

}  // namespace

std::vector<MediaPath> media_paths(const std::vector<std::string>& given, Media media) {
  std::vector<MediaPath> found;
  for (const std::string& path : given) {
    std::error_code none;
    if (path != "-" && fs::is_directory(path, none))
      add_folder(path, media, found);
    else
      found.push_back({path, path == "-" ? "stdin" : fs::path(path).stem().string()});
  }
  return found;
}

}  // namespace mote::cli
