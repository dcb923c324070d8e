#!/usr/bin/env python3
"""Records commands on a real terminal as an animated SVG. It needs the package pyte.

    hack/recording.py OUT.svg <COMMANDS     one command a line; they run in bash, in the present folder

The recording shows each screen as long as the terminal showed it, but at most 2 s. Readers who prefer less motion
see the last screen.
"""
import fcntl
import html
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

COLUMNS, ROWS = 96, 22
FONT, WIDTH, HEIGHT = 14, 8.43, 19
PALETTE = {
    "red": "#ff7b72", "green": "#3fb950", "brown": "#d29922", "yellow": "#d29922", "blue": "#58a6ff",
    "magenta": "#bc8cff", "cyan": "#39c5cf", "white": "#e6edf3", "black": "#484f58", "brightblack": "#8b949e",
}


def record(commands):
    """Runs the commands, and returns the screens as (time, lines); a line is a list of (text, color, bold)."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(PS1="$ ", TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    begin, frames = time.time(), []

    def read(until):
        """Reads output until the function returns true, and keeps each screen."""
        while not until():
            if select.select([terminal], [], [], 0.05)[0]:
                stream.feed(os.read(terminal, 65536))
            lines = [line_of(screen, row) for row in range(ROWS)]
            if not frames or frames[-1][1] != lines:
                frames.append((time.time() - begin, lines))

    def prompts():
        row = screen.display[screen.cursor.y]
        return row.startswith("$ ") and row.strip() == "$"

    read(prompts)
    os.write(terminal, b"clear\n")
    time.sleep(0.3)
    read(prompts)
    del frames[:-1]
    for command in commands:
        for key in command:
            os.write(terminal, key.encode())
            end = time.time() + 0.04
            read(lambda: time.time() >= end)
        os.write(terminal, b"\n")
        end = time.time() + 0.3
        read(lambda: time.time() >= end)
        read(prompts)
    end = time.time() + 2
    read(lambda: time.time() >= end)
    os.close(terminal)
    return frames


def line_of(screen, row):
    """Returns the line as pieces of one style."""
    pieces = []
    for column in range(COLUMNS):
        cell = screen.buffer[row][column]
        style = (cell.fg, cell.bold)
        if pieces and pieces[-1][1:] == style:
            pieces[-1] = (pieces[-1][0] + cell.data, *style)
        else:
            pieces.append((cell.data, *style))
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    return pieces


def text_of(row, pieces):
    column, spans = 0, []
    for text, color, bold in pieces:
        if text.strip():
            fill = f' fill="{PALETTE.get(color, "#" + color)}"' if color != "default" else ""
            weight = ' font-weight="bold"' if bold else ""
            spans.append(f'<tspan x="{16 + column * WIDTH:.1f}"{fill}{weight}>{html.escape(text.rstrip())}</tspan>')
        column += len(text)
    return f'y="{48 + row * HEIGHT}" xml:space="preserve">{"".join(spans)}</text>'


def runs_of(frames):
    """Returns each line with the time from which and until which it is shown, and the length of the whole recording."""
    ends = [time for time, _ in frames[1:]] + [frames[-1][0] + 4]
    shown, total = [], 0.0
    for number, ((begin, lines), end) in enumerate(zip(frames, ends)):
        length = min(max(end - begin, 0.05), 2 if number + 1 < len(frames) else 4)
        shown.append((total, total + length, lines))
        total += length
    runs = []
    for row in range(ROWS):
        for begin, end, lines in shown:
            if runs and runs[-1][0] == row and runs[-1][1] == lines[row]:
                runs[-1][3] = end
            else:
                runs.append([row, lines[row], begin, end])
    return [run for run in runs if run[1]], total


def svg(frames, title):
    runs, total = runs_of(frames)
    width, height = 32 + COLUMNS * WIDTH, 60 + (max(run[0] for run in runs) + 1) * HEIGHT
    styles, lines = [], []
    for number, (row, pieces, begin, end) in enumerate(runs):
        stays = int(end >= total)
        first, last = begin / total * 100, min(end / total * 100, 99.998)
        styles.append(f"@keyframes k{number}{{0%{{opacity:{int(begin == 0)}}}{first:.3f}%{{opacity:1}}"
                      f"{last:.3f}%,100%{{opacity:{stays}}}}}"
                      f"#l{number}{{animation:k{number} {total:.1f}s infinite step-end}}")
        lines.append(f'<text id="l{number}" opacity="{stays}" {text_of(row, pieces)}')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" aria-labelledby="title">\n'
            f'<title id="title">{html.escape(title)}</title>\n<style>\n'
            f'text{{font:{FONT}px ui-monospace,"SFMono-Regular","DejaVu Sans Mono",monospace;fill:#e6edf3}}\n'
            + "\n".join(styles) + "\n@media (prefers-reduced-motion: reduce){text{animation:none!important}}\n</style>\n"
            '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>'
            '<circle cx="20" cy="18" r="5" fill="#ff7b72"/><circle cx="38" cy="18" r="5" fill="#d29922"/>'
            '<circle cx="56" cy="18" r="5" fill="#3fb950"/>\n' + "\n".join(lines) + "\n</svg>\n")


def main():
    commands = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(svg(record(commands), "Terminal: " + "; ".join(commands)))


main()
