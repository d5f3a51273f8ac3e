// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/grids.h"

#include "runtime/error.h"
#include "runtime/file/model.h"

namespace mote {
namespace {

/// Returns the rows of a sequence that are patches.
uint32_t patches_of(const file::Picture& picture, uint32_t rows) {
  const uint32_t others = picture.before() + picture.after();
  return rows > others ? rows - others : 0;
}

/// Returns the grid of a sequence without columns: the model's own, or one line of other numbers of patches,
/// as self tests have them.
GridSize grid_without_columns(const file::Picture& picture, uint32_t patches) {
  const GridSize own{picture.height() / picture.patch(), picture.width() / picture.patch()};
  if (patches == own.lines * own.columns) return own;
  return patches == 0 ? GridSize{0, 1} : GridSize{1, patches};
}

/// Returns the grid of a sequence of so many patches, `columns` of them in a line; 0: see above.
GridSize grid_of_picture(const file::Picture& picture, uint32_t patches, uint32_t columns) {
  return columns == 0 ? grid_without_columns(picture, patches) : GridSize{patches / columns, columns};
}

/// Returns the patches that each side of a picture has at least; 0: the model's rows do not depend on them.
uint32_t least_of(const mote_model& model) {
  uint32_t least = 0;
  for (const file::Program* program : *model.root->programs()) {
    const uint32_t of_program = least_side(*program);
    least = of_program > least ? of_program : least;
  }
  return least;
}

}  // namespace

mote_status check_grid(const mote_session& session, uint32_t sequence, uint32_t rows, uint32_t columns,
                       mote_error* error) {
  if (!kHasMedia) return MOTE_OK;
  const file::Picture* picture = session.model->root->picture();
  const uint32_t least = least_of(*session.model);
  if (columns == 0 && least == 0) return MOTE_OK;
  if (picture == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "columns are of pictures; this model takes none");
  const uint32_t patches = patches_of(*picture, rows);
  if (columns == 0 || (patches != 0 && patches % columns == 0)) {
    const GridSize grid = grid_of_picture(*picture, patches, columns);
    if (grid.lines >= least && grid.columns >= least) return MOTE_OK;
    return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " is a picture of ", grid.columns, " x ",
                grid.lines, " patches; this model takes at least ", least, " on each side");
  }
  return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " has ", rows, " rows, ",
              picture->before() + picture->after(), " of them no patches; lines of ", columns,
              " patches do not fit");
}

void set_grid(const mote_session& session, uint32_t index, uint32_t rows, uint32_t columns) {
  if (!kHasMedia || session.places.grids == nullptr) return;
  const file::Picture& picture = *session.model->root->picture();
  const uint32_t patches = patches_of(picture, rows);
  session.places.grids[index] = grid_of_picture(picture, patches, columns);
}

}  // namespace mote
