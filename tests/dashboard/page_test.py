#!/usr/bin/python3
"""Checks the page of `kubectl yad dashboard` in headless Chromium.

    page_test.py ADDRESS --daemon NAMESPACE/NAME --group GROUP --markup-pool POOL
        [--axe FILE] [--screenshots FOLDER]

ADDRESS is the output of `kubectl yad dashboard --no-open`. The YurtAppDaemon has at least two pools, and a rollout that
waits for the approval of GROUP. The message, or the reason of the hold, of POOL contains MARKUP. The test approves GROUP.
FILE is axe.min.js of axe-core; hack/axe.sh prints its path.

The script needs Debian's packages chromium, chromium-driver and python3-selenium. It prints one line for each check,
and exits with 1 if a check fails, and with 77 if Chromium does not start.
"""
import argparse
import sys
import time
import traceback

from selenium.webdriver.common.keys import Keys

from browser import Page, run_in_browser

MARKUP = '<b id="markup">markup</b>'


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
    assert page.group in page.text(".groups"), "the timeline must show the group"


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
    assert first, "Tab must reach a tile"
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
    assert page.focused_tile() == second, "the focus must return to the tile"


def markup_from_the_cluster_is_shown_as_text(page):
    page.open_daemon("/pool/" + page.markup_pool)
    page.eventually("the panel shows the markup as text", lambda: MARKUP in page.text("#panel"))
    assert not page.find("#markup"), "the page must show markup as a string"


def revisions_are_listed_and_a_simulation_has_a_result(page):
    page.open_daemon("/revisions")
    page.eventually("the revisions are listed", lambda: page.find('#panel input[type="radio"]'))
    page.eventually("two revisions are compared",
                    lambda: page.find("#panel pre .added") and page.find("#panel pre .removed"))
    page.open_daemon("/simulation")
    page.eventually("the simulation has a result", lambda: page.find("#panel .spans li"))
    page.find('#panel input[name="failing"]')[0].click()
    page.button("Simulate").click()
    page.eventually("the failing rollout has a blast radius", lambda: page.find("#panel .radius"))


def open_dialog(page, label, command):
    """Clicks the button of an action, and waits until its dialog shows the command."""
    page.eventually(f"the page offers {label}", lambda: page.button(label)).click()
    for field in page.find("#dialog #reason"):
        field.send_keys("stocktaking")
    page.eventually(f"the dialog shows {command}", lambda: f"kubectl yad {command} " in page.text("#dialog .command"))


def cancel(page):
    page.press(Keys.ESCAPE)
    page.eventually("Escape closes the dialog", lambda: not page.find("#dialog[open]"))


def act(page):
    """Reports an action to the page, so that its panel reloads."""
    page.run("document.dispatchEvent(new Event('acted'))")


def other_pool(page):
    return next(tile for tile in page.tiles() if tile != page.markup_pool)


def pool_panel_shows_the_last_change_on_a_slow_link(page):
    page.open_daemon()
    page.hold_answers("api/pool")
    page.go(f"#/{page.daemon}/pool/{other_pool(page)}")
    page.await_held(1)
    act(page)
    time.sleep(1)  # longer than the page waits before it reads the pool again
    assert page.run("return held.length") == 1, "only one request at a time, or an older response may be last"
    page.release(0)
    page.await_held(2)
    act(page)
    page.release(1)
    page.await_held(3)
    page.release(2)


def panel_of_a_pool_that_has_left_reads_the_pool_again(page):
    page.open_daemon_with_stream()
    page.go(f"#/{page.daemon}/pool/{page.markup_pool}")
    page.eventually("the panel has the diagnosis", lambda: page.find("#panel pre"))
    page.hold_answers("api/pool")
    page.send_event("pools", "{reset: true, order: [], pools: []}")
    page.await_held(1)
    page.release(0, "no such pool")
    assert page.text("#panel .error") == "no such pool", page.text("#panel")


