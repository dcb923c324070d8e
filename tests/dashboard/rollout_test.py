#!/usr/bin/python3
"""Follows rollouts of many pools in the page of `kubectl yad dashboard` in headless Chromium.

    rollout_test.py ADDRESS --daemon NAMESPACE/NAME --pools COUNT --canary POOL --group GROUP --manifests FOLDER
        [--screenshots FOLDER] -- APPLY…

ADDRESS is the output of `kubectl yad dashboard --no-open`. The command APPLY applies the file that is its last argument.
FOLDER has four manifests of the YurtAppDaemon, which does not exist yet:

    first.json     a first revision of COUNT pools; the first group is POOL, and the second one, GROUP, has an approval
    failing.json   a revision with which POOL fails, and onFailure: Pause
    rollback.json  the same revision, and onFailure: Rollback
    good.json      a revision with which all pools become healthy

The script opens the page once and never loads it again. It needs the packages of browser.py. It exits with 1 if a step
fails, and with 77 if Chromium does not start.
"""
import argparse
import json
import subprocess
import sys

from selenium.webdriver.common.keys import Keys

from browser import Page, run_in_browser, run_steps

TIMEOUT = 300  # seconds

# The content of the page, without the tiles.
SHOWN = """
const text = (element) => element?.textContent ?? '';
const all = (selector) => [...document.querySelectorAll(selector)];
const fact = (name) => text(document.querySelector(`.facts > [data-key="${name}"] dd`));
const bar = document.querySelector('.facts progress');
return {
  title: document.title,
  state: text(document.querySelector('.title .state')?.lastChild),
  reason: text(document.querySelector('.why b')),
  updated: bar?.value, pools: bar?.max, ready: fact('Ready'), failed: fact('Failed'),
  legend: Object.fromEntries(all('.chip').map((it) => [it.dataset.facet, Number(text(it.querySelector('.number')))])),
  groups: Object.fromEntries(all('.groups > li').map((it) => [text(it.querySelector('h3')),
    text(it.querySelector('.group-state b'))])),
  notReloaded: window.notReloaded === true,
};
"""

# Notes each tile that changes from an old revision to the new one, and each request of the page.
WATCH_PAGE = """
window.notReloaded = true;
window.requests = [];
const plainFetch = window.fetch;
window.fetch = (path, options) => { requests.push(path); return plainFetch(path, options); };
window.updatedTiles = new Set();
const isNew = (classes) => classes.split(' ').includes('new');
new MutationObserver((records) => {
  for (const {target, oldValue} of records) {
    if (target.dataset.name && isNew(target.className) && !isNew(oldValue ?? '')) updatedTiles.add(target.dataset.name);
  }
}).observe(document.getElementById('main'),
  {subtree: true, attributes: true, attributeFilter: ['class'], attributeOldValue: true});
"""


class Rollout:
    """The page, and the manifests of the YurtAppDaemon that it shows."""

    def __init__(self, page, arguments):
        self.page = page
        self.name = arguments.daemon.split("/")[1]
        self.pools = arguments.pools
        self.canary = arguments.canary
        self.group = arguments.group
        self.manifests = arguments.manifests
        self.command = arguments.apply

    def apply(self, manifest):
        subprocess.run([*self.command, f"{self.manifests}/{manifest}"], check=True, stdout=subprocess.DEVNULL)

    def await_page(self, what, **expected):
        """Waits until the page shows these values."""
        shown = {}

        def is_shown():
            shown.update(self.page.run(SHOWN))
            return expected.items() <= shown.items()

        try:
            self.page.eventually(what, is_shown, TIMEOUT)
        except AssertionError:
            print(json.dumps({"expected": expected, "shown": shown}, indent=1), flush=True)
            raise
        assert shown["notReloaded"], "the page was loaded again"

    def await_complete(self):
        count = self.pools
        self.await_page("all pools are updated", state="Complete", reason="RolloutComplete", updated=count, pools=count,
                        ready=str(count), failed="0", title=f"{self.name}: {count} of {count} pools updated",
                        legend={"phase:Ready": count, "revision:new": count},
                        groups={"canary": "Done", self.group: "Done", "default": "Done"})
        wrong = [text for text in self.page.tiles().values() if not text.endswith(" Ready, new revision")]
        assert not wrong, wrong[:5]
        assert len(self.page.tiles()) == count

    def await_change(self, beginning):
        """Waits until the list of changes has an entry that begins with this string."""
        texts = "return [...document.querySelectorAll('.changes > li > span')].map((it) => it.textContent);"
        self.page.eventually(f"the changes have {beginning}",
                             lambda: any(text.startswith(beginning) for text in self.page.run(texts)))

    def take_updated_tiles(self):
        """Returns the pools whose tiles have changed to the new revision since the last call."""
        return set(self.page.run("const names = [...updatedTiles]; updatedTiles.clear(); return names;"))

    def take_requests(self):
        """Returns the requests of the page since the last call. The stream of events is not among them."""
        return self.page.run("return requests.splice(0)")


