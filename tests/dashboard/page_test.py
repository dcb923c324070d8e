#!/usr/bin/python3
"""Checks the page of `kubectl yad dashboard` in headless Chromium.

    page_test.py ADDRESS --daemon NAMESPACE/NAME --group GROUP --markup-pool POOL [--screenshots FOLDER]

ADDRESS is what `kubectl yad dashboard --no-open` prints. The YurtAppDaemon has at least two pools, and a rollout that
waits for the approval of GROUP. The message, or the reason of the hold, of POOL contains MARKUP. The test approves GROUP.

It needs Debian's packages chromium, chromium-driver and python3-selenium. It prints one line for each check, and exits
with 1 if one fails, and with 77 if Chromium does not start.
"""
import argparse
import os
import sys
import time
import traceback

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

MARKUP = '<b id="markup">markup</b>'
TIMEOUT = 30  # seconds
NO_BROWSER = 77  # exit code
NARROW = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": False}


def start_browser():
    # Requests to the driver go to 127.0.0.1, never to a proxy.
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.add_argument("--headless=new")
    options.add_argument("--window-size=1400,900")
    options.add_argument("--disable-dev-shm-usage")  # /dev/shm of a container is small
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page:
    """The page in the browser, and what the checks ask of it."""

    def __init__(self, browser, arguments):
        self.browser = browser
        self.address = arguments.address.rstrip("/") + "/"
        self.daemon = arguments.daemon
        self.group = arguments.group
        self.markup_pool = arguments.markup_pool

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def open(self, route):
        self.browser.get("about:blank")
        self.browser.get(self.address + route)

    def open_daemon(self, rest=""):
        self.open("#/" + self.daemon + rest)
        self.eventually("the tiles appear", lambda: self.tiles())

    def find(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def tiles(self):
        """Returns the description of each tile by the name of its pool."""
        return self.run(
            "return Object.fromEntries([...document.querySelectorAll('.tile')]"
            ".map((tile) => [tile.dataset.name, tile.dataset.letter + ' ' + tile.getAttribute('aria-label')]))")

    def focused_tile(self):
        return self.run("return document.activeElement.dataset.name ?? ''")

    def press(self, key):
        ActionChains(self.browser).send_keys(key).perform()

    def button(self, label):
        for button in self.find("button"):
            if button.text == label and button.is_displayed():
                return button
        return None

    def emulate(self, scheme, narrow):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        if narrow:
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
        else:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    @staticmethod
    def eventually(what, condition):
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            time.sleep(0.1)
        raise AssertionError(f"not within {TIMEOUT} s: {what}")


def fleet_lists_the_daemon_with_state_and_progress(page):
    page.open("#/")
    link = f'a[href="#/{page.daemon}"]'
    page.eventually("the daemon is listed", lambda: page.find(f"table {link}"))
    row = page.run("const row = document.querySelector(arguments[0]).closest('tr');"
                   "return [row.querySelector('.state').textContent, row.querySelector('progress').max]", f"table {link}")
    assert row[0] and row[1] >= 2, row
    page.find(link)[0].click()
    page.eventually("a click on the daemon shows its tiles", page.tiles)
    page.browser.back()
    page.eventually("back shows the fleet", lambda: page.find("table.fleet"))
    page.browser.forward()
    page.eventually("forward shows the tiles", page.tiles)


def daemon_has_a_tile_with_a_letter_and_a_phase_for_each_pool(page):
    page.open_daemon()
    pools = int(page.run("return document.querySelector('.facts progress').max"))
    tiles = page.tiles()
    assert len(tiles) == pools, f"{len(tiles)} tiles, {pools} pools"
    for name, text in tiles.items():
        assert text[0] != " " and text[2:].startswith(name + " "), text
    counted = page.run("return [...document.querySelectorAll('[data-facet^=\"phase:\"] .number')]"
                       ".reduce((sum, it) => sum + Number(it.textContent), 0)")
    assert counted == pools, f"the legend counts {counted} pools of {pools}"
    assert page.group in page.text(".groups"), "the time line names the group"


def filters_show_only_the_pools_that_match(page):
    page.open_daemon()
    shown = "return [...document.querySelectorAll('.tile:not([hidden])')].map((tile) => tile.dataset.name)"
    field = page.find("#filter")[0]
    field.send_keys(page.markup_pool)
    names = page.run(shown)
    assert page.markup_pool in names and all(page.markup_pool in name for name in names), names[:5]
    field.send_keys(" no-such-label=x")
    assert page.run(shown) == []
    field.clear()
    field.send_keys(Keys.SPACE)
    chip = page.find('[data-facet="revision:old"]')[0]
    chip.click()
    assert all("old revision" in page.tiles()[name] for name in page.run(shown))
    assert chip.get_attribute("aria-pressed") == "true"


def keyboard_reaches_tiles_moves_the_focus_and_opens_and_closes_the_panel(page):
    page.open_daemon()
    for _ in range(60):
        page.press(Keys.TAB)
        if page.focused_tile():
            break
    first = page.focused_tile()
    assert first, "Tab reaches a tile"
    page.press(Keys.ARROW_RIGHT)
    second = page.focused_tile()
    assert second and second != first
    assert page.run("return document.querySelectorAll('.tile[tabindex=\"0\"]').length") == 1
    page.press(Keys.END)
    page.press(Keys.ARROW_UP)
    page.press(Keys.HOME)
    assert page.focused_tile() == page.run("return document.querySelector('.tile').dataset.name")
    page.press(Keys.ARROW_RIGHT)
    page.press(Keys.ENTER)
    page.eventually("Enter opens the panel of the pool", lambda: page.text("#panel-title") == second)
    page.eventually("the panel has the focus", lambda: page.run("return document.activeElement.id") == "panel-title")
    page.eventually("the panel has the diagnosis", lambda: page.find("#panel pre"))
    page.press(Keys.ESCAPE)
    page.eventually("Escape closes the panel", lambda: page.run("return document.getElementById('panel').hidden"))
    assert page.focused_tile() == second, "the focus returns to the tile"


def markup_from_the_cluster_is_text(page):
    page.open_daemon("/pool/" + page.markup_pool)
    page.eventually("the panel shows the markup as text", lambda: MARKUP in page.text("#panel"))
    assert not page.find("#markup"), "the markup became an element"


def revisions_and_simulation_open(page):
    page.open_daemon("/revisions")
    page.eventually("the revisions are listed", lambda: page.find('#panel input[type="radio"]'))
    page.open_daemon("/simulation")
    page.eventually("the simulation has a result", lambda: page.find("#panel .spans li"))
    page.find('#panel input[name="failing"]')[0].click()
    page.button("Simulate").click()
    page.eventually("the failing rollout has a blast radius", lambda: page.find("#panel .radius"))


def approval_shows_its_command_and_tiles_change_live(page):
    page.open_daemon()
    page.run("window.notReloaded = true")
    before = page.tiles()
    label = f"Approve {page.group}"
    page.eventually("the page offers the approval", lambda: page.button(label)).click()
    page.eventually("the dialog shows the command", lambda: "kubectl yad approve" in page.text("#dialog .command"))
    assert page.group in page.text("#dialog .command")
    page.press(Keys.ESCAPE)
    page.eventually("Escape closes the dialog", lambda: not page.find("#dialog[open]"))
    page.button(label).click()
    page.find("#dialog [type=submit]")[0].click()
    page.eventually("the page reports the result", lambda: "approved" in page.text("#result"))
    page.eventually("a tile changes", lambda: page.tiles() != before)
    page.eventually("the approval is no longer offered", lambda: page.button(label) is None)
    assert page.run("return window.notReloaded === true")


def no_view_scrolls_sideways_on_a_narrow_screen_in_light_and_dark(page):
    views = {"fleet": "#/", "daemon": f"#/{page.daemon}", "pool": f"#/{page.daemon}/pool/{page.markup_pool}"}
    for scheme in ("light", "dark"):
        for narrow in (False, True):
            page.emulate(scheme, narrow)
            for name, route in views.items():
                page.open(route)
                ready = {"fleet": "table.fleet", "daemon": ".tile", "pool": "#panel pre"}[name]
                page.eventually(f"{name} is drawn", lambda: page.find(ready))
                wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 0, f"{name} is {wide} pixels too wide ({scheme}, narrow: {narrow})"
                save_screenshot(page, f"{name}-{scheme}-{'narrow' if narrow else 'wide'}.png")
            dark = page.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
                            ".reduce((sum, it) => sum + Number(it), 0) < 384")
            assert dark == (scheme == "dark"), f"the background in {scheme}"
    page.emulate("light", False)


