// SPDX-License-Identifier: Apache-2.0
//
// Vorbis by libvorbisfile, which reads as of a pipe: it does not look for the end first.
#define OV_EXCLUDE_STATIC_CALLBACKS
#include <vorbis/vorbisfile.h>

#include <array>

#include "host/base/error.h"
#include "host/media/readers/decoded_sound.h"

namespace mote::cli {
namespace {

constexpr int kTimesAtOnce = 4096;

class VorbisSound : public DecodedSound {
 public:
  VorbisSound(std::unique_ptr<SoundBytes> bytes, std::string name)
      : DecodedSound(std::move(bytes), std::move(name)) {
    begin();
  }
  ~VorbisSound() override { close(); }

 protected:
  void start() override {
    close();
    const ov_callbacks calls = {on_read, nullptr, nullptr, nullptr};
    is_open_ = ov_open_callbacks(this, &file_, nullptr, 0, calls) == 0;
    if (!is_open_) fail_to_open("Ogg Vorbis");
    take_part();
  }
  bool decode() override {
    float** channels = nullptr;
    int part = 0;
    const long count = ov_read_float(&file_, &channels, kTimesAtOnce, &part);
    if (count == 0) return false;
    if (count < 0) return give_up();
    if (part != part_ && !take_part()) return give_up();  // files may follow each other in one
    part_ = part;
    for (long i = 0; i < count; ++i) {
      std::array<float, kMostSoundChannels> frame;
      for (uint32_t c = 0; c < channels_; ++c) frame[c] = channels[c][i];
      add(frame.data(), channels_);
    }
    return true;
  }

 private:
  static size_t on_read(void* to, size_t size, size_t count, void* user) {
    if (size == 0) return 0;
    return static_cast<VorbisSound*>(user)->take(to, size * count) / size;
  }
  bool take_part() {
    const vorbis_info* info = ov_info(&file_, -1);
    channels_ = static_cast<uint32_t>(info->channels);
    return take_format(channels_, static_cast<uint32_t>(info->rate));
  }
  void close() {
    if (is_open_) ov_clear(&file_);
    is_open_ = false;
    part_ = 0;
  }

  OggVorbis_File file_{};
  bool is_open_ = false;
  int part_ = 0;
  uint32_t channels_ = 0;
};

}  // namespace

std::unique_ptr<SoundSource> open_vorbis(std::unique_ptr<SoundBytes> bytes, std::string name) {
  return std::make_unique<VorbisSound>(std::move(bytes), std::move(name));
}

}  // namespace mote::cli
