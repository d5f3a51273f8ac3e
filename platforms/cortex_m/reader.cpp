// SPDX-License-Identifier: Apache-2.0
//
// The reader: of small grey pictures that lie in flash, a byte a pixel, and of those typed over the UART, two
// hexadecimal digits a pixel, row by row, the label is printed that the model, such as `digits`, gives them,
// with the logit. The line "exit" ends the run.
#include <stdint.h>
#include <string.h>

#include "image.h"
#include "mote/pictures.h"

extern "C" {
extern const unsigned char firmware_data[], firmware_data_end[];  // pictures
}

namespace {

using image::error;
using image::refuse;

constexpr uint32_t kMaxPixels = 32 * 32, kMaxColours = 3, kMaxLabels = 32;
constexpr uint32_t kMaxRowFloats = kMaxPixels * kMaxColours + 4096;  // with rows beside those of patches

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

[[gnu::noinline]] mote_status start(Reader& r) {
  mote_status status = image::open(&r.model);
  if (status != MOTE_OK) return status;
  status = mote_model_get_picture(r.model, &r.picture, &error);
  if (status != MOTE_OK) return status;
  mote_model_get_output(r.model, &r.output);
  const mote_picture_info& picture = r.picture;
  if (picture.height * picture.width > kMaxPixels || picture.channels > kMaxColours ||
      picture.step_count < 2 || picture.rows * picture.row_width > kMaxRowFloats ||
      r.output.labels > kMaxLabels)
    return refuse("the model's pictures are too large");
  if (r.output.kind != MOTE_OUTPUT_SEQUENCE_LABELS || r.output.labels == 0)
    return refuse("the model labels no pictures");
  return image::start_encoder(r.model, picture.rows, &r.session);
}

/// Equal colours of grey levels, as the model's own steps make them.
void make_pixels(Reader& r) {
  const mote_picture_info& picture = r.picture;
  // Opening proves that these two are the last steps.
  const mote_picture_step &rescale = picture.steps[picture.step_count - 2],
                          &normalize = picture.steps[picture.step_count - 1];
  const uint32_t count = picture.height * picture.width;
  for (uint32_t channel = 0; channel < picture.channels; ++channel) {
    for (uint32_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(r.grey[i]) * rescale.factor;
      r.pixels[channel * count + i] = (value - normalize.mean[channel]) / normalize.deviation[channel];
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
    image::report("failed", status);
    return;
  }
  const uint32_t best = image::likeliest(r.session, r.output.labels);
  print(mote_model_label(r.model, best), " ", mote_session_output(r.session, 0)[best], " ",
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

void read_flash(Reader& r) {
  const uint32_t pixels = r.picture.height * r.picture.width;
  for (const unsigned char* from = firmware_data; from + pixels <= firmware_data_end; from += pixels) {
    memcpy(r.grey, from, pixels);
    answer(r);
  }
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
    image::report("failed", status);
    return 1;
  }
  read_flash(reader);
  print("ready\n");
  main_loop(reader);
  image::print_stack();
  return 0;
}
