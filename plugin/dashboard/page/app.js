// The main script of the page. It reads the address, receives the events, and draws the view and the panel.
import {actionButton, readPermissions} from './actions.js';
import {listen} from './api.js';
import {DaemonView} from './daemon.js';
import {h, patch} from './dom.js';
import {addressOf, banners, countText, keyOf, renderFleet} from './fleet.js';
import {PoolPanel} from './pool.js';
import {RevisionsPanel} from './revisions.js';
import {SimulationPanel} from './simulation.js';

const byId = (id) => document.getElementById(id);
const main = byId('main');
const side = byId('panel');
const kPermissionsRetryMilliseconds = 5000;

const state = {online: true, connection: null, fleet: null, daemon: null, gone: false, permissions: {}};
let stop = () => {};       // ends the stream of events
let key = null;            // "NS/NAME" of the daemon in view; '' for the list; null before the first address
let view = null;           // the DaemonView
let permissionsTimer = 0;  // repeats a failed request for the permissions
let panel = null;
let panelAddress = '';
let drawn = false;         // whether a frame is already requested

// The fragments of addresses: #/, #/NS/NAME, #/NS/NAME/pool/POOL, #/NS/NAME/revisions, #/NS/NAME/simulation.
function readAddress() {
  const parts = location.hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decode);
  return {key: parts.length >= 2 ? `${parts[0]}/${parts[1]}` : '', part: parts[2], name: parts[3]};
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function route() {
  const address = readAddress();
  if (address.key !== key) show(address.key);
  showPanel(address);
  draw();
}

function show(wanted) {
  const first = key === null;
  key = wanted;
  stop();
  Object.assign(state, {daemon: null, gone: false, permissions: {}});
  view = key ? new DaemonView(key, (name) => { location.hash = addressOf(key, 'pool', name); }) : null;
  main.replaceChildren(...(view ? view.elements : []));
  stop = listen(key, take);
  loadPermissions(key);
  scrollTo(0, 0);
  if (!first) main.focus({preventScroll: true});
}

// Reads the permissions for the view `wanted`. After an error, tries again until another view is shown.
function loadPermissions(wanted) {
  clearTimeout(permissionsTimer);
  readPermissions(wanted).then(({data, error}) => {
    if (key !== wanted) return;
    clearTimeout(permissionsTimer);  // of another failed request, if the user left the view and returned
    if (error) permissionsTimer = setTimeout(loadPermissions, kPermissionsRetryMilliseconds, wanted);
    else state.permissions = data;
    draw();
  });
}

function showPanel({part, name}) {
  const wanted = key && part ? `${key} ${part} ${name ?? ''}` : '';
  if (wanted === panelAddress) return;
  const closed = panel;
  panel?.close();
  panelAddress = wanted;
  const makers = {
    pool: () => new PoolPanel(key, name, draw),
    revisions: () => new RevisionsPanel(key, draw),
    simulation: () => new SimulationPanel(key, draw),
  };
  panel = wanted ? makers[part]?.() ?? null : null;
  side.replaceChildren();
  side.hidden = !panel;
  document.body.classList.toggle('with-panel', Boolean(panel));
  drawPanel();
  view?.tiles.mark(panel instanceof PoolPanel ? panel.title : null);
  if (panel) byId('panel-title').focus();
  else if (closed) returnFocus(closed);
}

// Returns the focus to the element that opened the panel.
function returnFocus(closed) {
  if (closed instanceof PoolPanel) view?.tiles.focus(closed.title);
  else main.querySelector(`a[href$="/${closed instanceof RevisionsPanel ? 'revisions' : 'simulation'}"]`)?.focus();
}

// Handles an event of the stream.
function take(event, data) {
  // While the plugin had no connection to the apiserver, the panel may have read only a part of its data.
  if (event === 'connection' && data.connected && state.connection?.connected === false) panel?.reload();
  if (event === 'online' || event === 'connection' || event === 'fleet' || event === 'daemon') state[event] = data;
  if (event === 'gone') state.gone = true;
  if (event === 'daemon') state.gone = false;
  if (event === 'pools') {
    view.tiles.apply(data);
    if (data.reset && panel instanceof PoolPanel) view.tiles.mark(panel.title);
    panel?.changed(data);
  }
  draw();
}

// Draws before the next frame, at most once per frame. A page in the background has no frames and draws when it becomes
// visible.
function draw() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    drawNow();
  });
}

function drawNow() {
  const {fleet, online, connection, permissions} = state;
  const daemon = state.gone ? null : state.daemon ?? fleet?.daemons.find((it) => keyOf(it) === key);
  patch(byId('context'), fleet?.context ?? '');
  const live = online && connection?.connected;
  patch(byId('connection'), h(`span.live${live ? '' : '.off'}`, {}, live ? 'live' : 'not live'));
  patch(byId('fleet-actions'),
    permissions.freeze && fleet && !fleet.freeze && actionButton({action: 'freeze'}, 'Freeze'));
  patch(byId('banners'), banners(state));
  if (view) drawDaemon(daemon);
  else if (fleet) patch(main, renderFleet(fleet));
  else patch(main, h('p.muted', {}, 'Connecting …'));
  document.title = daemon && view ? `${daemon.name}: ${countText(daemon)}` : 'YurtAppDaemons';
  drawPanel();
}

function drawDaemon(daemon) {
  const missing = state.gone || (state.fleet && !daemon);
  if (missing) {
    const link = h('a', {href: '#/'}, 'All YurtAppDaemons');
    patch(main, h('h1', {}, key), h('p', {}, 'This YurtAppDaemon does not exist. ', link));
  } else if (daemon) {
    if (main.firstChild !== view.elements[0]) main.replaceChildren(...view.elements);
    view.render(daemon, state.permissions);
  }
}

function drawPanel() {
  if (!panel) return;
  const known = panel instanceof PoolPanel ? view.tiles.pools.get(panel.title) : null;
  patch(side,
    h('div.panel-head', {},
      h('h2', {id: 'panel-title', tabindex: '-1'}, panel.title), h('a.button', {href: addressOf(key)}, 'Close')),
    panel.render({permissions: state.permissions, daemon: state.daemon, known}));
}

function closePanel() {
  location.hash = addressOf(key);
}

addEventListener('hashchange', route);
document.addEventListener('acted', () => panel?.reload());
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && panel && !byId('dialog').open) closePanel();
});
byId('skip').addEventListener('click', () => main.focus());
side.addEventListener('change', ({target}) => {
  if (target.type === 'radio') panel.chosen(target.name, target.value);
});
side.addEventListener('submit', (event) => {
  event.preventDefault();
  panel.run(event.target.failing.checked, event.target.duration.valueAsNumber);
});
route();
