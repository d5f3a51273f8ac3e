// SPDX-License-Identifier: Apache-2.0
#include "host/media/ffmpeg_sound.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "host/base/child_output.h"
#include "host/base/system.h"
#include "host/media/sound_file.h"

namespace mote::cli {
namespace {

constexpr size_t kHead = 16, kAuHead = 24;
constexpr size_t kFramesOfPipe = 4096;
constexpr uint32_t kAuFloats = 6, kLongestNote = 1 << 20;
constexpr uint32_t kMostPipedChannels = 64, kSlowest = 1000, kFastest = 768000;

/// Returns the name of the format that a file of these first bytes has, where ffmpeg alone reads it.
const char* foreign_format(std::string_view head) {
  const auto has = [&](size_t at, std::string_view bytes) { return head.substr(at, bytes.size()) == bytes; };
  if (head.size() < kHead) return nullptr;
  if (has(4, "ftyp")) return "MP4 (M4A)";
  if (has(0, "\x1A\x45\xDF\xA3")) return "Matroska or WebM";
  if (has(0, "\x30\x26\xB2\x75")) return "ASF (WMA)";
  if (has(0, "#!AMR")) return "AMR";
  if (has(0, "FLV\x01")) return "FLV";
  if (has(0, "RIFF") && has(8, "AVI ")) return "AVI";
  // ADTS: twelve ones, a bit for the kind of MPEG, layer 0.
  const auto second = static_cast<unsigned char>(head[1]);
  if (head[0] == '\xFF' && (second & 0xF6) == 0xF0) return "AAC";
  return nullptr;
}

std::string head_of(const std::string& path) {
  const int file = path == "-" ? -1 : convert::open_to_read(path);
  if (file < 0) return "";
  std::array<char, kHead> head{};
  convert::FileStatus status;
  const bool regular = convert::status_of(file, status) && status.is_regular;
  const int64_t count = regular ? convert::read_at(file, head.data(), head.size(), 0) : 0;
  convert::close_file(file);
  return {head.data(), static_cast<size_t>(count > 0 ? count : 0)};
}

/// Starts ffmpeg. Throws convert::Error where it cannot be started.
std::unique_ptr<convert::ChildOutput> decode(const std::string& path, const char* format) {
  // A name that begins with a dash, or as an address does, stays a file's.
  const std::string name = "file:" + path;
  const char* const arguments[] = {"ffmpeg", "-nostdin",  "-v",         "quiet", "-protocol_whitelist",
                                   "file",   "-i",        name.c_str(), "-map",  "0:a:0",
                                   "-c:a",   "pcm_f32be", "-f",         "au",    "pipe:1",
                                   nullptr};
  auto decoder = std::make_unique<convert::ChildOutput>(arguments);
  if (decoder->error() == 0) return decoder;
  const std::string why =
      decoder->error() == ENOENT ? "which is not installed" : std::strerror(decoder->error());
  convert::fail("{} is no sound of a known format: it begins as {}, which mote reads by ffmpeg, {}; {}", path,
                format, why, other_sound_format(path));
}

uint32_t big_endian(const char* from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

class ForeignSound : public SoundSource {
 public:
  ForeignSound(std::string path, const char* format) : path_(std::move(path)), format_(format) { begin(); }
  uint32_t rate() const override { return rate_; }
  uint32_t channels() const override { return channels_; }
  size_t read(std::span<float> out) override {
    size_t done = 0;
    std::array<float, kMostPipedChannels> frame;
    while (done < out.size()) {
      const size_t width = 4 * size_t{channels_}, wanted = std::min(kFramesOfPipe, out.size() - done);
      const size_t count = decoder_->read(raw_.data(), wanted * width) / width;
      for (size_t i = 0; i < count; ++i) {
        for (size_t c = 0; c < channels_; ++c)
          frame[c] = std::bit_cast<float>(big_endian(raw_.data() + i * width + 4 * c));
        out[done++] = mixed(frame.data(), channels_);
      }
      read_ += count;
      if (count < wanted) {
        is_damaged_ = !decoder_->succeeded();
        break;
      }
    }
    return done;
  }
  void rewind() override { begin(); }
  std::string damage() const override {
    if (read_ == 0) return "there is no sound in it: it is empty, cut or damaged";
    if (!is_damaged_) return "";
    return fmt::format("it is damaged after {:.1f} s, where ffmpeg ends", static_cast<double>(read_) / rate_);
  }

 private:
  void begin() {
    decoder_.reset();
    decoder_ = decode(path_, format_);
    read_ = 0;
    is_damaged_ = false;
    std::array<char, kAuHead> head;
    bool found =
        decoder_->read(head.data(), head.size()) == head.size() && std::memcmp(head.data(), ".snd", 4) == 0;
    const uint32_t offset = big_endian(head.data() + 4);
    found = found && offset >= kAuHead && offset < kLongestNote && big_endian(head.data() + 12) == kAuFloats;
    raw_.resize(found ? offset - kAuHead : 0);
    if (!found || decoder_->read(raw_.data(), raw_.size()) != raw_.size())
      convert::fail("{} is no sound: it begins as {}, but ffmpeg finds none in it; `ffmpeg -i {}` says why",
                    path_, format_, path_);
    rate_ = big_endian(head.data() + 16);
    channels_ = big_endian(head.data() + 20);
    if (channels_ < 1 || channels_ > kMostPipedChannels || rate_ < kSlowest || rate_ > kFastest)
      convert::fail("{}: {} channels of {} samples a second are not supported", path_, channels_, rate_);
    raw_.resize(kFramesOfPipe * 4 * channels_);
  }

  std::string path_;
  const char* format_;
  std::unique_ptr<convert::ChildOutput> decoder_;
  uint32_t rate_ = 0, channels_ = 0;
  uint64_t read_ = 0;  // samples of a channel
  bool is_damaged_ = false;
  std::vector<char> raw_;
};

}  // namespace

std::unique_ptr<SoundSource> open_foreign_sound(const std::string& path) {
  const std::string head = head_of(path);
  const char* const format = foreign_format(head);
  return format == nullptr ? nullptr : std::make_unique<ForeignSound>(path, format);
}

}  // namespace mote::cli
