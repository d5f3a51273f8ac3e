// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mote::convert {

/// Does nothing: who calls it has the file linked whose mbrtowc() takes UTF-8.
void take_narrow_texts_as_utf8();

}  // namespace mote::convert
