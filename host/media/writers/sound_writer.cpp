// SPDX-License-Identifier: Apache-2.0
#include "host/media/writers/sound_writer.h"

#include <algorithm>
#include <filesystem>

#include "host/base/error.h"
#include "host/base/samples.h"

namespace mote::cli {
namespace {

void put(std::vector<std::byte>& bytes, uint32_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
}

void put(std::vector<std::byte>& bytes, const char (&name)[5]) {
  for (size_t i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(name[i]));
}

std::vector<std::byte> wav_bytes(std::span<const float> samples, uint32_t rate) {
  constexpr uint32_t kSampleBytes = 2, kHeader = 36, kFormat = 16, kPcm = 1, kChannels = 1, kBits = 16;
  const auto data = static_cast<uint32_t>(samples.size() * kSampleBytes);
  std::vector<std::byte> bytes;
  put(bytes, "RIFF");
  put(bytes, kHeader + data, 4);
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
  put(bytes, data, 4);
  convert::add_samples(bytes, samples);
  return bytes;
}

}  // namespace

std::optional<SoundFormat> sound_format(const std::string& path) {
  std::string end = std::filesystem::path(path).extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
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

std::vector<std::byte> sound_bytes(SoundFormat format, std::span<const float> samples, uint32_t rate) {
#ifdef MOTE_WRITES_FLAC
  if (format == SoundFormat::flac) return flac_bytes(samples, rate);
#endif
  if (format != SoundFormat::wav) convert::fail("this build writes {} alone", written_sounds());
  return wav_bytes(samples, rate);
}

}  // namespace mote::cli
