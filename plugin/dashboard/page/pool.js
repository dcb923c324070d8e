// The panel of one pool: the reason why it waits, the diagnosis, its workload, pods and events.
import {actionButton} from './actions.js';
import {get} from './api.js';
import {block, h, tableHead, time, why} from './dom.js';
import {describe, groupName} from './pools.js';

const kReloadMilliseconds = 500;  // changes within this time cause only one request

export class PoolPanel {
  #timer = null;   // set while a reload is planned
  #busy = false;   // whether a request is in progress
  #again = false;  // whether the pool may have changed since that request began
  #details = null;
  #error = '';

  // `redraw()` is called when the panel has new data.
  constructor(daemon, name, redraw) {
    this.title = name;
    this.daemon = daemon;
    this.redraw = redraw;
    this.#load();
  }

  // Reads the pool again if an event `pools` may have changed it. After a reset, the daemon may no longer have the pool.
  changed({reset, pools}) {
    if (reset || pools.some((pool) => pool.name === this.title)) this.reload();
  }

  // Never sends two requests at the same time, because the older response might arrive last.
  reload() {
    if (this.#busy) this.#again = true;
    else this.#timer ??= setTimeout(() => this.#load(), kReloadMilliseconds);
  }

  close() {
    clearTimeout(this.#timer);
    this.#again = false;
  }

  async #load() {
    this.#timer = null;
    this.#busy = true;
    this.#again = false;
    const {data, error} = await get('pool', {daemon: this.daemon, pool: this.title});
    this.#details = data ?? this.#details;
    this.#error = error;
    this.#busy = false;
    if (this.#again) this.reload();
    this.redraw();
  }

  // `known` is the newest state of the pool from the events.
  render({known}) {
    const details = this.#details;
    const pool = known ?? details?.pool;
    return [
      this.#error && h('p.error', {role: 'status'}, this.#error),
      pool && status(pool),
      h('div.actions', {}, details && buttons(this.daemon, this.title, details)),
      !details && !this.#error && h('p.muted', {}, 'Reading the pool …'),
      details && [
        (details.errors ?? []).map((text) => h('p.notice.warning', {}, text)),
        details.explain?.length > 0 && h('div', {'data-key': 'explain'},
          h('h3', {}, 'Diagnosis'), block('Diagnosis', details.explain.join('\n'))),
        // If some lists could not be read, an empty list does not mean that there are no pods or Events.
        (details.pods?.length > 0 || !details.errors?.length) && pods(details),
        (details.events?.length > 0 || !details.errors?.length) && events(details.events ?? []),
        details.workload && h('details', {'data-key': 'workload'},
          h('summary', {}, 'Workload'), block('Workload as YAML', details.workload.yaml)),
      ],
    ];
  }
}

function status(pool) {
  const row = (kind, name, ...value) => h(`div${kind}`, {'data-key': name}, h('dt', {}, name), h('dd', {}, ...value));
  const labels = Object.entries(pool.labels ?? {}).map(([key, value]) => h('code.label', {}, `${key}=${value}`));
  return h('dl.facts', {},
    row('', 'State', describe(pool)), row('', 'Since', time(pool.since)), row('', 'Group', groupName(pool.group)),
    pool.opens && row('', 'Window opens', time(pool.opens, 'until'), ', ', time(pool.opens, 'clock')),
    row('', 'Replicas ready', `${pool.readyReplicas}/${pool.replicas}`),
    pool.misplaced > 0 && row('', 'Misplaced pods', String(pool.misplaced)),
    row('', 'Revision', h('code', {}, pool.revision || 'none')),
    pool.workload && row('', 'Workload', h('code', {}, pool.workload)),
    pool.check && row('', 'Check', pool.check),
    labels.length > 0 && row('.wide', 'Labels', labels),
    pool.message && row('.wide', 'Message', pool.message),
    pool.derived && row('.wide', 'Source', 'Computed: the status of the YurtAppDaemon does not list this pool.'));
}

function buttons(daemon, pool, details) {
  const {permissions = {}} = details;
  const known = 'hold' in details;
  return [
    permissions.hold && (!known || !details.hold) && actionButton({action: 'hold', pool}, 'Hold'),
    permissions.hold && (!known || details.hold) && actionButton({action: 'release', pool}, 'Release'),
    permissions.restart && actionButton({action: 'restart', daemon, pools: [pool]}, 'Restart this pool'),
  ];
}

function pods({pods: list = [], podsOmitted = 0}) {
  return h('div', {'data-key': 'pods'}, h('h3', {id: 'pods-title'}, 'Pods'),
    list.length > 0 ? podTable(list) : h('p.muted', {}, 'There are no pods.'),
    podsOmitted > 0 && h('p.muted', {}, `${podsOmitted} more pods are not shown.`));
}

function podTable(list) {
  const columns = ['Pod', 'Node', 'Phase', 'Ready', 'Restarts', 'Age'];
  const rows = list.map((pod) => [
    h('tr', {'data-key': pod.name},
      h('th', {scope: 'row'}, pod.name), h('td', {}, pod.node), h('td', {}, pod.phase),
      h('td', {}, pod.ready ? 'yes' : h('span.failed', {}, 'no')), h('td', {}, String(pod.restarts)),
      h('td', {}, time(pod.age))),
    (pod.reason || pod.message) && h('tr', {'data-key': `${pod.name} why`},
      h('td.why', {colspan: columns.length}, why(pod))),
  ]);
  return h('div.scroll', {tabindex: 0, role: 'region', 'aria-labelledby': 'pods-title'}, h('table', {},
    tableHead(columns), h('tbody', {}, rows)));
}

function events(list) {
  const text = (it) => h('span', {},
    h(`b${it.type === 'Warning' ? '.failed' : ''}`, {}, it.reason), ` ${it.message} `, h('span.muted', {}, it.object));
  return h('div', {'data-key': 'events'}, h('h3', {}, 'Events'),
    list.length === 0 ? h('p.muted', {}, 'There are no events.')
      : h('ol.changes', {}, list.map((it) => h('li', {}, time(it.at), text(it)))));
}
