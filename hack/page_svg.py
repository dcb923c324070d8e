"""Converts the content of a page in Chromium to SVG, for light and dark pages. dashboard-picture.py uses it.

page_walk.js reads the boxes and texts of the page from its layout. The texts stay texts, in the fonts of the reader.
"""
import html
import json
import pathlib

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="title">
<title id="title">{title}</title>
<style>
  text {{ font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 14px; }}
  .m {{ font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
  .b {{ font-weight: 600; }}
  .u {{ text-decoration: underline; }}
  .frame {{ fill: none; stroke: #8c959f; }}
{rules}
</style>"""


class Styles:
    """The classes of a figure. Each colour is a pair: in light, and in dark."""

    def __init__(self):
        self.names = {}

    def name(self, kind, value):
        return self.names.setdefault((kind, value), f"{kind[:2]}{sum(it[0] == kind for it in self.names)}")

    def fill(self, pair):
        return self.name("fill", pair) if pair[0] else "n"

    def stroke(self, pair):
        return self.name("stroke", pair)

    def size(self, value):
        return self.name("font-size", (f"{value:g}px", f"{value:g}px"))

    def rules(self):
        used = list(self.names.items())
        lines = ["  .n { fill: none; }"]
        lines += [f"  .{name} {{ {kind}: {value[0]}; }}" for (kind, value), name in used]
        dark = [f"    .{name} {{ {kind}: {value[1]}; }}" for (kind, value), name in used if value[0] != value[1]]
        return "\n".join([*lines, "  @media (prefers-color-scheme: dark) {", *dark, "  }"])


def number(value):
    return f"{round(value, 1):g}"


def attributes(**values):
    return "".join(f' {name.replace("_", "-")}="{number(value) if isinstance(value, float | int) else value}"'
                   for name, value in values.items() if value)


def pair(light, dark, *path):
    """Returns the value at the path in both descriptions of a shape."""
    for key in path:
        light, dark = (light or {}).get(key), (dark or {}).get(key)
    return light, dark


def paint(light, dark, styles):
    """Returns the attributes for the colours of a shape."""
    classes = [styles.fill(pair(light, dark, "fill"))]
    stroke = light.get("stroke")
    if stroke:
        classes.append(styles.stroke(pair(light, dark, "stroke", "color")))
    size = stroke.get("size", 1) if stroke else 1
    return attributes(class_=" ".join(classes), stroke_width=size if size != 1 else None,
                      stroke_dasharray=f"{3 * size:g} {2 * size:g}" if stroke and stroke.get("dashed") else None,
                      ).replace("class-", "class")


def span(light, dark, styles):
    names = [styles.fill(pair(light, dark, "fill"))]
    names += [styles.size(light["size"])] if light["size"] != 14 else []
    names += [name for name, key in (("m", "mono"), ("b", "bold"), ("u", "underline")) if light[key]]
    return attributes(class_=" ".join(names)).replace("class-", "class")


def draw_text(light, dark, styles):
    place = attributes(x=light["x"], y=light["y"], text_anchor=light.get("anchor"))
    spans = []
    for one, other in zip(light["runs"], dark["runs"], strict=True):
        style, text = span(one, other, styles), html.escape(one["text"], quote=False)
        if spans and spans[-1][0] == style:
            spans[-1][1] += text
        else:
            spans.append([style, text])
    if len(spans) == 1:
        return f"<text{place}{spans[0][0]}>{spans[0][1].rstrip(' ')}</text>"
    return f"<text{place}>" + "".join(f"<tspan{style}>{text}</tspan>" for style, text in spans) + "</text>"


def draw_shape(light, dark, styles):
    kind, x, y, width, height = (light[key] for key in ("kind", "x", "y", "width", "height"))
    if kind == "text":
        return draw_text(light, dark, styles)
    look = paint(light, dark, styles)
    x, y, width, height = (number(it) for it in (x, y, width, height))
    if kind == "rect":
        return f'<rect{look} x="{x}" y="{y}" width="{width}" height="{height}"{attributes(rx=light.get("radius"))}/>'
    if kind == "line":
        return f'<path{look} d="M{x} {y}h{width}"/>'
    if kind == "chevron":
        return f'<path{look} d="M{x} {y}l4 4l4 -4"/>'
    return f'<path{look} d="M{x} {y}' + ('h8l-4 7z"/>' if light["open"] else 'v8l7 -4z"/>')


def draw(browser, title, root, last):
    """Returns the SVG of the element `root`, down to the lower end of the element `last`."""
    script = pathlib.Path(__file__).with_name("page_walk.js").read_text(encoding="utf-8")
    page = browser.execute_script(f"{script}\nreturn walk({json.dumps(root)}, {json.dumps(last)});")
    styles = Styles()
    shapes = [draw_shape(light, dark, styles) for light, dark in zip(page["light"], page["dark"], strict=True)
              if light["y"] < page["height"]]
    width, height = page["width"], round(page["height"])
    head = HEAD.format(width=width, height=height, title=html.escape(title), rules=styles.rules())
    frame = f'<rect class="frame" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1}"/>'
    return "\n".join([head, *shapes, frame, "</svg>\n"])
