// The view of all YurtAppDaemons, and the parts that other views share with it.
import {actionButton} from './actions.js';
import {h, plural, time} from './dom.js';

const kMarks = {Complete: '✓', Progressing: '◐', Waiting: '◇', Stopped: '✕', Paused: '‖', Unknown: '?'};

export const keyOf = (daemon) => `${daemon.namespace}/${daemon.name}`;
export const addressOf = (key, ...rest) => `#/${[...key.split('/'), ...rest].map(encodeURIComponent).join('/')}`;

export function stateBadge(state) {
  return h(`span.state.s-${state}`, {}, h('span.mark', {'aria-hidden': true}, kMarks[state] ?? '?'), state);
}

export function progress(of, label) {
  const stopped = of.state === 'Stopped' || of.failed > 0;
  return h(`progress${stopped ? '.stopped' : ''}`, {value: of.updated, max: Math.max(of.pools, 1), 'aria-label': label});
}

export function revisions(daemon) {
  if (!daemon.from || daemon.from === daemon.revision) return h('code', {}, daemon.revision || 'none yet');
  return h('span.revisions', {}, h('code', {}, daemon.from), h('span', {'aria-hidden': true}, ' → '), h('span.hidden', {}, ' to '), h('code', {}, daemon.revision));
}

export function renderFleet(fleet) {
  const states = new Map();
  for (const {state} of fleet.daemons) states.set(state, (states.get(state) ?? 0) + 1);
  const summary = Object.keys(kMarks).filter((state) => states.has(state)).map((state) => `${states.get(state)} ${state}`);
  const where = fleet.namespace ? `in namespace ${fleet.namespace}` : 'in all namespaces';
  return [
    h('h1', {}, 'YurtAppDaemons'),
    h('p.lead', {}, fleet.daemons.length ? `${fleet.daemons.length} ${where}: ${summary.join(', ')}` : `There are none ${where}.`),
    fleet.daemons.length ? table(fleet.daemons) : null,
  ];
}

function table(daemons) {
  const columns = ['Name', 'State', 'Updated', 'Ready', 'Failed', 'Offline', 'Revision', 'Age'];
  return h('table.fleet', {},
    h('caption.hidden', {}, 'YurtAppDaemons and their progress'),
    h('thead', {}, h('tr', {}, columns.map((column) => h('th', {scope: 'col'}, column)))),
    h('tbody', {}, daemons.map(row)));
}

// A label for narrow screens, where a row is a block.
const cell = (label, ...children) => h('td', {'data-label': label}, ...children);
const count = (label, kind, number) => h(`td.${number > 0 ? kind : 'zero'}`, {'data-label': label}, String(number));

function row(daemon) {
  return h('tr', {'data-key': keyOf(daemon)},
    h('th', {scope: 'row'}, h('a', {href: addressOf(keyOf(daemon))}, h('span.muted', {}, `${daemon.namespace}/`), daemon.name),
      h('small', {}, daemon.kind)),
    cell('State', stateBadge(daemon.state), h('div.why', {}, h('b', {}, daemon.reason), daemon.message && ` ${daemon.message}`)),
    cell('Updated', h('div.bar', {}, progress(daemon, `${daemon.name} updated`), h('span.number', {}, `${daemon.updated}/${daemon.pools}`))),
    cell('Ready', h('span', {}, `${daemon.ready}/${daemon.pools}`)),
    count('Failed', 'failed', daemon.failed),
    count('Offline', 'offline', daemon.offline),
    cell('Revision', revisions(daemon)),
    cell('Age', time(daemon.created)));
}

// The notices above each view. `online`: the plugin answers. `connection`: the plugin's watches work.
export function banners({online, connection, fleet, rights}) {
  const list = [];
  if (!online) list.push(notice('error', 'Disconnected from kubectl yad dashboard. The page shows the last known state and connects again.'));
  else if (connection && !connection.connected) {
    list.push(notice('error', `The apiserver does not answer${connection.error ? ` (${connection.error})` : ''}. The page shows the last known state.`));
  }
  if (fleet?.freeze) {
    const {until, reason} = fleet.freeze;
    const text = [h('b', {}, 'Frozen'), until ? [' until ', time(until, 'clock')] : '', reason && `: ${reason}`, '. No update of any YurtAppDaemon starts.'];
    list.push(notice('freeze', text, rights.freeze && actionButton({action: 'unfreeze'}, 'Unfreeze')));
  }
  for (const warning of fleet?.warnings ?? []) list.push(notice('warning', warning));
  return list;
}

export const notice = (kind, text, button) => h(`div.notice.${kind}`, {}, h('span', {}, text), button);

export const countText = (daemon) => `${daemon.updated} of ${plural(daemon.pools, 'pool')} updated`;
