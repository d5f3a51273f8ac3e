// SPDX-License-Identifier: Apache-2.0
//
// FLAC by libFLAC's stream decoder, which gives a frame of at most 65,535 times of 8 channels at once.
#include <FLAC/stream_decoder.h>

#include <array>

#include "host/base/error.h"
#include "host/media/readers/decoded_sound.h"

namespace mote::cli {
namespace {

class FlacSound : public DecodedSound {
 public:
  FlacSound(std::unique_ptr<SoundBytes> bytes, std::string name, bool in_ogg)
      : DecodedSound(std::move(bytes), std::move(name)), in_ogg_(in_ogg) {
    reserve(FLAC__MAX_BLOCK_SIZE);
    begin();
  }
  std::string damage() const override {
    const std::string found = DecodedSound::damage();
    return found.empty() && is_cut_ ? "it is cut: its header tells of more sound" : found;
  }

 protected:
  void start() override {
    decoder_.reset(FLAC__stream_decoder_new());
    if (decoder_ == nullptr) throw std::bad_alloc();
    is_faulty_ = is_cut_ = false;
    wanted_ = given_ = 0;
    const auto init = in_ogg_ ? FLAC__stream_decoder_init_ogg_stream : FLAC__stream_decoder_init_stream;
    const bool begun = init(decoder_.get(), on_read, nullptr, nullptr, nullptr, nullptr, on_frame,
                            on_metadata, on_error, this) == FLAC__STREAM_DECODER_INIT_STATUS_OK;
    if (!begun || !FLAC__stream_decoder_process_until_end_of_metadata(decoder_.get()) || is_faulty_ ||
        rate() == 0)
      fail_to_open("FLAC");
  }
  bool decode() override {
    const bool worked = FLAC__stream_decoder_process_single(decoder_.get());
    if (!worked || is_faulty_) return give_up();
    if (FLAC__stream_decoder_get_state(decoder_.get()) != FLAC__STREAM_DECODER_END_OF_STREAM) return true;
    is_cut_ = given_ < wanted_ && !bytes_->is_piped();
    return false;
  }

 private:
  struct Delete {
    void operator()(FLAC__StreamDecoder* decoder) const { FLAC__stream_decoder_delete(decoder); }
  };

  static FLAC__StreamDecoderReadStatus on_read(const FLAC__StreamDecoder*, FLAC__byte* to, size_t* bytes,
                                               void* user) {
    *bytes = static_cast<FlacSound*>(user)->take(to, *bytes);
    return *bytes == 0 ? FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM
                       : FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
  }
  static FLAC__StreamDecoderWriteStatus on_frame(const FLAC__StreamDecoder*, const FLAC__Frame* frame,
                                                 const FLAC__int32* const channels[], void* user) {
    return static_cast<FlacSound*>(user)->add_frame(*frame, channels)
               ? FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
               : FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  }
  static void on_metadata(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* data, void* user) {
    if (data->type != FLAC__METADATA_TYPE_STREAMINFO) return;
    auto& sound = *static_cast<FlacSound*>(user);
    const FLAC__StreamMetadata_StreamInfo& info = data->data.stream_info;
    sound.wanted_ = info.total_samples;
    sound.in_header([&] { return sound.take_format(info.channels, info.sample_rate); });
  }
  static void on_error(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus, void* user) {
    static_cast<FlacSound*>(user)->is_faulty_ = true;
  }

  /// Runs what may throw where libFLAC, which is C, calls: a fault is told afterwards.
  template <class Take>
  void in_header(const Take& take_it) {
    try {
      if (!take_it()) is_faulty_ = true;
    } catch (const convert::Error&) {
      is_faulty_ = true;
    }
  }
  bool add_frame(const FLAC__Frame& frame, const FLAC__int32* const channels[]) {
    const FLAC__FrameHeader& header = frame.header;
    if (is_faulty_ || header.sample_rate != rate() || header.bits_per_sample < 4 ||
        header.bits_per_sample > 32) {
      is_faulty_ = true;
      return false;
    }
    const float unit = 1.0f / static_cast<float>(int64_t{1} << (header.bits_per_sample - 1));
    for (uint32_t i = 0; i < header.blocksize; ++i) {
      std::array<float, FLAC__MAX_CHANNELS> frame;
      for (uint32_t c = 0; c < header.channels; ++c) frame[c] = static_cast<float>(channels[c][i]) * unit;
      add(frame.data(), header.channels);
    }
    given_ += header.blocksize;
    return true;
  }

  bool in_ogg_, is_faulty_ = false, is_cut_ = false;
  uint64_t wanted_ = 0, given_ = 0;  // times; wanted_: as the header says, 0 where it does not know
  std::unique_ptr<FLAC__StreamDecoder, Delete> decoder_;
};

}  // namespace

std::unique_ptr<SoundSource> open_flac(std::unique_ptr<SoundBytes> bytes, std::string name, bool in_ogg) {
  return std::make_unique<FlacSound>(std::move(bytes), std::move(name), in_ogg);
}

}  // namespace mote::cli
