// The view of one YurtAppDaemon: its head, the time line of its groups, its tiles, conditions and changes.
import {actionButton} from './actions.js';
import {block, duration, h, patch, time, why} from './dom.js';
import {addressOf, bar, countText, notice, progress, revisions, stateBadge} from './fleet.js';
import {groupName} from './pools.js';
import {Tiles} from './tiles.js';

// The symbol and the text for each state of a group.
const kGroupStates = {
  Done: ['✓', 'Done'], Updating: ['◐', 'Updating'], Soaking: ['◔', 'Soaking'],
  WaitingForApproval: ['◇', 'Waits for approval'], Waiting: ['◇', 'Waiting'],
  NotBegun: ['○', 'Not begun'], Stopped: ['✕', 'Stopped'],
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

  // Draws everything except the tiles. The argument has only the data of the list until the details arrive (event
  // `daemon`).
  render(daemon, permissions) {
    patch(this.#head, head(this.key, daemon, permissions));
    this.#rollout.hidden = !daemon.groups?.length;
    patch(this.#rollout, rollout(daemon, this.tiles.pools.waits()));
    patch(this.#more, conditions(daemon), changes(daemon), template(daemon));
  }
}

function head(key, daemon, permissions) {
  return [
    (daemon.warnings ?? []).map((warning) => notice('warning', warning)),
    h('a.back', {href: '#/'}, 'All YurtAppDaemons'),
    h('div.title', {},
      h('h1', {}, h('span.muted', {}, `${daemon.namespace}/`), daemon.name),
      stateBadge(daemon.state), revisions(daemon)),
    h('p.why', {}, why(daemon)),
    actions(key, daemon, permissions),
    h('dl.facts', {},
      h('div.wide', {}, h('dt', {}, 'Updated'), bar('dd', daemon, countText(daemon))),
      fact('Ready', daemon.ready), fact('Unavailable', daemon.unavailable),
      fact('Failed', daemon.failed, daemon.failed > 0 && 'failed'), fact('Offline', daemon.offline),
      fact('Max unavailable', daemon.maxUnavailable), fact('Max failures', daemon.maxFailures),
      fact('Strategy', daemon.strategy), fact('Kind', daemon.kind),
      fact('Next change', daemon.nextChange && time(daemon.nextChange, 'until'))),
  ];
}

function actions(key, daemon, permissions) {
  const waiting = (daemon.groups ?? []).find((group) => group.approval === 'Waiting');
  const button = (body, label, kind) => actionButton({...body, daemon: key}, label, kind);
  return h('div.actions', {},
    waiting && permissions.approve
      && button({action: 'approve', group: waiting.name, revision: daemon.revision},
        `Approve ${groupName(waiting.name)}`, 'primary'),
    permissions.pause && (daemon.paused ? button({action: 'resume'}, 'Resume') : button({action: 'pause'}, 'Pause')),
    permissions.undo && button({action: 'undo', revision: daemon.undoTo ?? 0}, 'Undo'),
    permissions.restart && button({action: 'restart', pools: []}, 'Restart'),
    h('a.button', {href: addressOf(key, 'revisions')}, 'Revisions'),
    daemon.strategy === 'RollingUpdate' && h('a.button', {href: addressOf(key, 'simulation')}, 'Simulation'));
}

function fact(name, value, kind) {
  if (value == null || value === '') return null;
  const shown = value instanceof Node ? value : String(value);
  return h('div', {'data-key': name}, h('dt', {}, name), h(`dd${kind ? `.${kind}` : ''}`, {}, shown));
}

function rollout(daemon, waits) {
  const groups = daemon.groups ?? [];
  // Once the rollout has stopped, no more groups begin.
  const next = daemon.state === 'Stopped' ? null : groups.find((group) => group.state === 'NotBegun');
  return [
    h('h2', {id: 'rollout-title'}, 'Rollout'),
    h('ol.groups', {}, groups.map((group) => groupCard(group, group === next, waits.get(group.name)))),
  ];
}

function groupCard(group, isNext, waits = new Map()) {
  const [mark, text] = kGroupStates[group.state] ?? ['○', group.state];
  const limits = [`at most ${group.maxUnavailable} unavailable`];
  if (group.soakSeconds) limits.push(`soaks ${duration(group.soakSeconds * 1000)}`);
  if (group.approval === 'Required') limits.push('needs approval');
  if (group.approval === 'Given') limits.push('approved');
  // The state of the group already shows that it waits for approval.
  const others = group.state === 'NotBegun' ? [] : [...waits].filter(([what]) => what !== 'Approval');
  return h(`li.g-${group.state}`, {'data-key': group.name},
    h('div.group-head', {},
      h('span.mark', {'aria-hidden': true}, mark), h('h3', {}, groupName(group.name)),
      h('span.number', {}, `${group.updated}/${group.pools}`)),
    progress(group, `group ${groupName(group.name)} updated`),
    h('p.group-state', {},
      h('b', {}, isNext ? 'Next' : text),
      group.soakEnds && group.state === 'Soaking' && [', ends ', time(group.soakEnds, 'until')],
      group.failed > 0 && h('span.failed', {}, `, ${group.failed} failed`)),
    group.state !== 'Done' && h('p.limits', {}, limits.join(', ')),
    others.map(([what, {count, opens}]) => h('p.limits', {'data-key': what},
      `${count} ${count === 1 ? 'waits' : 'wait'} for ${what}`, opens && [', opens ', time(opens, 'until')])));
}

// Returns a section with a heading. Screen readers use the heading as the section's name.
function section(name, title, content) {
  const id = `${name}-title`;
  return h('section', {'aria-labelledby': id, 'data-key': name}, h('h2', {id}, title), content);
}

function conditions({conditions: list = []}) {
  return list.length > 0 && section('conditions', 'Conditions', h('dl.conditions', {}, list.map((it) =>
    h('div', {'data-key': it.type},
      h('dt', {}, it.type, h('span.status', {}, it.status)),
      h('dd', {}, why(it), it.lastTransitionTime && h('span.muted', {}, ' for ', time(it.lastTransitionTime)))))));
}

function changes({timeline = []}) {
  return timeline.length > 0 && section('changes', 'Changes',
    h('ol.changes', {tabindex: 0, 'aria-labelledby': 'changes-title'}, timeline.map(({at, what}) =>
      h('li', {}, time(at, 'clock'), h('span', {}, what)))));
}

function template({template: text}) {
  return text && h('details', {'data-key': 'template'},
    h('summary', {}, 'Pod template'), block('Pod template as YAML', text));
}
