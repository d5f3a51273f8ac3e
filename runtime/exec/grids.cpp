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

}  // namespace

mote_status check_grid(const mote_session& session, uint32_t sequence, uint32_t rows, uint32_t columns,
                       mote_error* error) {
  if (!kHasMedia || columns == 0) return MOTE_OK;
  const file::Picture* picture = session.model->root->picture();
  if (picture == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "columns are of pictures; this model takes none");
  const uint32_t patches = patches_of(*picture, rows);
  if (patches != 0 && patches % columns == 0) return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " has ", rows, " rows, ",
              picture->before() + picture->after(), " of them no patches; lines of ", columns,
              " patches do not fit");
}

void set_grid(const mote_session& session, uint32_t index, uint32_t rows, uint32_t columns) {
  if (!kHasMedia || session.places.grids == nullptr) return;
  const file::Picture& picture = *session.model->root->picture();
  const uint32_t patches = patches_of(picture, rows);
  session.places.grids[index] =
      columns == 0 ? grid_without_columns(picture, patches) : GridSize{patches / columns, columns};
}

}  // namespace mote
