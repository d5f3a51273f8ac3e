// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a PyTorch checkpoint: its archive and its pickle read, every tensor's bytes too. An input that
// is neither an archive nor a stream is taken for the pickle of one.
#include "converter/readers/pickle.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_tensors.h"
#include "tests/support/checkpoint.h"

using namespace mote::convert;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  const bool is_stream = file.size() > 2 && file[0] == '\x80' && file[2] == '\x8a';
  if (!file.starts_with("PK") && !is_stream) file = test::checkpoint(file);
  try {
    test::read_all_bytes(parse_pytorch(std::as_bytes(std::span(file)), "input"));
  } catch (const Error&) {
  }
  return 0;
}
