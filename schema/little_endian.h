// SPDX-License-Identifier: Apache-2.0
//
// Included by the headers of what lies in files and is used in place.
#pragma once

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error \
    "mote uses weights and tables as they lie in the file, little-endian: it cannot be built for big-endian machines"
#endif
