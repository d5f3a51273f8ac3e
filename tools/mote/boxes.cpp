// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/boxes.h"

#include <algorithm>

#include "host/base/base64.h"
#include "host/media/rows.h"
#include "tools/mote/output.h"
#include "tools/mote/pages/html_page.h"

namespace mote::cli {
namespace {

constexpr float kLineShare = 1.0f / 300;  // of the picture's longer side
constexpr float kLinesOfText = 6;
constexpr size_t kHueStep = 137;  // degrees, near the golden angle: neighbours differ

}  // namespace

std::vector<Box> found_boxes(const ModelFile& file, const PictureEncoder& encoder, float threshold) {
  const uint32_t labels = encoder.output().labels;
  const auto width = static_cast<float>(encoder.sides().width),
             height = static_cast<float>(encoder.sides().height);
  std::vector<Box> boxes;
  for (uint32_t row = 0; row < encoder.picture().after; ++row) {
    const std::vector<float> values = encoder.probabilities(row);  // of labels and of none, then the place
    const auto best = std::max_element(values.begin(), values.begin() + labels);
    if (!(*best > threshold)) continue;
    const float* place = values.data() + labels + 1;  // middle, width and height
    boxes.push_back({mote_model_label(file.model(), static_cast<uint32_t>(best - values.begin())), *best,
                     (place[0] - 0.5f * place[2]) * width, (place[1] - 0.5f * place[3]) * height,
                     (place[0] + 0.5f * place[2]) * width, (place[1] + 0.5f * place[3]) * height});
  }
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const Box& a, const Box& b) { return a.probability > b.probability; });
  return boxes;
}

std::string boxes_svg(std::span<const std::byte> picture, pictures::Sides sides,
                      const std::vector<Box>& boxes) {
  const float line = static_cast<float>(std::max(sides.width, sides.height)) * kLineShare;
  const float text = line * kLinesOfText;
  const char* type = pictures::type_of(picture) == pictures::FileType::png ? "png" : "jpeg";
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<image width=\"{0}\" height=\"{1}\" href=\"data:image/{2};base64,{3}\"/>\n"
      "<g font-family=\"sans-serif\" font-size=\"{4:.1f}\" stroke-width=\"{5:.1f}\">\n",
      sides.width, sides.height, type, convert::to_base64(picture), text, line);
  for (size_t i = boxes.size(); i-- > 0;) {  // the likeliest over the others
    const Box& box = boxes[i];
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
