/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: the rows that a model that sees takes of them, and what a model that reads takes of its outputs.
 */
#ifndef MOTE_PICTURES_H_
#define MOTE_PICTURES_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of steps that make pixel values of a picture. There is at most one that resizes, then at most one
   of crop and tile, then rescale and normalize; or there are no steps. */
typedef enum mote_picture_step_kind {
  MOTE_PICTURE_RESIZE = 0,         /* to height x width */
  MOTE_PICTURE_RESIZE_SHORTER = 1, /* the shorter side becomes height, the longer keeps the ratio */
  MOTE_PICTURE_RESIZE_BOUNDED = 2, /* the same, or less where the longer would be more than `most`; then both
                                      are rounded down to multiples of `multiple` */
  MOTE_PICTURE_RESIZE_EVENLY = 3,  /* of the two factors that make the sides height and width, the one nearer
                                      to  1 is of both; each is rounded to a multiple */
  MOTE_PICTURE_RESIZE_PIXELS = 4, /* the sides become multiples, with from `least` to `most` pixels; one is at
                                     most `factor` times the other */
  MOTE_PICTURE_RESIZE_LONGER = 5, /* the longer side becomes height, the other an even number, none more than
                                     `most` */
  MOTE_PICTURE_CROP = 6,          /* height x width of the middle */
  MOTE_PICTURE_TILE = 7,          /* both sides become multiples of height, and the picture is cut into such
                                     squares; one of all of it follows them */
  MOTE_PICTURE_RESCALE = 8,       /* bytes are multiplied by `factor` */
  MOTE_PICTURE_NORMALIZE = 9,     /* `mean` is taken off, and they are divided by `deviation` */
  MOTE_PICTURE_RESIZE_PATCHES = 10 /* both sides become multiples, by the largest factor that makes at most
                                      `most` patches of them */
} mote_picture_step_kind;

enum { MOTE_MOST_PICTURE_STEPS = 8 };

/* A step; what its kind does not need is 0 or null. */
typedef struct mote_picture_step {
  mote_picture_step_kind kind;
  uint32_t filter; /* of kinds that resize, and tiles. 1: Lanczos, 2: bilinear, 3: bicubic, over all pixels
                      that a new one covers */
  uint32_t height, width, multiple, least, most;
  float factor;
  const float *mean, *deviation; /* [channels], in the file */
} mote_picture_step;

/* How a picture becomes the rows of a program that takes floats: `before` rows of 0, a row for each patch,
   from left to right and then down, `after` rows of 0. */
typedef struct mote_picture_info {
  uint32_t height, width; /* pixels, multiples of the patch's */
  uint32_t channels, patch;
  uint32_t before, after;
  uint32_t rows, row_width; /* of all; floats of each */
  uint32_t step_count;      /* 0: the file does not say how pictures become pixel values */
  float similarity_scale,
      similarity_bias; /* logits of a picture and a text: scale * cosine + bias; scale 0: none */
  int any_size;        /* 1: mote_picture_of_size takes other sizes */
  uint32_t rope_width; /* columns of rows behind the pixels */
  float rope_base;
  uint32_t positions_side; /* its square: columns of rows behind those */
  int channels_last;       /* 1: pixels of a row are [patch, patch, channels]; 0: [channels, patch, patch] */
  uint32_t merge;      /* rows of patches come in squares of merge x merge, as sides are multiples of them */
  int angles_by_place; /* 1: angles of rope grow from patch to patch; 0: from one end of the picture to the
                          other */
  int positions_by_corners; /* 1: of any size, the table's ends lie on the picture's */
  int positions_cubic;      /* 1: of any size, the table is resized by cubic convolution */
  uint32_t most_rows;       /* of a picture of any size; without any_size, rows */
  uint32_t frames;          /* pixels of a row are [channels, frames, patch, patch], the same in each frame */
  mote_picture_step steps[MOTE_MOST_PICTURE_STEPS];
  uint64_t reserved[8];
} mote_picture_info;

/* MOTE_WRONG_STATE where the model takes no pictures. */
mote_status mote_model_get_picture(const mote_model* model, mote_picture_info* info, mote_error* error);

/* Describes pictures of another size as mote_model_get_picture does; the sides are multiples of the patch's.
 */
mote_status mote_picture_of_size(const mote_model* model, uint32_t height, uint32_t width,
                                 mote_picture_info* info, mote_error* error);

/* `rows`, [rows, row_width], of pixel values [channels, height, width]. */
void mote_picture_rows(const mote_picture_info* info, const float* pixels, float* rows);

/* The rows of pictures that a model of texts takes. They are outputs of another file, of the model that sees
   (mote_encode), a row for each vector of `features` floats; a prompt has image_id for each row. */
typedef struct mote_vision_input_info {
  int32_t image_id;
  uint32_t features;
  uint32_t rows;  /* of each picture; 0: by its size */
  uint32_t mrope; /* 1: positions depend on the row and the column in the picture */
  /* Special tokens of a prompt, zero-terminated, in the file: around the image_ids of a picture; before those
     of a tile, {row} and {column} from 1 on; after a line of tiles; before those of the whole after them.
     Null: no tiles. */
  const char *before, *after, *tile_before, *line_after, *whole_before;
  uint64_t reserved[4];
} mote_vision_input_info;

/* MOTE_WRONG_STATE where the model takes no pictures' vectors. */
mote_status mote_model_get_vision_input(const mote_model* model, mote_vision_input_info* info,
                                        mote_error* error);

/* The vectors of a picture or a tile, of a grid from left to right and then down. */
typedef struct mote_picture_vectors {
  const float* features; /* [rows * columns, features] */
  uint32_t rows, columns;
} mote_picture_vectors;

/* The values, [n, input_width], of a prompt that its sequence begins with, for mote_compute. The pictures are
   those of its image_ids in order. Later tokens take none. MOTE_INVALID_ARGUMENT: the prompt has not as many
   image_ids, or not in one piece for each picture. */
mote_status mote_vision_input_values(const mote_model* model, const int32_t* ids, uint32_t n,
                                     const mote_picture_vectors* seen, uint32_t count, float* values,
                                     mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
