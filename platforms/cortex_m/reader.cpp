// SPDX-License-Identifier: Apache-2.0
//
// The reader: a line typed over the UART is a small grey picture, two hexadecimal digits a pixel, row by row;
// the answer is the label that the model, such as `digits`, gives it, with the logit. "exit" ends the run.
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "console.h"
#include "mote/mote.h"
#include "startup.h"

extern "C" {
extern const unsigned char firmware_model[], firmware_model_end[];
}

namespace {

constexpr uint32_t kMaxPixels = 32 * 32, kMaxColours = 3, kMaxLabels = 32;
constexpr uint32_t kMaxRowFloats = kMaxPixels * kMaxColours + 4096;  // with rows beside those of patches

alignas(8) unsigned char storage[MOTE_MODEL_BYTES];
mote_error error;

struct Reader {
  const mote_model* model;
  mote_session* session;
  mote_picture_info picture;
  mote_output_info output;
  uint8_t grey[kMaxPixels];
  uint32_t digits;  // hexadecimal ones of the line
  bool is_picture;  // the line has nothing else
  char word[8];
  uint32_t word_bytes;
  float pixels[kMaxPixels * kMaxColours], rows[kMaxRowFloats];
};

Reader reader;

mote_status refuse(const char* what) {
  strncpy(error.text, what, sizeof error.text - 1);
  return MOTE_INVALID_ARGUMENT;
}

mote_status start(Reader& r) {
  const size_t bytes = static_cast<size_t>(firmware_model_end - firmware_model);
  mote_model* model = nullptr;
  mote_status status =
      mote_model_open(firmware_model, bytes, MOTE_OPEN_CHECK_HASHES, storage, sizeof storage, &model, &error);
  if (status != MOTE_OK) return status;
  r.model = model;
  status = mote_model_get_picture(model, &r.picture, &error);
  if (status != MOTE_OK) return status;
  mote_model_get_output(model, &r.output);
  const mote_picture_info& picture = r.picture;
  if (picture.height * picture.width > kMaxPixels || picture.channels > kMaxColours ||
      picture.mean == nullptr || picture.rows * picture.row_width > kMaxRowFloats ||
      r.output.labels > kMaxLabels)
    return refuse("the model's pictures are too large");
  if (r.output.kind != MOTE_OUTPUT_SEQUENCE_LABELS || r.output.labels == 0)
    return refuse("the model labels no pictures");
  mote_session_options options = mote_session_options_default(model);
  options.context = options.chunk = picture.rows;
  options.batch = 1;
  options.logit_rows = 1;
  options.text_bytes = 0;
  const uint32_t room = static_cast<uint32_t>(arena_end - arena_start);
  status = mote_session_init(model, &options, arena_start, room, &r.session, &error);
  if (status != MOTE_OK) return status;
  print("arena: ", static_cast<uint32_t>(mote_session_bytes(model, &options)), " of ", room, " bytes\n");
  return MOTE_OK;
}

/// Equal colours of grey levels, as the model's own steps make them.
void make_pixels(Reader& r) {
  const mote_picture_info& picture = r.picture;
  const uint32_t count = picture.height * picture.width;
  for (uint32_t channel = 0; channel < picture.channels; ++channel) {
    for (uint32_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(r.grey[i]) * picture.rescale;
      r.pixels[channel * count + i] = (value - picture.mean[channel]) / picture.deviation[channel];
    }
  }
}

void answer(Reader& r) {
  make_pixels(r);
  mote_picture_rows(&r.picture, r.pixels, r.rows);
  const uint32_t length = r.picture.rows;
  mote_batch batch = {};
  batch.lengths = &length;
  batch.count = 1;
  batch.values = r.rows;
  const uint32_t begun = mote_clock::now();
  const mote_status status = mote_encode(r.session, &batch, &error);
  if (status != MOTE_OK) {
    print("failed: ", mote_status_name(status), ": ", error.text, "\n");
    return;
  }
  const float* logits = mote_session_output(r.session, 0);
  uint32_t best = 0;
  for (uint32_t i = 1; i < r.output.labels; ++i) best = logits[i] > logits[best] ? i : best;
  print(mote_model_label(r.model, best), " ", logits[best], " ",
        mote_clock::between(begun, mote_clock::now()), " ticks\n");
}

int value_of(int byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  return -1;
}

void take_byte(Reader& r, int byte) {
  if (r.word_bytes < sizeof r.word) r.word[r.word_bytes++] = static_cast<char>(byte);
  const int value = value_of(byte);
  if (value < 0 || r.digits >= 2 * kMaxPixels) {
    r.is_picture = false;
    return;
  }
  uint8_t& grey = r.grey[r.digits / 2];
  grey = static_cast<uint8_t>(r.digits % 2 == 0 ? value : grey * 16 + value);
  ++r.digits;
}

/// False where the line ends the run.
bool take_line(Reader& r) {
  const uint32_t pixels = r.picture.height * r.picture.width;
  if (r.word_bytes == 4 && memcmp(r.word, "exit", 4) == 0) return false;
  if (r.word_bytes != 0 && r.is_picture && r.digits == 2 * pixels) {
    answer(r);
  } else if (r.word_bytes != 0) {
    print("a line has ", 2 * pixels, " hexadecimal digits, of ", r.picture.height, " rows of ",
          r.picture.width, " pixels\n");
  }
  r.digits = r.word_bytes = 0;
  r.is_picture = true;
  return true;
}

void main_loop(Reader& r) {
  r.is_picture = true;
  for (;;) {
    const int byte = console_read();
    if (byte == '\n' || byte == '\r') {
      if (!take_line(r)) return;
    } else if (byte >= 0) {
      take_byte(r, byte);
    }
  }
}

}  // namespace

int main(void) {
  print("mote ", mote_version(), " on ", MOTE_BOARD, "\n");
  mote_clock::start();
  const mote_status status = start(reader);
  if (status != MOTE_OK) {
    print("failed: ", mote_status_name(status), ": ", error.text, "\n");
    return 1;
  }
  print("ready\n");
  main_loop(reader);
  print("stack ", stack_peak_bytes(), " of ", static_cast<uint32_t>(stack_top - stack_bottom), " bytes\n");
  return 0;
}
