#!/usr/bin/python3
"""Measures how soon the page of `kubectl yad dashboard` shows all tiles of a YurtAppDaemon in headless Chromium.

    paint.py ADDRESS --daemon NAMESPACE/NAME --pools COUNT [--screenshots FOLDER]

ADDRESS is the output of `kubectl yad dashboard --no-open`. The script needs the packages of browser.py. It loads the
page five times, and prints one line for each load: the milliseconds from the start of the load to the first contentful
paint, and to the paint of COUNT tiles. At the first load, the command has not read the pools yet. The script exits with
77 if Chromium does not start.
"""
import argparse
import sys

from browser import Page, run_in_browser

LOADS = 5
TIMEOUT = 120  # seconds

# Runs before the page's own scripts. The frame after the one that paints the tiles has their time.
WATCH_PAINT = """
const look = () => requestAnimationFrame(() => {
  if (document.querySelectorAll('.tile').length < %d) look();
  else requestAnimationFrame((now) => { window.painted = now; });
});
look();
"""
FIRST_PAINT = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def measure(page, pools):
    page.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH_PAINT % pools})
    for load in range(1, LOADS + 1):
        page.open("#/" + page.daemon)
        painted = page.eventually("the tiles are painted", lambda: page.run("return window.painted"), TIMEOUT)
        first = page.eventually("the first paint has a time", lambda: page.run(FIRST_PAINT))
        print(f"load {load}: first paint after {first:.0f} ms, {pools} tiles after {painted:.0f} ms", flush=True)
    page.screenshot("painted.png")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--pools", type=int, required=True)
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    return run_in_browser(lambda browser: measure(Page(browser, arguments), arguments.pools))


if __name__ == "__main__":
    sys.exit(main())
