// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/sound_flags.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

/// Returns seconds of "90", "1:30" or "0:01:30.5".
double seconds_of(const char* option, std::string_view text) {
  const auto refuse = [&] {
    usage_fail("{}: expected seconds, minutes:seconds or hours:minutes:seconds, not '{}'", option, text);
  };
  double seconds = 0;
  std::string_view left = text;
  for (int part = 0; part < 3; ++part) {
    const size_t colon = left.find(':');
    const std::string_view one = left.substr(0, colon);
    double number = 0;
    const auto [last, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    const bool right = error == std::errc() && last == one.data() + one.size() && number >= 0 &&
                       std::isfinite(number) && (part == 0 || number < 60);
    if (!right) refuse();
    seconds = seconds * 60 + number;
    if (colon == std::string_view::npos) return seconds;
    left.remove_prefix(colon + 1);
  }
  refuse();
  return 0;
}

}  // namespace

void add_sound_flags(Command& command, SoundFlags& flags) {
  command.option("--offset", &flags.offset, "Begin so far behind the sound's begin: 90, 1:30 or 0:01:30.5")
      .type("TIME");
  command.option("--duration", &flags.duration, "Hear so much and no more").type("TIME");
  command.option("--channel", &flags.channel, "The channel that is heard, by default the mean of all")
      .one_of({"mix", "left", "right"});
  command.flag("--vad", &flags.vad, "Hear the stretches alone in which somebody speaks");
}

void add_sound_options(const SoundFlags& flags, nlohmann::ordered_json& options) {
  if (flags.offset) options["offset"] = seconds_of("--offset", *flags.offset);
  if (flags.duration) {
    const double duration = seconds_of("--duration", *flags.duration);
    if (duration == 0) usage_fail("--duration: expected more than 0");
    options["duration"] = duration;
  }
  if (flags.vad) options["vad"] = true;
  if (!flags.channel.empty()) options["channel"] = flags.channel;
}

}  // namespace mote::cli
