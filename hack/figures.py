#!/usr/bin/env python3
"""Draws the figures docs/figures/*.txt as SVG, for light and dark pages. Each SVG is in the folder of its text.

    hack/figures.py          draw all
    hack/figures.py check    exit with 1 if an SVG differs from its text

Each line of a text is one of these, and later lines are drawn above earlier ones:

    size WIDTH HEIGHT : description for readers who do not see the figure
    box NAME CLASS X Y WIDTH HEIGHT : title | line | line      CLASS is one of the style below, or frame
    arrow FROM TO [cut] [both] : label @ X Y                    label and its place may be missing
    text CLASS X Y : text                                       CLASS is title or small

FROM and TO are NAME.SIDE or NAME.SIDE+OFFSET: SIDE is left, right, top or bottom, and OFFSET moves the point along the side.
X,Y between FROM and TO are corners of the arrow. `cut` is a dashed line, `both` has a head at each end.
"""
import html
import math
import pathlib
import re
import sys

STYLE = """<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 14px; fill: #1f2328; }
  .title { font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .box { fill: #f6f8fa; stroke: #8c959f; }
  .frame { fill: none; stroke: #8c959f; stroke-dasharray: 5 5; }
  .daemon { fill: #ddf4ff; stroke: #0969da; }
  .new { fill: #dafbe1; stroke: #1a7f37; }
  .old { fill: #eaeef2; stroke: #8c959f; }
  .wait { fill: #fff8c5; stroke: #9a6700; }
  .bad { fill: #ffebe9; stroke: #cf222e; }
  .line { fill: none; stroke: #8c959f; }
  .cut { stroke-dasharray: 5 5; }
  .head { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .box { fill: #151b23; stroke: #656c76; }
    .frame { stroke: #656c76; }
    .daemon { fill: #121d2f; stroke: #4493f8; }
    .new { fill: #12261e; stroke: #3fb950; }
    .old { fill: #262c36; stroke: #656c76; }
    .wait { fill: #272115; stroke: #d29922; }
    .bad { fill: #25171c; stroke: #f85149; }
    .line { stroke: #656c76; }
    .head { fill: #656c76; }
  }
</style>"""


def text(style, x, y, words, anchor=""):
    return f'<text class="{style}" x="{x:g}" y="{y:g}"{anchor}>{html.escape(words, quote=False)}</text>'


def draw_box(style, x, y, width, height, words):
    """Returns a box. A frame has its title in its corner. Other boxes have their lines in the middle."""
    parts = [f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8"/>']
    if style == "frame":
        return parts + [text("small", x + 10, y + 18, line) for line in words]
    top = y + height / 2 - 9 * len(words) + 14
    for number, line in enumerate(words):
        name = "title" if number == 0 else "small"
        parts.append(text(name, x + width / 2, top + 18 * number, line, ' text-anchor="middle"'))
    return parts


def point(place, boxes):
    """Returns the point of NAME.SIDE+OFFSET or X,Y."""
    if match := re.fullmatch(r"(-?\d+),(-?\d+)", place):
        return float(match[1]), float(match[2])
    match = re.fullmatch(r"(\w+)\.(left|right|top|bottom)([+-]\d+)?", place)
    if not match:
        raise ValueError(f"{place} is not a valid place: give NAME.SIDE, NAME.SIDE+OFFSET or X,Y")
    x, y, width, height = boxes[match[1]]
    offset = int(match[3] or 0)
    return {
        "left": (x, y + height / 2 + offset),
        "right": (x + width, y + height / 2 + offset),
        "top": (x + width / 2 + offset, y),
        "bottom": (x + width / 2 + offset, y + height),
    }[match[2]]


def head(before, tip):
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    corners = [tip] + [(tip[0] - 9 * math.cos(angle + turn), tip[1] - 9 * math.sin(angle + turn)) for turn in (0.5, -0.5)]
    return '<path class="head" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + 'z"/>'


def draw_arrow(words, label, boxes):
    flags = {word for word in words if word in ("cut", "both")}
    points = [point(word, boxes) for word in words if word not in flags]
    style = "line cut" if "cut" in flags else "line"
    parts = [f'<path class="{style}" d="M' + "L".join(f"{x:g} {y:g}" for x, y in points) + '"/>', head(points[-2], points[-1])]
    if "both" in flags:
        parts.append(head(points[1], points[0]))
    if label:
        words, place = label.rsplit(" @ ", 1)
        parts.append(text("small", *map(float, place.split()), words))
    return parts


def draw(source):
    parts, boxes = [], {}
    for line in filter(None, source.splitlines()):
        command, _, words = line.partition(" : ")
        kind, *arguments = command.split()
        if kind == "size":
            parts += [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {arguments[0]} {arguments[1]}" role="img" aria-labelledby="title">',
                      f'<title id="title">{html.escape(words, quote=False)}</title>', STYLE]
        elif kind == "box":
            name, style, *numbers = arguments
            boxes[name] = [float(number) for number in numbers]
            parts += draw_box(style, *boxes[name], words.split(" | "))
        elif kind == "arrow":
            parts += draw_arrow(arguments, words, boxes)
        elif kind == "text":
            parts.append(text(arguments[0], float(arguments[1]), float(arguments[2]), words))
        else:
            raise ValueError(f"unknown line: {line}")
    return "\n".join(parts + ["</svg>\n"])


def main():
    differ = False
    for source in sorted(pathlib.Path(__file__).parent.parent.glob("docs/figures/*.txt")):
        target, figure = source.with_suffix(".svg"), draw(source.read_text())
        if sys.argv[1:] != ["check"]:
            target.write_text(figure)
        elif not target.exists() or target.read_text() != figure:
            differ = True
            print(f"docs/figures/{target.name}:1: differs from {source.name}: run hack/figures.py", file=sys.stderr)
    sys.exit(differ)


main()
