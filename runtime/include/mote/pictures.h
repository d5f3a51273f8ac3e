/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: the rows that a model that sees takes of them, and what a model that reads takes of its outputs.
 */
#ifndef MOTE_PICTURES_H_
#define MOTE_PICTURES_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a picture becomes the rows of a program that takes floats: `before` rows of 0, a row for each patch,
   from left to right and then down, `after` rows of 0. */
typedef struct mote_picture_info {
  uint32_t height, width; /* pixels, multiples of the patch's */
  uint32_t channels, patch;
  uint32_t before, after;
  uint32_t rows, row_width; /* of all; floats of each */
  /* The steps that make pixel values of a picture of any size, in this order. */
  uint32_t resize_height; /* 0: it is not resized */
  uint32_t resize_width;  /* 0: the shorter side becomes resize_height, the longer keeps the ratio */
  uint32_t resample;      /* 2: bilinear, 3: bicubic, both over all pixels that a new one covers */
  uint32_t crop_height;   /* of the middle; 0: it is not cropped */
  uint32_t crop_width;
  float rescale;                 /* of bytes; 0: the file has no such steps */
  const float *mean, *deviation; /* [channels], taken off and divided by; null without steps */
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
  /* Pixels of the resized picture, where its sides are rounded to multiples of patch * merge. 0: its sides
     are not. */
  uint32_t least_pixels, most_pixels;
  /* Sides of pictures that are cut: the longer side becomes `longest`, both become multiples of `tile`, and
     the whole picture follows as one more tile. 0: pictures are not cut. A `longest` without tiles: the
     shorter side becomes resize_height, or less where the longer would be more than `longest`; then both are
     rounded down to multiples. */
  uint32_t longest, tile;
  uint32_t frames; /* pixels of a row are [channels, frames, patch, patch], the same in each frame */
  /* Both sides are resized by one factor, and then rounded to multiples of this number. The factor is the one
     nearer to 1 of the two that make the sides resize_height and resize_width. 0: the sides become these. */
  uint32_t multiple;
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
typedef struct mote_sight_info {
  int32_t image_id;
  uint32_t features;
  uint32_t rows;  /* of each picture; 0: by its size */
  uint32_t mrope; /* 1: positions depend on the row and the column in the picture */
  /* Special tokens of a prompt, zero-terminated, in the file: around the image_ids of a picture; before those
     of a tile, {row} and {column} from 1 on; after a line of tiles; before those of the whole after them.
     Null: no tiles. */
  const char *before, *after, *tile_before, *line_after, *whole_before;
  uint64_t reserved[4];
} mote_sight_info;

/* MOTE_WRONG_STATE where the model takes no pictures' vectors. */
mote_status mote_model_get_sight(const mote_model* model, mote_sight_info* info, mote_error* error);

/* The vectors of a picture or a tile, of a grid from left to right and then down. */
typedef struct mote_seen {
  const float* features; /* [rows * columns, features] */
  uint32_t rows, columns;
} mote_seen;

/* The values, [n, input_width], of a prompt that its sequence begins with, for mote_compute. The pictures are
   those of its image_ids in order. Later tokens take none. MOTE_INVALID_ARGUMENT: the prompt has not as many
   image_ids, or not in one piece for each picture. */
mote_status mote_sight_values(const mote_model* model, const int32_t* ids, uint32_t n, const mote_seen* seen,
                              uint32_t count, float* values, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
