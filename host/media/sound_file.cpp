// SPDX-License-Identifier: Apache-2.0
#include "host/media/sound_file.h"

#include <cstdlib>
#include <cstring>

#include "host/base/error.h"
#include "host/media/ffmpeg_sound.h"
#include "host/media/readers/sound_readers.h"

#ifdef MOTE_HAS_SNDFILE
#include <sndfile.h>
#endif

namespace mote::cli {
namespace {

constexpr int64_t kMostPiped = int64_t{1} << 32;  // bytes of sound from standard input

}  // namespace

const char* sound_formats() {
#ifdef MOTE_HAS_SNDFILE
  return "WAV, FLAC, MP3, Ogg Vorbis, Opus, AIFF, AU, CAF, W64 and RF64";
#else
  return "WAV"
#ifdef MOTE_HAS_FLAC
         ", FLAC"
#endif
#ifdef MOTE_HAS_VORBIS
         ", Ogg Vorbis"
#endif
#ifdef MOTE_HAS_OPUS
         ", Ogg Opus"
#endif
      ;
#endif
}

std::string other_sound_format(const std::string& name) {
  const bool named = name != "-" && name != "sound";
  return fmt::format("this build reads {}; `ffmpeg -i {} -ar 16000 out.wav` makes a WAV of others",
                     sound_formats(), named ? name : "FILE");
}

int64_t place_after_seek(int64_t at, int64_t from, int64_t offset) {
  int64_t to = 0;
  return !__builtin_add_overflow(from, offset, &to) && to >= 0 && to <= kMostPiped ? to : at;
}

#ifdef MOTE_HAS_SNDFILE

namespace {

constexpr uint32_t kLeastRate = 1000, kMostRate = 768000;
constexpr int kMostChannels = 64, kMostLog = 1 << 14;
constexpr sf_count_t kFramesAtOnce = 4096;

SF_VIRTUAL_IO calls_of_bytes() {
  SF_VIRTUAL_IO calls{};
  calls.get_filelen = [](void* user) {
    return static_cast<sf_count_t>(static_cast<SoundBytes*>(user)->size());
  };
  calls.seek = [](sf_count_t offset, int whence, void* user) {
    auto& bytes = *static_cast<SoundBytes*>(user);
    const auto at = static_cast<sf_count_t>(bytes.at());
    const sf_count_t from = whence == SEEK_CUR   ? at
                            : whence == SEEK_END ? static_cast<sf_count_t>(bytes.size())
                                                 : 0;
    const sf_count_t to = place_after_seek(at, from, offset);
    bytes.seek(static_cast<uint64_t>(to));
    return to;
  };
  calls.read = [](void* to, sf_count_t count, void* user) {
    if (count < 0) return sf_count_t{0};
    auto& bytes = *static_cast<SoundBytes*>(user);
    return static_cast<sf_count_t>(bytes.read(static_cast<std::byte*>(to), static_cast<size_t>(count)));
  };
  calls.write = [](const void*, sf_count_t, void*) { return sf_count_t{0}; };
  calls.tell = [](void* user) { return static_cast<sf_count_t>(static_cast<SoundBytes*>(user)->at()); };
  return calls;
}

class SoundFile : public SoundSource {
 public:
  explicit SoundFile(const std::string& path) {
    SF_INFO info{};
    file_.reset(sf_open(path.c_str(), SFM_READ, &info));
    begin(path, info, false);
  }
  SoundFile(std::shared_ptr<SoundBytes> bytes, const std::string& name) : bytes_(std::move(bytes)) {
    SF_INFO info{};
    SF_VIRTUAL_IO calls = calls_of_bytes();
    file_.reset(sf_open_virtual(&calls, SFM_READ, &info, bytes_.get()));
    begin(name, info, bytes_->is_piped());
  }
  uint32_t rate() const override { return rate_; }
  uint32_t channels() const override { return static_cast<uint32_t>(channels_); }
  uint64_t samples() const override { return samples_; }
  size_t read(std::span<float> out) override {
    size_t done = 0;
    while (done < out.size()) {
      const auto wanted = std::min<sf_count_t>(kFramesAtOnce, static_cast<sf_count_t>(out.size() - done));
      const sf_count_t count = sf_readf_float(file_.get(), frames_.data(), wanted);
      if (damage_.empty() && sf_error(file_.get()) != 0)
        damage_ = fmt::format("it is damaged after {:.1f} s, what follows is left out",
                              static_cast<double>(frames_read_) / rate_);
      if (count <= 0) break;
      frames_read_ += static_cast<uint64_t>(count);
      for (sf_count_t i = 0; i < count; ++i, ++done)
        out[done] = mixed(frames_.data() + i * channels_, static_cast<size_t>(channels_));
    }
    return done;
  }
  void rewind() override {
    sf_seek(file_.get(), 0, SEEK_SET);
    frames_read_ = 0;
  }
  std::string damage() const override {
    if (!damage_.empty()) return damage_;
    if (frames_read_ == 0) return "there is no sound in it: it is empty, cut or damaged";
    return is_cut_ ? "it is cut: its header tells of more sound" : "";
  }

