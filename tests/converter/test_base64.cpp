// SPDX-License-Identifier: Apache-2.0
#include "host/base/base64.h"

#include "tests/support/unity_style.h"

using mote::convert::from_base64;
using mote::convert::to_base64;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST("texts become the base64 of RFC 4648 and back") {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xff\xfe\xfb", "//77"}};
  for (const auto& [text, coded] : vectors) {
    TEST_ASSERT_TRUE(to_base64(bytes_of(text)) == coded);
    TEST_ASSERT_TRUE(from_base64(coded) == text);
  }
  TEST_ASSERT_TRUE(from_base64("Zg") == "f");
  TEST_ASSERT_FALSE(from_base64("Z*==").has_value());
}
