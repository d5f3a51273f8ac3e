// SPDX-License-Identifier: Apache-2.0
//
// Nothing: CMake compiles the headers that the tests share (mote_test_headers) beside this file.