 private:
  /// libsndfile takes what there is of a file that is shorter than its header says, and logs it. Programs
  /// that write to a pipe leave 0 or the greatest number for the length, which is no cut.
  bool logs_cut() const {
    std::vector<char> log(kMostLog);
    sf_command(file_.get(), SFC_GET_LOG_INFO, log.data(), kMostLog);
    const std::string text(log.data());
    const size_t at = text.find("data :");
    if (at == std::string::npos) return false;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const auto told = std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    return line.find("should be") != std::string::npos && told != 0 && told != UINT32_MAX;
  }

  struct Close {
    void operator()(SNDFILE* file) const { sf_close(file); }
  };

  [[noreturn]] static void refuse(const std::string& path) {
    const std::string why = sf_strerror(nullptr);
    const int code = sf_error(nullptr);
    if (code == SF_ERR_SYSTEM || code == SF_ERR_NO_ERROR) convert::fail("{}: {}", path, why);
    if (code == SF_ERR_UNRECOGNISED_FORMAT)
      convert::fail("{} is no sound of a known format: {}", path, other_sound_format(path));
    // Of MP3 without a frame, libsndfile says that the file does not exist.
    const bool exists = why.find("does not exist") != std::string::npos;
    convert::fail("{}: {} If it is sound, {}", path, exists ? "no sound is found in it." : why,
                  other_sound_format(path));
  }
  void begin(const std::string& path, const SF_INFO& info, bool piped) {
    if (file_ == nullptr) refuse(path);
    channels_ = info.channels;
    rate_ = static_cast<uint32_t>(info.samplerate);
    if (channels_ < 1 || channels_ > kMostChannels || rate_ < kLeastRate || rate_ > kMostRate)
      convert::fail("{}: {} channels of {} samples a second are not supported", path, channels_, rate_);
    frames_.resize(static_cast<size_t>(kFramesAtOnce * channels_));
    samples_ = !piped && info.frames > 0 ? static_cast<uint64_t>(info.frames) : 0;
    is_cut_ = !piped && logs_cut();  // recorders do not know the length of what they pipe
  }

  std::shared_ptr<SoundBytes> bytes_;  // outlives the file
  std::unique_ptr<SNDFILE, Close> file_;
  int channels_ = 0;
  uint32_t rate_ = 0;
  std::vector<float> frames_;
  uint64_t samples_ = 0;      // of a channel; 0: not known
  uint64_t frames_read_ = 0;  // since the start
  std::string damage_;
  bool is_cut_ = false;
};

}  // namespace

namespace {

/// Opens a WAV whose length its writer did not know, or that comes through a pipe, which is read as it comes.
/// Returns null for others, with the bytes at their begin.
std::unique_ptr<SoundSource> open_endless_wav(const std::shared_ptr<SoundBytes>& bytes,
                                              const std::string& name) {
  try {
    auto sound = open_wav(bytes, name);
    if (bytes->is_piped() || sound->samples() == 0) return sound;
  } catch (const convert::Error&) {  // libsndfile says what is wrong with it, or reads it
  }
  bytes->seek(0);
  return nullptr;
}

}  // namespace

std::unique_ptr<SoundSource> open_sound(const std::string& path, bool once) {
  if (auto foreign = open_foreign_sound(path)) return foreign;
  const auto bytes = std::make_shared<SoundBytes>(path, once);
  if (auto endless = open_endless_wav(bytes, path)) return endless;
  if (bytes->is_piped()) return std::make_unique<SoundFile>(bytes, path);
  return std::make_unique<SoundFile>(path);
}
std::unique_ptr<SoundSource> open_sound(std::span<const std::byte> bytes) {
  const auto held = std::make_shared<SoundBytes>(bytes);
  if (auto endless = open_endless_wav(held, "sound")) return endless;
  return std::make_unique<SoundFile>(held, "sound");
}

#else

std::unique_ptr<SoundSource> open_sound(const std::string& path, bool once) {
  if (auto foreign = open_foreign_sound(path)) return foreign;
  return open_known_sound(path, once);
}
std::unique_ptr<SoundSource> open_sound(std::span<const std::byte> bytes) { return open_known_sound(bytes); }

#endif

}  // namespace mote::cli
