// The view of one YurtAppDaemon: its head, the time line of its groups, its tiles, conditions and changes.
import {actionButton} from './actions.js';
import {duration, h, patch, time} from './dom.js';
import {addressOf, countText, notice, progress, revisions, stateBadge} from './fleet.js';
import {groupName} from './pools.js';
import {Tiles} from './tiles.js';

const kGroupMarks = {Done: '✓', Updating: '◐', Soaking: '◔', WaitingForApproval: '◇', Waiting: '◇', NotBegun: '○', Stopped: '✕'};
const kGroupTexts = {
  Done: 'Done', Updating: 'Updating', Soaking: 'Soaking', WaitingForApproval: 'Waits for approval', Waiting: 'Waiting', NotBegun: 'Not begun', Stopped: 'Stopped',
};

export class DaemonView {
  #head = h('div');
  #rollout = h('section', {'aria-labelledby': 'rollout-title'});
  #more = h('div.more');

  constructor(key, openPool) {
    this.key = key;
    this.tiles = new Tiles(openPool);
    this.elements = [this.#head, this.#rollout, this.tiles.element, this.#more];
  }

  // Draws all except the tiles. `daemon` has only the entry of the fleet until the first event `daemon`.
  render(daemon, rights) {
    patch(this.#head, head(this.key, daemon, rights));
    this.#rollout.hidden = !daemon.groups?.length;
    patch(this.#rollout, rollout(daemon, this.tiles.pools.waits()));
    patch(this.#more, conditions(daemon), changes(daemon), template(daemon));
  }
}

function head(key, daemon, rights) {
  const waiting = (daemon.groups ?? []).find((group) => group.approval === 'Waiting');
  const action = (allowed, body, label, kind) => allowed && actionButton({...body, daemon: key}, label, kind);
  return [
    (daemon.warnings ?? []).map((warning) => notice('warning', warning)),
    h('a.back', {href: '#/'}, 'All YurtAppDaemons'),
    h('div.title', {}, h('h1', {}, h('span.muted', {}, `${daemon.namespace}/`), daemon.name), stateBadge(daemon.state), revisions(daemon)),
    h('p.why', {}, h('b', {}, daemon.reason), daemon.message && ` ${daemon.message}`),
    h('div.actions', {},
      waiting && action(rights.approve, {action: 'approve', group: waiting.name}, `Approve ${groupName(waiting.name)}`, 'primary'),
      action(rights.pause, {action: daemon.paused ? 'resume' : 'pause'}, daemon.paused ? 'Resume' : 'Pause'),
      action(rights.undo, {action: 'undo', revision: 0}, 'Undo'),
      action(rights.restart, {action: 'restart', pools: []}, 'Restart'),
      h('a.button', {href: addressOf(key, 'revisions')}, 'Revisions'),
      daemon.strategy === 'RollingUpdate' && h('a.button', {href: addressOf(key, 'simulation')}, 'Simulation')),
    h('dl.facts', {},
      h('div.wide', {}, h('dt', {}, 'Updated'), h('dd.bar', {}, progress(daemon, countText(daemon)), h('span.number', {}, `${daemon.updated}/${daemon.pools}`))),
      fact('Ready', daemon.ready), fact('Unavailable', daemon.unavailable), fact('Failed', daemon.failed, daemon.failed && 'failed'),
      fact('Offline', daemon.offline), fact('Max unavailable', daemon.maxUnavailable), fact('Max failures', daemon.maxFailures),
      fact('Strategy', daemon.strategy), fact('Kind', daemon.kind),
      fact('Next change', daemon.nextChange && time(daemon.nextChange, 'until'))),
  ];
}

function fact(name, value, kind) {
  if (value == null || value === '') return null;
  return h('div', {'data-key': name}, h('dt', {}, name), h(`dd${kind ? `.${kind}` : ''}`, {}, value instanceof Node ? value : String(value)));
}

function rollout(daemon, waits) {
  const groups = daemon.groups ?? [];
  const next = groups.find((group) => group.state === 'NotBegun');
  return [
    h('h2', {id: 'rollout-title'}, 'Rollout'),
    h('ol.groups', {}, groups.map((group) => groupCard(group, group === next, waits.get(group.name)))),
  ];
}

function groupCard(group, isNext, waits) {
  const text = isNext ? 'Next' : kGroupTexts[group.state] ?? group.state;
  const limits = [`at most ${group.maxUnavailable} unavailable`];
  if (group.soakSeconds) limits.push(`soaks ${duration(group.soakSeconds * 1000)}`);
  if (group.approval === 'Required') limits.push('needs approval');
  if (group.approval === 'Given') limits.push('approved');
  return h(`li.g-${group.state}`, {'data-key': group.name},
    h('div.group-head', {}, h('span.mark', {'aria-hidden': true}, kGroupMarks[group.state] ?? '○'), h('h3', {}, groupName(group.name)),
      h('span.number', {}, `${group.updated}/${group.pools}`)),
    progress(group, `group ${groupName(group.name)} updated`),
    h('p.group-state', {}, h('b', {}, text), group.soakEnds && group.state === 'Soaking' && [', ends ', time(group.soakEnds, 'until')],
      group.failed > 0 && h('span.failed', {}, `, ${group.failed} failed`)),
    group.state !== 'Done' && h('p.limits', {}, limits.join(', ')),
    group.state !== 'NotBegun' && [...waits ?? []].filter(([what]) => what !== 'Approval').map(([what, {count, opens}]) =>
      h('p.limits', {'data-key': what}, `${count} ${count === 1 ? 'waits' : 'wait'} for ${what}`, opens && [', opens ', time(opens, 'until')])));
}

function conditions({conditions: list = []}) {
  if (!list.length) return null;
  return h('section', {'aria-labelledby': 'conditions-title', 'data-key': 'conditions'}, h('h2', {id: 'conditions-title'}, 'Conditions'),
    h('dl.conditions', {}, list.map((it) => h('div', {'data-key': it.type},
      h('dt', {}, it.type, h(`span.status.c-${it.status}`, {}, it.status)),
      h('dd', {}, h('b', {}, it.reason), it.message && ` ${it.message}`, it.lastTransitionTime && h('span.muted', {}, ' for ', time(it.lastTransitionTime)))))));
}

function changes({timeline = []}) {
  if (!timeline.length) return null;
  return h('section', {'aria-labelledby': 'changes-title', 'data-key': 'changes'}, h('h2', {id: 'changes-title'}, 'Changes'),
    h('ol.changes', {tabindex: 0, 'aria-labelledby': 'changes-title'}, timeline.map(({at, what}) => h('li', {}, time(at, 'clock'), h('span', {}, what)))));
}

function template({template: text}) {
  if (!text) return null;
  return h('details', {'data-key': 'template'}, h('summary', {}, 'Pod template'), h('pre', {tabindex: 0, role: 'region', 'aria-label': 'Pod template as YAML'}, text));
}
