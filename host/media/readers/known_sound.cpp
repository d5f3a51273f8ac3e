// SPDX-License-Identifier: Apache-2.0
//
// Which reader takes a sound, by its first bytes.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "host/base/error.h"
#include "host/media/readers/sound_readers.h"

namespace mote::cli {
namespace {

constexpr size_t kPageHead = 27, kMostSegments = 255, kMagic = 8;

bool begins(std::string_view bytes, std::string_view with) { return bytes.substr(0, with.size()) == with; }

std::unique_ptr<SoundSource> open_known(std::unique_ptr<SoundBytes> bytes, std::string name) {
  std::array<char, kPageHead + kMostSegments + kMagic> head{};
  const size_t count = bytes->read(reinterpret_cast<std::byte*>(head.data()), head.size());
  bytes->seek(0);
  const std::string_view all(head.data(), count);
  if (begins(all, "RIFF")) return open_wav(std::move(bytes), std::move(name));
#ifdef MOTE_HAS_FLAC
  if (begins(all, "fLaC")) return open_flac(std::move(bytes), std::move(name), false);
#endif
  if (begins(all, "OggS") && count > kPageHead) {
    // The page's packets begin behind its table of segments.
    const size_t segments = static_cast<unsigned char>(all[kPageHead - 1]);
    [[maybe_unused]] const std::string_view packet = all.substr(std::min(count, kPageHead + segments));
#ifdef MOTE_HAS_VORBIS
    if (begins(packet, "\x01vorbis")) return open_vorbis(std::move(bytes), std::move(name));
#endif
#ifdef MOTE_HAS_OPUS
    if (begins(packet, "OpusHead")) return open_opus(std::move(bytes), std::move(name));
#endif
#ifdef MOTE_HAS_FLAC
    if (begins(packet,
               "\x7F"
               "FLAC"))
      return open_flac(std::move(bytes), std::move(name), true);
#endif
  }
  convert::fail("{} is no sound of a known format: {}", name, other_sound_format(name));
}

}  // namespace

std::unique_ptr<SoundSource> open_known_sound(const std::string& path, bool once) {
  return open_known(std::make_unique<SoundBytes>(path, once), path);
}
std::unique_ptr<SoundSource> open_known_sound(std::span<const std::byte> bytes) {
  return open_known(std::make_unique<SoundBytes>(bytes), "sound");
}

}  // namespace mote::cli
