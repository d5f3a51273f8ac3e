// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text_encoder.h"

#include "tools/mote/signals.h"

namespace mote::cli {

void TextEncoder::encode(const std::vector<EncodedText>& texts,
                         const std::function<void(size_t, uint32_t)>& use,
                         const std::vector<std::vector<uint32_t>>& rows) {
  const InterruptGuard guard;
  Relay relay;
  relay.check(encoder_.encode(texts, relay.hooks(), relay.wrap(use), rows));
}

}  // namespace mote::cli
