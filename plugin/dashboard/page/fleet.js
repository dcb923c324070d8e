// The list of all YurtAppDaemons, and parts that the other views also use.
import {actionButton} from './actions.js';
import {h, plural, tableHead, time, why} from './dom.js';

const kMarks = {Complete: '✓', Progressing: '◐', Waiting: '◇', Stopped: '✕', Paused: '‖', Unknown: '?'};

export const keyOf = (daemon) => `${daemon.namespace}/${daemon.name}`;
export const addressOf = (key, ...rest) => `#/${[...key.split('/'), ...rest].map(encodeURIComponent).join('/')}`;

export function stateBadge(state) {
  return h(`span.state.s-${state}`, {}, h('span.mark', {'aria-hidden': true}, kMarks[state] ?? '?'), state);
}

export function progress(of, label) {
  const kind = of.state === 'Stopped' ? '.stopped' : '';
  return h(`progress${kind}`, {value: of.updated, max: Math.max(of.pools, 1), 'aria-label': label});
}

// Returns a progress bar, followed by its numbers.
export const bar = (tag, of, label) =>
  h(`${tag}.bar`, {}, progress(of, label), h('span.number', {}, `${of.updated}/${of.pools}`));

export function revisions(daemon) {
  if (!daemon.from || daemon.from === daemon.revision) return h('code', {}, daemon.revision || 'none yet');
  const arrow = [h('span', {'aria-hidden': true}, ' → '), h('span.hidden', {}, ' to ')];
  return h('span', {}, h('code', {}, daemon.from), arrow, h('code', {}, daemon.revision));
}

export function renderFleet(fleet) {
  const states = new Map();
  for (const {state} of fleet.daemons) states.set(state, (states.get(state) ?? 0) + 1);
  const present = Object.keys(kMarks).filter((state) => states.has(state));
  const summary = present.map((state) => `${states.get(state)} ${state}`).join(', ');
  const where = fleet.namespace ? `in namespace ${fleet.namespace}` : 'in all namespaces';
  const some = fleet.daemons.length > 0;
  return [
    h('h1', {}, 'YurtAppDaemons'),
    h('p.lead', {}, some ? `${fleet.daemons.length} ${where}: ${summary}` : `There are no YurtAppDaemons ${where}.`),
    some && table(fleet.daemons),
  ];
}

function table(daemons) {
  const columns = ['Name', 'State', 'Updated', 'Ready', 'Failed', 'Offline', 'Revision', 'Age'];
  return h('table.fleet', {},
    h('caption.hidden', {}, 'YurtAppDaemons and their progress'),
    tableHead(columns), h('tbody', {}, daemons.map(row)));
}

// Narrow screens show a row as a block, with this label before the value.
const cell = (label, ...children) => h('td', {'data-label': label}, ...children);
const count = (label, kind, number) => h(`td.${number > 0 ? kind : 'zero'}`, {'data-label': label}, String(number));

const blockedRemovals = ({removalsBlocked}) =>
  removalsBlocked && h('div.why', {}, why({reason: 'RemovalBlocked', message: removalsBlocked}));

function row(daemon) {
  return h('tr', {'data-key': keyOf(daemon)},
    h('th', {scope: 'row'},
      h('a', {href: addressOf(keyOf(daemon))}, h('span.muted', {}, `${daemon.namespace}/`), daemon.name),
      h('small', {}, daemon.kind)),
    cell('State', stateBadge(daemon.state), h('div.why', {}, why(daemon)), blockedRemovals(daemon)),
    cell('Updated', bar('div', daemon, `${daemon.name} updated`)),
    cell('Ready', h('span', {}, `${daemon.ready}/${daemon.pools}`)),
    count('Failed', 'failed', daemon.failed),
    count('Offline', 'offline', daemon.offline),
    cell('Revision', revisions(daemon)),
    cell('Age', time(daemon.created)));
}

const kLast = 'The page shows the last known state.';

// Returns the notices above each view. `online`: the plugin responds. `connection`: the state of the plugin's watches.
export function banners({online, connection, fleet, permissions}) {
  const list = [];
  if (!online) {
    list.push(notice('error', `Disconnected from kubectl yad dashboard. ${kLast} It reconnects automatically.`));
  } else if (connection && !connection.connected) {
    const cause = connection.error ? ` (${connection.error})` : '';
    list.push(notice('error', `The apiserver does not respond${cause}. ${kLast}`));
  }
  if (fleet?.freeze) {
    const {until, reason} = fleet.freeze;
    const text = [h('b', {}, 'Frozen'), until && [' until ', time(until, 'clock')], reason && `: ${reason}`,
      '. No update of any YurtAppDaemon starts.'];
    list.push(notice('freeze', text, permissions.unfreeze && actionButton({action: 'unfreeze'}, 'Unfreeze')));
  }
  for (const warning of fleet?.warnings ?? []) list.push(notice('warning', warning));
  return list;
}

export const notice = (kind, text, button) => h(`div.notice.${kind}`, {}, h('span', {}, text), button);

export const countText = (daemon) => `${daemon.updated} of ${plural(daemon.pools, 'pool')} updated`;
