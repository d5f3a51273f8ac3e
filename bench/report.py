# SPDX-License-Identifier: Apache-2.0
"""What compare.py measured, as lines of a table, as Markdown and as an SVG plot."""
import importlib.metadata
import math
import pathlib
import platform
import re
import statistics

HEADER = ["work", "tokens/s", "mote (spread)", "of the limit", "peers (spread)", "mote is ahead by"]
PACKAGES = ["llama-cpp-python", "onnxruntime", "openvino", "openvino-genai", "nncf", "ctranslate2"]


def number(value, digits):
    """With so many digits that count, or more before the point, never as a power of ten."""
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


class Result:
    """The numbers of a row: `own` and, by the name of a peer, `peers`, lists of which less is better."""

    def __init__(self, row, mote, own, peers):
        self.title, self.group, self.unit = row.title, row.group, row.unit
        self.own, self.peers = own, peers
        self.tokens, self.shares, self.isa = mote.tokens, mote.shares, mote.isa
        self.of_shallow = mote.of_shallow

    def ratios(self):
        return {name: statistics.median(values) / statistics.median(self.own) for name, values in self.peers.items()}

    def quantity(self, values):
        spread = f" ({number(min(values), 3)} to {number(max(values), 3)})" if len(values) > 1 else ""
        return f"{number(statistics.median(values), 3)} {self.unit}{spread}"

    def cells(self):
        speed = number(1000 * self.tokens / statistics.median(self.own), 3) if self.tokens else "-"
        share = f"{100 * statistics.median(self.shares):.0f} %" if self.shares else "-"
        if self.of_shallow:
            share += f", {100 * statistics.median(self.of_shallow):.0f} % of depth 0"
        peers = "; ".join(f"{name} {self.quantity(values)}" for name, values in self.peers.items())
        ratios = ", ".join(f"{ratio:.2f}x" for ratio in self.ratios().values())
        return [self.title, speed, self.quantity(self.own), share, peers or "-", ratios or "-"]


def version(package):
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return None


def markdown(results, arguments):
    versions = list(filter(None, map(version, PACKAGES)))
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    about = f"{cpu.group(1) if cpu else platform.processor()}, {arguments.threads} threads, kernels {results[0].isa}; " \
            f"medians of {arguments.rounds} interleaved rounds, memory once; {', '.join(versions) or 'no peers installed'}"
    rows = [HEADER, ["---"] * len(HEADER), *(result.cells() for result in results)]
    return about + "\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


# ---- The plot ----

WIN, LOSS, INK, FAINT = "#0072b2", "#d55e00", "#1c1c1c", "#5c5c5c"
LEFT, NAMES, MARGIN, OCTAVE, BAR, STEP = 20, 490, 60, 90, 13, 18  # pixels
LEAST, MOST = -2, 4  # powers of 2 that fit; bars beyond end in an arrow


def text(x, y, words, **attributes):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.0f}" y="{y:.0f}"{attributes}>{words}</text>'


class Scale:
    """Logarithmic, so that twice as fast and half as fast are equally far from 1."""

    def __init__(self, ratios):
        logs = [math.log2(ratio) for ratio in ratios]
        self.least = max(LEAST, min(-1, math.floor(min(logs))))
        self.most = min(MOST, max(1, math.ceil(max(logs))))

        self.clips = max(logs) > self.most or min(logs) < self.least

    def x(self, power):
        return NAMES + MARGIN + OCTAVE * (power - self.least)

    def width(self):
        return self.x(self.most) + MARGIN + LEFT


def bar(scale, y, ratio):
    power = math.log2(ratio)
    shown = min(max(power, scale.least), scale.most)
    one, end, sign = scale.x(0), scale.x(shown), 1 if ratio >= 1 else -1
    tip = 6 * sign if shown != power else 0
    points = [(one, y), (end, y), (end + tip, y + BAR / 2), (end, y + BAR), (one, y + BAR)]
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    return [f'<polygon points="{path}" fill="{WIN if ratio >= 1 else LOSS}"/>',
            text(end + tip + 5 * sign, y + BAR - 2, f"{ratio:.2f}x", text_anchor="start" if sign > 0 else "end")]


def axis(scale, top, bottom):
    out = []
    for power in range(scale.least, scale.most + 1):
        x = scale.x(power)
        name = f"{2 ** power}x" if power >= 0 else f"1/{2 ** -power}x"
        out.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" '
                   + (f'stroke="{INK}"/>' if power == 0 else 'stroke="#dddddd"/>'))
        out += [text(x, y, name, text_anchor="middle", fill=FAINT) for y in (top - 6, bottom + 14)]
    return out


def svg(results):
    """A bar for each peer of each row, by kind of work; it grows to the right where mote is ahead."""
    results = [result for result in results if result.peers]
    scale = Scale([ratio for result in results for ratio in result.ratios().values()])
    top = y = 92
    bars = []
    for group in dict.fromkeys(result.group for result in results):
        y += 26
        bars.append(text(LEFT, y - 6, group, font_weight="bold", font_size=14))
        for result in (result for result in results if result.group == group):
            bars.append(text(LEFT, y + BAR - 2, result.title))
            for name, ratio in result.ratios().items():
                bars += [text(NAMES, y + BAR - 2, name, text_anchor="end", fill=FAINT), *bar(scale, y, ratio)]
                y += STEP
            y += 4
    width, middle = scale.width(), (scale.x(scale.least) + scale.x(scale.most)) / 2
    caption = "times as fast, or as small (logarithmic" + ("; an arrow goes beyond)" if scale.clips else ")")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 50}" viewBox="0 0 {width} {y + 50}" '
        f'role="img" font-family="sans-serif" font-size="12" fill="{INK}">',
        '<title>How far mote is ahead of each peer</title>',
        '<rect width="100%" height="100%" rx="8" fill="white"/>',  # for pages with a dark background
        text(LEFT, 30, "mote beside its peers", font_size=18, font_weight="bold"),
        text(LEFT, 50, "the peer's time (or memory) divided by mote's, medians of interleaved runs", fill=FAINT),
        f'<rect x="{LEFT}" y="60" width="12" height="12" fill="{WIN}"/>', text(LEFT + 18, 70, "mote is ahead"),
        f'<rect x="{LEFT + 120}" y="60" width="12" height="12" fill="{LOSS}"/>',
        text(LEFT + 138, 70, "the peer is ahead"),
        *axis(scale, top, y + 4), text(middle, y + 38, caption, text_anchor="middle", fill=FAINT),
        *bars, '</svg>']) + "\n"
