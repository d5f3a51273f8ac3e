// SPDX-License-Identifier: Apache-2.0
//
// Opus by libopusfile, which reads as of a pipe: it does not look for the end first.
#include <opusfile.h>

#include <algorithm>

#include "host/media/readers/decoded_sound.h"

namespace mote::cli {
namespace {

constexpr uint32_t kOpusRate = 48000;
constexpr int kLongestPacket = 5760;  // times: 120 ms
constexpr int kMostOpusChannels = 8;

class OpusSound : public DecodedSound {
 public:
  OpusSound(std::unique_ptr<SoundBytes> bytes, std::string name)
      : DecodedSound(std::move(bytes), std::move(name)), frames_(kLongestPacket * kMostOpusChannels) {
    begin();
  }

 protected:
  void start() override {
    const OpusFileCallbacks calls = {on_read, nullptr, nullptr, nullptr};
    file_.reset();
    file_.reset(op_open_callbacks(this, &calls, nullptr, 0, nullptr));
    if (file_ == nullptr) fail_to_open("Ogg Opus");
    take_format(static_cast<uint32_t>(op_channel_count(file_.get(), -1)), kOpusRate);
  }
  bool decode() override {
    int part = 0;
    const int count = op_read_float(file_.get(), frames_.data(), static_cast<int>(frames_.size()), &part);
    if (count == 0) return false;
    if (count < 0) return give_up();
    add_frames(frames_.data(), static_cast<size_t>(count),
               static_cast<uint32_t>(op_channel_count(file_.get(), part)));
    return true;
  }

 private:
  struct Free {
    void operator()(OggOpusFile* file) const { op_free(file); }
  };
  static int on_read(void* user, unsigned char* to, int count) {
    if (count <= 0) return 0;
    return static_cast<int>(static_cast<OpusSound*>(user)->take(to, static_cast<size_t>(count)));
  }

  std::vector<float> frames_;
  std::unique_ptr<OggOpusFile, Free> file_;
};

}  // namespace

std::unique_ptr<SoundSource> open_opus(std::unique_ptr<SoundBytes> bytes, std::string name) {
  return std::make_unique<OpusSound>(std::move(bytes), std::move(name));
}

}  // namespace mote::cli
