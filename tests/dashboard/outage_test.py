#!/usr/bin/python3
"""Checks what the page of `kubectl yad dashboard` shows in headless Chromium while the apiserver does not respond.

    outage_test.py ADDRESS --daemon NAMESPACE/NAME --cluster FOLDER [--screenshots FOLDER] -- CLUSTER

ADDRESS is what `kubectl yad dashboard --no-open` prints. CLUSTER is hack/cluster.sh, and FOLDER is the folder of its
cluster. The page is opened once and never loaded again. It needs what browser.py needs. It exits with 1 if a step
fails, and with 77 if Chromium does not start.
"""
import argparse
import os
import subprocess
import sys

from browser import Page, run_in_browser, run_steps

TIMEOUT = 120  # seconds


class Outage:
    """The page, and the apiserver that it depends on."""

    def __init__(self, page, arguments):
        self.page = page
        self.script = arguments.script
        self.cluster = arguments.cluster

    def apiserver(self, command):
        subprocess.run([self.script, command, self.cluster], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "CLUSTER_READY_SECONDS": "120"})

    def await_connection(self, text):
        self.page.eventually(f"the page is {text}", lambda: self.page.text("#connection") == text, TIMEOUT)


def page_shows_the_last_state_while_the_apiserver_does_not_respond(outage):
    page = outage.page
    page.open_daemon()
    outage.await_connection("live")
    page.run("window.notReloaded = true")
    before = page.tiles()
    outage.apiserver("stop-apiserver")
    outage.await_connection("not live")
    page.eventually("a notice names the cause", lambda: "The apiserver does not respond" in page.text("#banners"))
    assert page.tiles() == before
    page.screenshot("1-not-live.png")


def action_fails_with_a_message(outage):
    page = outage.page
    page.button("Pause").click()
    page.eventually("the dialog shows the command", lambda: "kubectl yad pause" in page.text("#dialog .command"))
    page.find("#dialog [type=submit]")[0].click()
    page.eventually("the dialog shows the error", lambda: "The action failed" in page.text("#dialog .error"), TIMEOUT)
    page.screenshot("2-failed.png")


def views_that_are_opened_during_the_outage_show_what_is_known(outage):
    page = outage.page
    page.go("#/")
    page.eventually("the fleet is shown", lambda: page.find("table.fleet"))
    page.go("#/" + page.daemon)
    page.eventually("the tiles are shown", page.tiles)
    assert not page.find("main [data-action]"), "the page must show no actions while the permissions are unknown"
    page.go(f"#/{page.daemon}/pool/{next(iter(page.tiles()))}")
    page.eventually("the pool can't be read", lambda: page.text("#panel .error"), TIMEOUT)
    assert "State" in page.text("#panel .facts"), page.text("#panel")
    page.go(f"#/{page.daemon}/revisions")
    page.eventually("the revisions can't be read", lambda: page.text("#panel .error"), TIMEOUT)


def page_is_live_again_when_the_apiserver_responds(outage):
    page = outage.page
    outage.apiserver("start-apiserver")
    outage.await_connection("live")
    page.eventually("the notice disappears", lambda: "does not respond" not in page.text("#banners"))
    page.eventually("the revisions are listed", lambda: page.find('#panel input[type="radio"]'))
    page.eventually("the page has buttons", lambda: page.find("main [data-action]"))
    # The dialog is still open, and the action may be repeated.
    page.confirm()
    page.eventually("the page shows the pause", lambda: page.button("Resume"), TIMEOUT)
    assert page.run("return window.notReloaded === true")


STEPS = [
    page_shows_the_last_state_while_the_apiserver_does_not_respond,
    action_fails_with_a_message,
    views_that_are_opened_during_the_outage_show_what_is_known,
    page_is_live_again_when_the_apiserver_responds,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("script")
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    return run_in_browser(lambda browser: run_steps(STEPS, Outage(Page(browser, arguments), arguments)))


if __name__ == "__main__":
    sys.exit(main())
