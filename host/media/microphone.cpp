// SPDX-License-Identifier: Apache-2.0
#include "host/media/microphone.h"

#include "host/base/error.h"

#ifdef MOTE_HAS_ALSA
#include <alsa/asoundlib.h>

#include <vector>
#endif

namespace mote::cli {

#ifdef MOTE_HAS_ALSA

namespace {

constexpr unsigned kLatencyUs = 200000;
constexpr size_t kFramesOfRecording = 1024;

class Microphone : public SoundSource {
 public:
  Microphone(const std::string& device, uint32_t rate) : device_(device), rate_(rate) {
    snd_lib_error_set_handler(silent);
    snd_pcm_t* opened = nullptr;
    check(snd_pcm_open(&opened, device.c_str(), SND_PCM_STREAM_CAPTURE, 0));
    pcm_.reset(opened);
    check(snd_pcm_set_params(opened, SND_PCM_FORMAT_S16, SND_PCM_ACCESS_RW_INTERLEAVED, 1, rate, 1,
                             kLatencyUs));
  }
  uint32_t rate() const override { return rate_; }
  size_t read(std::span<float> out) override {
    size_t done = 0;
    while (done < out.size()) {
      recorded_.resize(std::min(kFramesOfRecording, out.size() - done));
      snd_pcm_sframes_t count = snd_pcm_readi(pcm_.get(), recorded_.data(), recorded_.size());
      // What was not read in time is lost; the recording goes on.
      if (count < 0) count = snd_pcm_recover(pcm_.get(), static_cast<int>(count), 1);
      check(static_cast<int>(count));
      for (snd_pcm_sframes_t i = 0; i < count; ++i)
        out[done++] = static_cast<float>(recorded_[static_cast<size_t>(i)]) / 32768.0f;
    }
    return done;
  }
  void rewind() override { convert::fail("{}: what was recorded cannot be heard again", device_); }

 private:
  struct Close {
    void operator()(snd_pcm_t* pcm) const { snd_pcm_close(pcm); }
  };
  /// ALSA writes to standard error otherwise.
  static void silent(const char*, int, const char*, int, const char*, ...) {}
  void check(int status) const {
    if (status < 0) convert::fail("{}: it cannot be recorded from: {}", device_, snd_strerror(status));
  }

  std::string device_;
  uint32_t rate_;
  std::unique_ptr<snd_pcm_t, Close> pcm_;
  std::vector<int16_t> recorded_;
};

}  // namespace

std::unique_ptr<SoundSource> open_microphone(const std::string& device, uint32_t rate) {
  return std::make_unique<Microphone>(device, rate);
}

#else

std::unique_ptr<SoundSource> open_microphone(const std::string& device, uint32_t rate) {
  convert::fail(
      "{}: this build listens to no device, it has no ALSA; `arecord -f S16_LE -r {} -` writes what a "
      "microphone hears to standard output",
      device, rate);
}

#endif

}  // namespace mote::cli
