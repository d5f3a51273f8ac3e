// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/drawn_boxes.h"

#include <algorithm>

#include "host/base/base64.h"
#include "tools/mote/output.h"
#include "tools/mote/pages/html_page.h"

namespace mote::cli {
namespace {

constexpr float kLineShare = 1.0f / 300;  // of the picture's longer side
constexpr float kLinesOfText = 6;
constexpr std::byte kPngStart{0x89};
constexpr size_t kHueStep = 137;  // degrees, near the golden angle: neighbours differ

}  // namespace

std::string boxes_svg(std::span<const std::byte> picture, uint32_t width, uint32_t height,
                      const std::vector<DrawnBox>& boxes) {
  const float line = static_cast<float>(std::max(width, height)) * kLineShare;
  const float text = line * kLinesOfText;
  const char* type = !picture.empty() && picture[0] == kPngStart ? "png" : "jpeg";
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<image width=\"{0}\" height=\"{1}\" href=\"data:image/{2};base64,{3}\"/>\n"
      "<g font-family=\"sans-serif\" font-size=\"{4:.1f}\" stroke-width=\"{5:.1f}\">\n",
      width, height, type, convert::to_base64(picture), text, line);
  for (size_t i = boxes.size(); i-- > 0;) {  // the likeliest over the others
    const DrawnBox& box = boxes[i];
    const std::string colour = fmt::format("hsl({}, 90%, 40%)", i * kHueStep % 360);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"{}\"/>\n",
        box.left, box.top, box.right - box.left, box.bottom - box.top, colour);
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" stroke=\"white\" stroke-width=\"{:.1f}\" "
        "paint-order=\"stroke\">{} {:.0f} %</text>\n",
        std::max(box.left, 0.0f) + line, std::max(box.top, 0.0f) + text + line, colour, line,
        markup_text(one_line(box.label)), box.probability * 100);
  }
  return svg + "</g>\n</svg>\n";
}

}  // namespace mote::cli
