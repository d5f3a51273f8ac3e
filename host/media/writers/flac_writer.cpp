// SPDX-License-Identifier: Apache-2.0
//
// FLAC by libFLAC's stream encoder, which goes back to its header at the end.
#include <FLAC/stream_encoder.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "host/base/error.h"
#include "host/base/samples.h"
#include "host/media/writers/sound_writer.h"

namespace mote::cli {
namespace {

constexpr size_t kBlock = 4096;

struct Written {
  std::vector<std::byte> bytes;
  size_t at = 0;
};

FLAC__StreamEncoderWriteStatus on_write(const FLAC__StreamEncoder*, const FLAC__byte data[], size_t count,
                                        uint32_t, uint32_t, void* user) try {
  auto& to = *static_cast<Written*>(user);
  to.bytes.resize(std::max(to.bytes.size(), to.at + count));
  std::memcpy(to.bytes.data() + to.at, data, count);
  to.at += count;
  return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
} catch (const std::bad_alloc&) {
  return FLAC__STREAM_ENCODER_WRITE_STATUS_FATAL_ERROR;
}

FLAC__StreamEncoderSeekStatus on_seek(const FLAC__StreamEncoder*, FLAC__uint64 to, void* user) {
  static_cast<Written*>(user)->at = static_cast<size_t>(to);
  return FLAC__STREAM_ENCODER_SEEK_STATUS_OK;
}

FLAC__StreamEncoderTellStatus on_tell(const FLAC__StreamEncoder*, FLAC__uint64* at, void* user) {
  *at = static_cast<Written*>(user)->at;
  return FLAC__STREAM_ENCODER_TELL_STATUS_OK;
}

}  // namespace

std::vector<std::byte> flac_bytes(std::span<const float> samples, uint32_t rate) {
  Written written;
  const std::unique_ptr<FLAC__StreamEncoder, void (*)(FLAC__StreamEncoder*)> encoder(
      FLAC__stream_encoder_new(), FLAC__stream_encoder_delete);
  if (encoder == nullptr) throw std::bad_alloc();
  FLAC__StreamEncoder* const flac = encoder.get();
  bool works = FLAC__stream_encoder_set_channels(flac, 1) != 0 &&
               FLAC__stream_encoder_set_bits_per_sample(flac, 16) != 0 &&
               FLAC__stream_encoder_set_sample_rate(flac, rate) != 0 &&
               FLAC__stream_encoder_set_total_samples_estimate(flac, samples.size()) != 0 &&
               FLAC__stream_encoder_init_stream(flac, on_write, on_seek, on_tell, nullptr, &written) ==
                   FLAC__STREAM_ENCODER_INIT_STATUS_OK;
  std::vector<FLAC__int32> block(kBlock);
  for (size_t at = 0; works && at < samples.size(); at += kBlock) {
    const size_t count = std::min(kBlock, samples.size() - at);
    for (size_t i = 0; i < count; ++i) block[i] = convert::sample_of_16_bits(samples[at + i]);
    works = FLAC__stream_encoder_process_interleaved(flac, block.data(), static_cast<uint32_t>(count)) != 0;
  }
  if (!works || FLAC__stream_encoder_finish(flac) == 0)
    convert::fail("{} samples of {} Hz cannot become FLAC: {}", samples.size(), rate,
                  FLAC__StreamEncoderStateString[FLAC__stream_encoder_get_state(flac)]);
  return std::move(written.bytes);
}

}  // namespace mote::cli