def answer_to_a_cancelled_action_leaves_the_next_dialog_open(page):
    name = page.daemon.split("/")[1]
    page.open_daemon()
    page.hold_answers("api/action")
    open_dialog(page, "Pause", f"pause {name}")
    page.find("#dialog [type=submit]")[0].click()
    page.await_held(1)
    cancel(page)
    page.release(0, "too slow")
    assert page.text("#result span") == "The action failed: too slow", page.text("#result")
    open_dialog(page, "Resume", f"resume {name}")
    page.find("#dialog [type=submit]")[0].click()
    page.await_held(2)
    cancel(page)
    open_dialog(page, "Undo", f"undo {name}")
    page.release(1)
    assert "resumed" in page.text("#result"), page.text("#result")
    assert page.find("#dialog[open]"), "the response must not close another dialog"
    cancel(page)


def dialog_shows_the_command_with_the_last_reason(page):
    page.open_daemon()
    page.go(f"#/{page.daemon}/pool/{other_pool(page)}")
    page.eventually("the page offers Hold", lambda: page.button("Hold"))
    page.hold_answers("api/command")
    page.button("Hold").click()
    page.find("#dialog #reason")[0].send_keys("a")
    page.await_held(1)
    page.find("#dialog #reason")[0].send_keys("b")
    page.await_held(2)
    page.release(1)
    assert "--reason=ab" in page.text("#dialog .command"), page.text("#dialog .command")
    page.release(0)
    assert "--reason=ab" in page.text("#dialog .command"), page.text("#dialog .command")
    cancel(page)


def chosen_revisions_stay_when_the_panel_reloads(page):
    page.open_daemon("/revisions")
    page.eventually("two revisions are compared", lambda: page.find("#panel pre .added"))
    page.hold_answers("api/")
    heading = page.text('#panel [data-key="diff"] h3')
    page.find('#panel input[name="from"]')[0].click()
    page.await_held(1)
    act(page)
    page.await_held(2)
    page.release(1)
    page.await_held(3)
    assert page.text('#panel [data-key="diff"] h3') == heading, "the panel still shows the earlier difference"
    page.release(2)
    page.release(0)
    assert "The revisions are equal." in page.text("#panel"), page.text("#panel")
    assert page.find('#panel input[name="from"]')[0].is_selected()


def revisions_of_a_recreated_daemon_are_read_again(page):
    page.open_daemon_with_stream("/revisions")
    page.eventually("two revisions are compared", lambda: page.find("#panel pre .added"))
    page.hold_answers("api/history")
    page.send_event("daemon", "{...head, created: '2026-01-02T03:04:05Z'}")
    page.await_held(1)
    page.release(0)


def title_of_a_deleted_daemon_has_no_numbers(page):
    page.open_daemon_with_stream()
    page.eventually("the title has numbers", lambda: "updated" in page.run("return document.title"))
    page.send_event("gone", "{}")
    page.eventually("the title has none", lambda: "updated" not in page.run("return document.title"))


def last_simulation_is_shown_on_a_slow_link(page):
    page.open_daemon("/simulation")
    page.eventually("the simulation has a result", lambda: page.find("#panel .spans li"))
    page.hold_answers("api/simulation")
    for count in (1, 2):  # first with failures, then without
        page.find('#panel input[name="failing"]')[0].click()
        page.button("Simulate").click()
        page.await_held(count)
    page.release(1)
    page.release(0)
    assert not page.find("#panel .radius"), "the page shows the result of the first simulation"


def failed_simulation_runs_again_when_the_apiserver_responds(page):
    page.open_daemon_with_stream()
    page.hold_answers("api/simulation")
    page.go(f"#/{page.daemon}/simulation")
    page.await_held(1)
    page.release(0, "no connection")
    assert page.text("#panel .error") == "no connection", page.text("#panel")
    page.send_event("connection", "{connected: false, error: 'refused'}")
    page.send_event("connection", "{connected: true, error: ''}")
    page.await_held(2)
    page.release(1)
    assert page.find("#panel .spans li"), page.text("#panel")


# Groups two pools by label "b". Then label "a" appears, and at last label "b" disappears.
GROUPING = """
return import('./tiles.js').then(({Tiles}) => {
  const tiles = new Tiles(() => {});
  const apply = (...labels) => {
    const pools = labels.map((it, i) => ({name: `p${i}`, group: '', phase: 'Ready', current: true, labels: it}));
    tiles.apply({reset: true, order: pools.map(({name}) => name), pools});
    return tiles.select.value;
  };
  apply({b: '1'}, {b: '2'});
  tiles.select.value = 'b';
  tiles.select.dispatchEvent(new Event('change'));
  return [apply({a: '1', b: '1'}, {b: '2'}), apply({a: '1'}, {})];
});
"""


