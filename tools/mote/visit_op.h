// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/mote_generated.h"

namespace mote::cli {

/// Calls visit(table) with the table of the operation, of whichever type it is.
template <class Visit>
void visit_op(const file::Op& op, Visit visit) {
  const auto visit_if = [&](const auto* table) {
    if (table != nullptr) visit(*table);
    return table != nullptr;
  };
  (void)(visit_if(op.args_as_Embed()) || visit_if(op.args_as_Positions()) || visit_if(op.args_as_Norm()) ||
         visit_if(op.args_as_Quantize()) || visit_if(op.args_as_Linear()) ||
         visit_if(op.args_as_RopeTable()) || visit_if(op.args_as_Rope()) || visit_if(op.args_as_KvStore()) ||
         visit_if(op.args_as_Attention()) || visit_if(op.args_as_Gate()) || visit_if(op.args_as_Select()) ||
         visit_if(op.args_as_Pool()));
}

}  // namespace mote::cli
