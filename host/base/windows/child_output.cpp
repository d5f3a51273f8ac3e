// SPDX-License-Identifier: Apache-2.0
//
// Programs are not started on Windows.
#include "host/base/child_output.h"

#include <cerrno>

namespace mote::convert {

ChildOutput::ChildOutput(const char* const*) : error_(ENOSYS) {}
ChildOutput::~ChildOutput() = default;
size_t ChildOutput::read(char*, size_t) const { return 0; }
bool ChildOutput::succeeded() { return false; }
void ChildOutput::wait() {}

}  // namespace mote::convert