def select_shows_the_label_of_the_grouping_when_labels_change(page):
    page.open_daemon()
    assert page.run(GROUPING) == ["b", "b"], page.run(GROUPING)


# Replaces the pools of the page by this number of pools.
SEND_POOLS = """
const order = [...Array(arguments[0]).keys()].map((i) => `p${i}`);
const pools = order.map((name) => ({name, group: '', phase: 'Ready', current: true}));
stream.dispatchEvent(new MessageEvent('pools', {data: JSON.stringify({reset: true, order, pools})}));
"""


def page_stays_where_the_user_has_scrolled_when_a_pool_joins(page):
    page.open_daemon_with_stream()
    page.run(SEND_POOLS, 1500)
    page.run("document.querySelector('.tile').focus(); scrollTo(0, 1000)")
    page.run(SEND_POOLS, 1501)
    assert page.focused_tile() == "p0"
    assert page.run("return scrollY") == 1000, page.run("return scrollY")


def each_action_asks_for_confirmation_and_shows_its_command(page):
    name = page.daemon.split("/")[1]
    page.open_daemon()
    for action in ("Undo", "Restart", "Pause"):
        open_dialog(page, action, f"{action.lower()} {name}")
        assert action != "Undo" or "--to-revision=" in page.text("#dialog .command"), page.text("#dialog .command")
        cancel(page)
        page.eventually(f"{action} needs a confirmation", lambda: page.button("Pause"))
    for action, opposite in (("Pause", "Resume"), ("Resume", "Pause")):
        open_dialog(page, action, f"{action.lower()} {name}")
        page.confirm()
        page.eventually(f"{action} leads to {opposite}", lambda: page.button(opposite))
    pool = other_pool(page)
    page.open_daemon(f"/pool/{pool}")
    open_dialog(page, "Restart this pool", f"restart {name} --pool={pool}")
    cancel(page)
    for action, opposite in (("Hold", "Release"), ("Release", "Hold")):
        open_dialog(page, action, f"{action.lower()} {pool}")
        page.confirm()
        page.eventually(f"{action} leads to {opposite}", lambda: page.button(opposite))


def approval_shows_its_command_and_tiles_change_without_a_reload(page):
    page.open_daemon()
    page.run("window.notReloaded = true")
    before = page.tiles()
    label = f"Approve {page.group}"
    page.eventually("the page offers the approval", lambda: page.button(label)).click()
    page.eventually("the dialog shows the command", lambda: "kubectl yad approve" in page.text("#dialog .command"))
    assert f"{page.group} --revision=" in page.text("#dialog .command"), page.text("#dialog .command")
    page.press(Keys.ESCAPE)
    page.eventually("Escape closes the dialog", lambda: not page.find("#dialog[open]"))
    page.button(label).click()
    page.confirm()
    page.eventually("the page reports the approval", lambda: "approved" in page.text("#result"))
    page.eventually("a tile changes", lambda: page.tiles() != before)
    page.eventually("the approval is no longer offered", lambda: page.button(label) is None)
    assert page.run("return window.notReloaded === true")


def open_views(page):
    """Opens each view, and yields its name."""
    own = f"#/{page.daemon}"
    views = {"fleet": ("#/", "table.fleet"), "daemon": (own, ".tile"),
             "pool": (f"{own}/pool/{page.markup_pool}", "#panel pre"),
             "revisions": (f"{own}/revisions", "#panel pre"), "simulation": (f"{own}/simulation", "#panel .spans li")}
    for name, (route, ready) in views.items():
        page.open(route)
        page.eventually(f"{name} is drawn", lambda: page.find(ready))
        yield name