def console_has_no_error(page):
    # A request that the server rejects on purpose is logged by the browser, too.
    errors = [entry["message"] for entry in page.logged if entry["level"] == "SEVERE"]
    assert not errors, "\n".join(errors)


def eight_tabs_are_live(page):
    # A browser opens six connections to one server, so a tab in the background must not keep one.
    first = page.browser.current_window_handle
    tabs = []
    for _ in range(8):
        page.browser.switch_to.new_window("tab")
        tabs.append(page.browser.current_window_handle)
        page.open_daemon()
    page.browser.switch_to.window(tabs[0])
    page.eventually("a tab that returns is live", lambda: page.text("#connection") == "live")
    for tab in tabs:
        page.browser.switch_to.window(tab)
        page.browser.close()
    page.browser.switch_to.window(first)


def save_screenshot(page, name):
    if page.screenshots:
        os.makedirs(page.screenshots, exist_ok=True)
        page.browser.save_screenshot(os.path.join(page.screenshots, name))


CHECKS = [
    fleet_lists_the_daemon_with_state_and_progress,
    daemon_has_a_tile_with_a_letter_and_a_phase_for_each_pool,
    filters_show_only_the_pools_that_match,
    keyboard_reaches_tiles_moves_the_focus_and_opens_and_closes_the_panel,
    markup_from_the_cluster_is_text,
    revisions_and_simulation_open,
    no_view_scrolls_sideways_on_a_narrow_screen_in_light_and_dark,
    eight_tabs_are_live,
    approval_shows_its_command_and_tiles_change_live,
    console_has_no_error,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--group", required=True)
    parser.add_argument("--markup-pool", required=True)
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    try:
        browser = start_browser()
    except WebDriverException as error:
        print(f"Chromium does not start: {error}", flush=True)
        return NO_BROWSER
    failed = 0
    try:
        page = Page(browser, arguments)
        page.screenshots = arguments.screenshots
        page.logged = []
        for check in CHECKS:
            page.logged += browser.get_log("browser")
            try:
                check(page)
                print(f"ok      {check.__name__}", flush=True)
            except Exception:  # A check that fails does not stop the others.
                failed += 1
                print(f"FAILED  {check.__name__}\n{traceback.format_exc()}", flush=True)
    finally:
        browser.quit()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
