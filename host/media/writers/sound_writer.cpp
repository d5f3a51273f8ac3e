// SPDX-License-Identifier: Apache-2.0
#include "host/media/writers/sound_writer.h"

#include <vector>

#include "host/base/ending.h"
#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/base/samples.h"

namespace mote::cli {
namespace {

void put(std::vector<std::byte>& bytes, uint32_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
}

void put(std::vector<std::byte>& bytes, const char (&name)[5]) {
  for (size_t i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(name[i]));
}

constexpr uint32_t kSampleBytes = 2, kHeader = 36;  // bytes in front of the samples, less 8

std::vector<std::byte> wav_header(uint32_t data_bytes, uint32_t rate) {
  constexpr uint32_t kFormat = 16, kPcm = 1, kChannels = 1, kBits = 16;
  std::vector<std::byte> bytes;
  put(bytes, "RIFF");
  put(bytes, kHeader + data_bytes, 4);
  put(bytes, "WAVE");
  put(bytes, "fmt ");
  put(bytes, kFormat, 4);
  put(bytes, kPcm, 2);
  put(bytes, kChannels, 2);
  put(bytes, rate, 4);
  put(bytes, rate * kSampleBytes, 4);
  put(bytes, kSampleBytes, 2);
  put(bytes, kBits, 2);
  put(bytes, "data");
  put(bytes, data_bytes, 4);
  return bytes;
}

class WavWriter : public SoundWriter {
 public:
  WavWriter(const std::string& path, uint32_t rate) : path_(path), rate_(rate), file_(path) {
    file_.write(wav_header(0, rate));
  }
  void add(std::span<const float> samples) override {
    count_ += samples.size();
    if (count_ > most_samples(SoundFormat::wav))
      convert::fail("{}: the sound is too long for one file of WAV", path_);
    std::vector<std::byte> bytes;
    convert::add_samples(bytes, samples);
    file_.write(bytes);
  }
  void commit() override {
    file_.write_at(0, wav_header(static_cast<uint32_t>(count_ * kSampleBytes), rate_));
    file_.commit();
  }

 private:
  std::string path_;
  uint32_t rate_;
  convert::OutputFile file_;
  uint64_t count_ = 0;
};

}  // namespace

std::optional<SoundFormat> sound_format(const std::string& path) {
  const std::string end = convert::lower_ending(path);
  if (end == ".wav") return SoundFormat::wav;
#ifdef MOTE_WRITES_FLAC
  if (end == ".flac") return SoundFormat::flac;
#endif
  return std::nullopt;
}

const char* written_sounds() {
#ifdef MOTE_WRITES_FLAC
  return ".wav and .flac";
#else
  return ".wav";
#endif
}

uint64_t most_samples(SoundFormat format) {
  constexpr uint64_t kOfFlac = (uint64_t{1} << 36) - 1;  // its header counts in 36 bits
  return format == SoundFormat::flac ? kOfFlac : (UINT32_MAX - kHeader) / kSampleBytes;
}

std::unique_ptr<SoundWriter> sound_writer(SoundFormat format, const std::string& path, uint32_t rate) {
#ifdef MOTE_WRITES_FLAC
  if (format == SoundFormat::flac) return flac_writer(path, rate);
#endif
  if (format != SoundFormat::wav) convert::fail("this build writes {} alone", written_sounds());
  return std::make_unique<WavWriter>(path, rate);
}

}  // namespace mote::cli