def no_view_scrolls_sideways_on_a_narrow_screen_in_light_and_dark(page):
    for scheme in ("light", "dark"):
        for narrow in (False, True):
            page.emulate(scheme, narrow)
            for name in open_views(page):
                wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 0, f"{name} is {wide} pixels too wide ({scheme}, narrow: {narrow})"
                page.screenshot(f"{name}-{scheme}-{'narrow' if narrow else 'wide'}.png")
            dark = page.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
                            ".reduce((sum, it) => sum + Number(it), 0) < 384")
            assert dark == (scheme == "dark"), f"the background in {scheme}"
    page.emulate("light", False)


# Runs axe-core. Calls back with a line for each violation.
AXE = """
const done = arguments[arguments.length - 1];
const line = (rule, node) => `${rule.id}: ${node.target}: ${node.failureSummary}`;
axe.run().then(({violations}) => done(violations.flatMap((rule) => rule.nodes.map((node) => line(rule, node)))),
  (error) => done([String(error)]));
"""


def axe_finds_nothing_in_any_view_in_light_and_dark(page):
    if not page.axe:
        print("        axe-core is not installed: hack/axe.sh", flush=True)
        return
    with open(page.axe, encoding="utf-8") as file:
        script = file.read()

    def check(what):
        page.run(script)
        faults = page.browser.execute_async_script(AXE)
        assert not faults, f"{what}:\n" + "\n".join(faults)

    page.browser.set_script_timeout(120)
    for scheme in ("light", "dark"):
        for narrow in (False, True):
            page.emulate(scheme, narrow)
            for name in open_views(page):
                check(f"{name} ({scheme}, narrow: {narrow})")
    page.emulate("light", False)
    page.open_daemon()
    open_dialog(page, "Undo", "undo")
    check("dialog")
    cancel(page)


def console_has_no_error(page):
    # A request that the server rejects on purpose is logged by the browser, too.
    errors = [entry["message"] for entry in page.logged if entry["level"] == "SEVERE"]
    assert not errors, "\n".join(errors)


def tab_is_live_while_eight_tabs_are_open(page):
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


CHECKS = [
    fleet_lists_the_daemon_with_state_and_progress,
    daemon_has_a_tile_with_a_letter_and_a_phase_for_each_pool,
    filters_show_only_the_pools_that_match,
    keyboard_reaches_tiles_moves_the_focus_and_opens_and_closes_the_panel,
    markup_from_the_cluster_is_shown_as_text,
    revisions_are_listed_and_a_simulation_has_a_result,
    no_view_scrolls_sideways_on_a_narrow_screen_in_light_and_dark,
    axe_finds_nothing_in_any_view_in_light_and_dark,
    tab_is_live_while_eight_tabs_are_open,
    pool_panel_shows_the_last_change_on_a_slow_link,
    panel_of_a_pool_that_has_left_reads_the_pool_again,
    dialog_shows_the_command_with_the_last_reason,
    chosen_revisions_stay_when_the_panel_reloads,
    revisions_of_a_recreated_daemon_are_read_again,
    title_of_a_deleted_daemon_has_no_numbers,
    last_simulation_is_shown_on_a_slow_link,
    failed_simulation_runs_again_when_the_apiserver_responds,
    select_shows_the_label_of_the_grouping_when_labels_change,
    page_stays_where_the_user_has_scrolled_when_a_pool_joins,
    answer_to_a_cancelled_action_leaves_the_next_dialog_open,
    each_action_asks_for_confirmation_and_shows_its_command,
    approval_shows_its_command_and_tiles_change_without_a_reload,
    console_has_no_error,
]


def run_checks(page, arguments):
    page.group = arguments.group
    page.markup_pool = arguments.markup_pool
    page.axe = arguments.axe
    page.logged = []
    failed = 0
    for check in CHECKS:
        page.logged += page.browser.get_log("browser")
        try:
            check(page)
            print(f"ok      {check.__name__}", flush=True)
        except Exception:  # A check that fails does not stop the others.
            failed += 1
            print(f"FAILED  {check.__name__}\n{traceback.format_exc()}", flush=True)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--group", required=True)
    parser.add_argument("--markup-pool", required=True)
    parser.add_argument("--axe")
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    return run_in_browser(lambda browser: run_checks(Page(browser, arguments), arguments))


if __name__ == "__main__":
    sys.exit(main())
