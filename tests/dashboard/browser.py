"""The page of `kubectl yad dashboard` in headless Chromium, for the tests of the page.

It needs Debian's packages chromium, chromium-driver and python3-selenium.
"""
import os
import time
import traceback

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

TIMEOUT = 30  # seconds
NO_BROWSER = 77  # exit code
NARROW = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": False}

# Simulates a slow link: holds the responses to requests whose path begins with the argument. held[i]() releases the
# response to the i-th of these requests, and held[i](response) replaces it.
HOLD_ANSWERS = """
window.held = [];
const [path] = arguments;
const plainFetch = window.fetch;
window.fetch = async (target, options) => {
  const answer = await plainFetch(target, options);
  return target.startsWith(path) ? await new Promise((release) => held.push(release)) ?? answer : answer;
};
"""

RELEASE = """
const [index, error] = arguments;
held[index](error && new Response(JSON.stringify({error}), {status: 500}));
return new Promise((done) => setTimeout(done, 200));
"""

# Stores the next stream of events in window.stream, and the data of its last event `daemon` in window.head.
TAKE_STREAM = """
const Plain = window.EventSource;
window.EventSource = class extends Plain {
  constructor(address) {
    super(address);
    window.stream = this;
    this.addEventListener('daemon', ({data}) => { window.head = JSON.parse(data); });
  }
};
"""


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
    """The page in the browser, with the queries and actions of the checks."""

    def __init__(self, browser, arguments):
        self.browser = browser
        self.address = arguments.address.rstrip("/") + "/"
        self.daemon = arguments.daemon
        self.screenshots = arguments.screenshots

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def open(self, route):
        self.browser.get("about:blank")
        self.browser.get(self.address + route)

    def open_daemon(self, rest=""):
        self.open("#/" + self.daemon + rest)
        self.eventually("the tiles appear", lambda: self.tiles())

    def go(self, route):
        """Goes to another view without loading the page again."""
        self.run("location.hash = arguments[0]", route)

    def hold_answers(self, path):
        """Holds the responses to the next requests whose path begins with `path`."""
        self.run(HOLD_ANSWERS, path)

    def await_held(self, count):
        self.eventually(f"{count} answers are held", lambda: self.run("return held.length") == count)

    def release(self, index, error=None):
        """Releases a held response, or an error instead. Waits until the page has drawn it."""
        self.run(RELEASE, index, error)

    def open_daemon_with_stream(self, rest=""):
        """Opens the daemon so that send_event works."""
        self.open("#/")
        self.eventually("the fleet is shown", lambda: self.find("table.fleet"))
        self.run(TAKE_STREAM)
        self.go("#/" + self.daemon + rest)
        self.eventually("the details arrive", lambda: self.tiles() and self.run("return Boolean(window.head)"))

    def send_event(self, name, data):
        """Sends an event to the page, as the plugin does. `data` is an expression in JavaScript."""
        self.run(f"stream.dispatchEvent(new MessageEvent('{name}', {{data: JSON.stringify({data})}}))")

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
        """Returns the button that is shown with this label; None if there is none, or if the page changes now."""
        try:
            for button in self.find("button"):
                if button.text == label and button.is_displayed():
                    return button
        except StaleElementReferenceException:
            pass
        return None

    def confirm(self):
        """Confirms the action whose dialog is open, and waits until the page reports the result."""
        self.find("#dialog [type=submit]")[0].click()
        self.eventually("the page reports the result", lambda: not self.find("#dialog[open]") and self.text("#result"))

    def screenshot(self, name):
        if self.screenshots:
            os.makedirs(self.screenshots, exist_ok=True)
            self.browser.save_screenshot(os.path.join(self.screenshots, name))

    def emulate(self, scheme, narrow):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        if narrow:
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
        else:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    @staticmethod
    def eventually(what, condition, timeout=TIMEOUT):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            time.sleep(0.1)
        raise AssertionError(f"not within {timeout} s: {what}")


def run_in_browser(run):
    """Returns run(browser), or NO_BROWSER if Chromium does not start."""
    try:
        browser = start_browser()
    except WebDriverException as error:
        print(f"Chromium does not start: {error}", flush=True)
        return NO_BROWSER
    try:
        return run(browser)
    finally:
        browser.quit()


def run_steps(steps, subject):
    """Calls step(subject) for each step until one fails. Prints a line for each. Returns the exit code.

    subject.page is the Page.
    """
    for step in steps:
        try:
            step(subject)
        except Exception:  # The next step needs the state after this step.
            print(f"FAILED  {step.__name__}\n{traceback.format_exc()}", flush=True)
            subject.page.screenshot("failed.png")
            return 1
        print(f"ok      {step.__name__}", flush=True)
    return 0