def first_rollout_is_followed_from_its_apply_to_its_end(rollout):
    page = rollout.page
    page.open("#/" + page.daemon)
    page.eventually("the page reports that the YurtAppDaemon does not exist",
                    lambda: "does not exist" in page.text("#main"))
    page.run(WATCH_PAGE)
    rollout.apply("first.json")
    rollout.await_complete()
    rollout.take_updated_tiles()
    assert rollout.take_requests() == [], "the page must get all changes from events, without requests"
    page.screenshot("1-first-complete.png")


def failing_canary_stops_the_rollout(rollout):
    page = rollout.page
    count = rollout.pools
    rollout.apply("failing.json")
    rollout.await_page("the rollout has stopped at the canary", state="Stopped", reason="FailureBudgetExceeded",
                       updated=0, ready=str(count - 1), failed="1",
                       legend={"phase:Failed": 1, "phase:Ready": count - 1, "revision:new": 1,
                               "revision:old": count - 1, "wait:Pause": count - 1},
                       groups={"canary": "Stopped", rollout.group: "Not begun", "default": "Not begun"})
    canary = page.tiles()[rollout.canary]
    assert "Failed" in canary and "new revision" in canary, canary
    page.screenshot("2-stopped.png")


def panel_shows_why_the_canary_has_failed(rollout):
    page = rollout.page
    page.find(f'.tile[data-name="{rollout.canary}"]')[0].click()
    page.eventually("a click opens the panel", lambda: page.text("#panel-title") == rollout.canary)
    page.eventually("the panel has the pods", lambda: "Pending" in page.text('#panel [data-key="pods"]'))
    page.eventually("the panel has the Events", lambda: "FailedScheduling" in page.text('#panel [data-key="events"]'))
    assert page.text('#panel .facts [data-key="Message"] dd'), page.text("#panel .facts")
    assert "Failed" in page.text('#panel [data-key="explain"]')
    assert rollout.take_requests(), "the panel must read the pool"
    page.screenshot("2-pool.png")
    page.press(Keys.ESCAPE)
    page.eventually("Escape closes the panel", lambda: not page.text("#panel"))
    rollout.take_requests()


def stopped_rollout_is_rolled_back(rollout):
    page = rollout.page
    count = rollout.pools
    rollout.apply("rollback.json")
    rollout.await_page("the canary is rolled back", state="Stopped", reason="RolledBack", updated=0, ready=str(count),
                       failed="0", legend={"phase:Ready": count, "revision:old": count},
                       groups={"canary": "Not begun", rollout.group: "Not begun", "default": "Not begun"})
    page.screenshot("3-rolled-back.png")
    rollout.await_change("RollingBack: ")
    rollout.await_change("RolledBack: ")
    assert page.button(f"Approve {rollout.group}") is None
    assert rollout.take_updated_tiles() <= {rollout.canary}, "only the canary may get the failing revision"


def approval_in_the_page_lets_a_good_revision_reach_all_pools(rollout):
    page = rollout.page
    others = page.tiles().keys() - {rollout.canary}
    rollout.apply("good.json")
    rollout.await_page("the canary is done, and the next group waits for approval", state="Waiting",
                       reason="WaitingForApproval", updated=1, ready=str(rollout.pools), failed="0",
                       groups={"canary": "Done", rollout.group: "Waits for approval", "default": "Next"})
    assert page.tiles()[rollout.canary].endswith(" Ready, new revision"), page.tiles()[rollout.canary]
    assert rollout.take_updated_tiles() == {rollout.canary}
    page.screenshot("4-waits-for-approval.png")
    page.eventually("the page offers the approval", lambda: page.button(f"Approve {rollout.group}")).click()
    page.eventually("the dialog shows the command", lambda: "kubectl yad approve" in page.text("#dialog .command"))
    page.screenshot("5-approval.png")
    page.confirm()
    page.eventually("the page reports the approval", lambda: "approved" in page.text("#result"))
    rollout.await_complete()
    assert rollout.take_updated_tiles() == others, "each tile must change"
    assert rollout.take_requests() == ["api/command", "api/action"], "only the approval may send requests"
    assert page.button(f"Approve {rollout.group}") is None
    page.screenshot("6-complete.png")


STEPS = [
    first_rollout_is_followed_from_its_apply_to_its_end,
    failing_canary_stops_the_rollout,
    panel_shows_why_the_canary_has_failed,
    stopped_rollout_is_rolled_back,
    approval_in_the_page_lets_a_good_revision_reach_all_pools,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("apply", nargs="+")
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--pools", type=int, required=True)
    parser.add_argument("--canary", required=True)
    parser.add_argument("--group", required=True)
    parser.add_argument("--manifests", required=True)
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    return run_in_browser(lambda browser: run_steps(STEPS, Rollout(Page(browser, arguments), arguments)))


if __name__ == "__main__":
    sys.exit(main())
