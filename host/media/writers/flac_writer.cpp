// SPDX-License-Identifier: Apache-2.0
//
// FLAC by libFLAC's stream encoder, which goes back to its header at the end.
#include <FLAC/stream_encoder.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/base/samples.h"
#include "host/media/writers/sound_writer.h"

namespace mote::cli {
namespace {

constexpr size_t kBlock = 4096;

/// The file, where the encoder is in it, and what went wrong.
struct Written {
  explicit Written(const std::string& path) : file(path) {}
  convert::OutputFile file;
  uint64_t at = 0;
  std::exception_ptr failure;
};

FLAC__StreamEncoderWriteStatus on_write(const FLAC__StreamEncoder*, const FLAC__byte data[], size_t count,
                                        uint32_t, uint32_t, void* user) {
  auto& to = *static_cast<Written*>(user);
  try {
    to.file.write_at(to.at, std::as_bytes(std::span(data, count)));
    to.at += count;
    return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
  } catch (...) {
    to.failure = std::current_exception();
    return FLAC__STREAM_ENCODER_WRITE_STATUS_FATAL_ERROR;
  }
}

FLAC__StreamEncoderSeekStatus on_seek(const FLAC__StreamEncoder*, FLAC__uint64 to, void* user) {
  static_cast<Written*>(user)->at = to;
  return FLAC__STREAM_ENCODER_SEEK_STATUS_OK;
}

FLAC__StreamEncoderTellStatus on_tell(const FLAC__StreamEncoder*, FLAC__uint64* at, void* user) {
  *at = static_cast<Written*>(user)->at;
  return FLAC__STREAM_ENCODER_TELL_STATUS_OK;
}

class FlacWriter : public SoundWriter {
 public:
  FlacWriter(const std::string& path, uint32_t rate)
      : path_(path),
        rate_(rate),
        written_(path),
        encoder_(FLAC__stream_encoder_new(), FLAC__stream_encoder_delete),
        block_(kBlock) {
    if (encoder_ == nullptr) throw std::bad_alloc();
    FLAC__StreamEncoder* const flac = encoder_.get();
    require(FLAC__stream_encoder_set_channels(flac, 1) != 0 &&
            FLAC__stream_encoder_set_bits_per_sample(flac, 16) != 0 &&
            FLAC__stream_encoder_set_sample_rate(flac, rate) != 0 &&
            FLAC__stream_encoder_init_stream(flac, on_write, on_seek, on_tell, nullptr, &written_) ==
                FLAC__STREAM_ENCODER_INIT_STATUS_OK);
  }

  void add(std::span<const float> samples) override {
    count_ += samples.size();
    if (count_ > most_samples(SoundFormat::flac))
      convert::fail("{}: the sound is too long for one file of FLAC", path_);
    for (size_t at = 0; at < samples.size(); at += kBlock) {
      const size_t count = std::min(kBlock, samples.size() - at);
      for (size_t i = 0; i < count; ++i) block_[i] = convert::sample_of_16_bits(samples[at + i]);
      require(FLAC__stream_encoder_process_interleaved(encoder_.get(), block_.data(),
                                                       static_cast<uint32_t>(count)) != 0);
    }
  }
  void commit() override {
    require(FLAC__stream_encoder_finish(encoder_.get()) != 0);
    written_.file.commit();
  }

 private:
  void require(bool works) {
    if (works) return;
    if (written_.failure) std::rethrow_exception(written_.failure);
    convert::fail("{}: sound of {} Hz cannot become FLAC: {}", path_, rate_,
                  FLAC__StreamEncoderStateString[FLAC__stream_encoder_get_state(encoder_.get())]);
  }

  std::string path_;
  uint32_t rate_;
  Written written_;  // outlives the encoder, which may write when it is deleted
  std::unique_ptr<FLAC__StreamEncoder, void (*)(FLAC__StreamEncoder*)> encoder_;
  std::vector<FLAC__int32> block_;
  uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<SoundWriter> flac_writer(const std::string& path, uint32_t rate) {
  return std::make_unique<FlacWriter>(path, rate);
}

}  // namespace mote::cli
