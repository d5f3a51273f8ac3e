// SPDX-License-Identifier: Apache-2.0
#include "host/media/sound_file.h"

#include <cmath>
#include <cstring>

#include "host/base/error.h"
#include "host/base/system.h"

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

/// Bytes in memory. Bytes that were read of standard input, which cannot seek, stay here, so that headers are
/// found again.
struct Piped {
  std::vector<char> bytes;
  sf_count_t at = 0;
  bool ended = false;

  void fill(sf_count_t end) {
    while (!ended && static_cast<sf_count_t>(bytes.size()) < end) {
      const size_t held = bytes.size();
      bytes.resize(held + 65536);
      const int64_t count = convert::read_input(bytes.data() + held, 65536);
      bytes.resize(held + static_cast<size_t>(count > 0 ? count : 0));
      ended = count <= 0 || static_cast<int64_t>(bytes.size()) > kMostPiped;
    }
  }
  sf_count_t size() {
    fill(INT64_MAX);
    return static_cast<sf_count_t>(bytes.size());
  }
};

SF_VIRTUAL_IO piped_calls() {
  SF_VIRTUAL_IO calls{};
  calls.get_filelen = [](void* user) { return static_cast<Piped*>(user)->size(); };
  calls.seek = [](sf_count_t offset, int whence, void* user) {
    auto& piped = *static_cast<Piped*>(user);
    const sf_count_t from = whence == SEEK_CUR ? piped.at : whence == SEEK_END ? piped.size() : 0;
    piped.at = place_after_seek(piped.at, from, offset);
    return piped.at;
  };
  calls.read = [](void* to, sf_count_t count, void* user) {
    auto& piped = *static_cast<Piped*>(user);
    if (count < 0) return sf_count_t{0};
    piped.fill(count > INT64_MAX - piped.at ? INT64_MAX : piped.at + count);
    const auto held = static_cast<sf_count_t>(piped.bytes.size());
    if (piped.at >= held) return sf_count_t{0};
    if (count > held - piped.at) count = held - piped.at;
    std::memcpy(to, piped.bytes.data() + piped.at, static_cast<size_t>(count));
    piped.at += count;
    return count;
  };
  calls.write = [](const void*, sf_count_t, void*) { return sf_count_t{0}; };
  calls.tell = [](void* user) { return static_cast<Piped*>(user)->at; };
  return calls;
}

class SoundFile : public SoundSource {
 public:
  explicit SoundFile(const std::string& path) {
    SF_INFO info{};
    if (path == "-") {
      open_piped(info);
    } else {
      file_.reset(sf_open(path.c_str(), SFM_READ, &info));
    }
    begin(path, info);
  }
  explicit SoundFile(std::span<const std::byte> bytes) {
    SF_INFO info{};
    const auto* chars = reinterpret_cast<const char*>(bytes.data());
    piped_.bytes.assign(chars, chars + bytes.size());
    piped_.ended = true;
    open_piped(info);
    begin("sound", info);
  }
  uint32_t rate() const override { return rate_; }
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
      for (sf_count_t i = 0; i < count; ++i, ++done) {
        float sum = 0;
        for (int c = 0; c < channels_; ++c) sum += frames_[static_cast<size_t>(i * channels_ + c)];
        // A value that is no number, in a damaged file of floats, is silence.
        out[done] = std::isfinite(sum) ? sum / static_cast<float>(channels_) : 0.0f;
      }
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
  /// libsndfile takes what there is of a file that is shorter than its header says, and logs it.
  bool logs_cut() const {
    std::vector<char> log(kMostLog);
    sf_command(file_.get(), SFC_GET_LOG_INFO, log.data(), kMostLog);
    const std::string text(log.data());
    const size_t at = text.find("data :");
    return at != std::string::npos &&
           text.substr(at, text.find('\n', at) - at).find("should be") != std::string::npos;
  }

  struct Close {
    void operator()(SNDFILE* file) const { sf_close(file); }
  };

  void open_piped(SF_INFO& info) {
    SF_VIRTUAL_IO calls = piped_calls();
    file_.reset(sf_open_virtual(&calls, SFM_READ, &info, &piped_));
  }
  [[noreturn]] static void refuse(const std::string& path) {
    const std::string why = sf_strerror(nullptr);
    const int code = sf_error(nullptr);
    if (code == SF_ERR_SYSTEM || code == SF_ERR_NO_ERROR) convert::fail("{}: {}", path, why);
    if (code == SF_ERR_UNRECOGNISED_FORMAT)
      convert::fail("{} is no sound of a known format: {}", path, other_sound_format(path));
    convert::fail("{}: {} If it is sound, {}", path, why, other_sound_format(path));
  }
  void begin(const std::string& path, const SF_INFO& info) {
    if (file_ == nullptr) refuse(path);
    channels_ = info.channels;
    rate_ = static_cast<uint32_t>(info.samplerate);
    if (channels_ < 1 || channels_ > kMostChannels || rate_ < kLeastRate || rate_ > kMostRate)
      convert::fail("{}: {} channels of {} samples a second are not supported", path, channels_, rate_);
    frames_.resize(static_cast<size_t>(kFramesAtOnce * channels_));
    is_cut_ = path != "-" && logs_cut();  // recorders do not know the length of what they pipe
  }

  Piped piped_;  // outlives the file
  std::unique_ptr<SNDFILE, Close> file_;
  int channels_ = 0;
  uint32_t rate_ = 0;
  std::vector<float> frames_;
  uint64_t frames_read_ = 0;  // since the start
  std::string damage_;
  bool is_cut_ = false;
};

}  // namespace

std::unique_ptr<SoundSource> open_sound(const std::string& path) { return std::make_unique<SoundFile>(path); }
std::unique_ptr<SoundSource> open_sound(std::span<const std::byte> bytes) {
  return std::make_unique<SoundFile>(bytes);
}

#else

std::unique_ptr<SoundSource> open_sound(const std::string& path) { return open_known_sound(path); }
std::unique_ptr<SoundSource> open_sound(std::span<const std::byte> bytes) { return open_known_sound(bytes); }

#endif

}  // namespace mote::cli
