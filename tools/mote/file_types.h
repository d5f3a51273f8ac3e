// SPDX-License-Identifier: Apache-2.0
//
// The file's tables, for headers that name them alone.
#pragma once

namespace mote::file {
struct Model;
struct Op;
struct Program;
}  // namespace mote::file
