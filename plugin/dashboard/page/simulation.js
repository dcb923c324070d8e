// The panel of the simulation: when each group is updated, and how many pools a bad revision would reach.
import {get} from './api.js';
import {clock, duration, h, plural} from './dom.js';
import {groupName} from './pools.js';

const kMostNames = 30;

export class SimulationPanel {
  title = 'Simulation';
  #options = {failing: false, duration: 120};
  #result = null;
  #error = '';
  #busy = false;
  #runs = 0;  // the number of simulations that were started

  constructor(daemon, redraw) {
    this.daemon = daemon;
    this.redraw = redraw;
    this.#load();
  }

  changed() {}
  reload() {
    if (this.#error) this.#load();
  }

  close() {}

  run(failing, seconds) {
    this.#options = {failing, duration: seconds};
    this.#load();
  }

  async #load() {
    const run = ++this.#runs;
    const options = this.#options;
    this.#busy = true;
    const {data, error} = await get('simulation', {daemon: this.daemon, ...options});
    if (run !== this.#runs) return;  // A newer simulation has begun.
    this.#result = data && {...options, ...data};
    this.#error = error;
    this.#busy = false;
    this.redraw();
  }

  render({daemon}) {
    const value = this.#options.duration;
    const seconds = {type: 'number', name: 'duration', min: 1, max: 86400, value, required: true};
    return [
      h('form', {id: 'simulate'},
        h('label', {}, 'Duration of an update in seconds', h('input', seconds)),
        h('label.check', {}, h('input', {type: 'checkbox', name: 'failing'}), 'Every update fails'),
        h('button', {type: 'submit'}, 'Simulate')),
      h('div', {role: 'status'},
        this.#busy && !this.#result && h('p.muted', {}, 'Simulating …'),
        this.#error && h('p.error', {}, this.#error),
        this.#result && summary(this.#result)),
      this.#result && timeline(this.#result, (daemon?.groups ?? []).map(({name}) => groupName(name))),
    ];
  }
}

function summary(it) {
  const of = `of ${plural(it.pools.length, 'pool')}`;
  const took = duration(new Date(it.to) - new Date(it.from));
  if (!it.failing) {
    return h('p', {}, h('b', {}, it.end), ` after ${took}: ${it.poolsReached} ${of} get ${it.revision}.`);
  }
  const reached = it.pools.filter((pool) => pool.starts).map((pool) => pool.name);
  const more = reached.length > kMostNames ? ` and ${reached.length - kMostNames} more` : '';
  return [
    h('p.radius', {}, h('b', {}, String(reached.length)),
      ` ${of} would get the bad revision from now on. The rollout ends after ${took}: ${it.end}.`),
    reached.length > 0 && h('p.muted', {}, reached.slice(0, kMostNames).join(', ') + more),
  ];
}

// Returns the pools by group, sorted as in `order`. Each group has the times of its first write and its last change.
function byGroup(pools, order) {
  const groups = new Map();
  for (const pool of pools) {
    const group = groups.get(pool.group) ?? {name: pool.group, results: new Map(), start: Infinity, end: -Infinity};
    groups.set(pool.group, group);
    group.results.set(pool.result, (group.results.get(pool.result) ?? 0) + 1);
    if (!pool.starts) continue;
    group.start = Math.min(group.start, new Date(pool.starts));
    group.end = Math.max(group.end, new Date(pool.goesBack ?? pool.ends ?? pool.failed ?? pool.starts));
  }
  return [...groups.values()].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

function timeline(it, order) {
  const from = +new Date(it.from);
  const after = (moment) => `+${duration(moment - from)}`;
  return [
    h('h3', {}, 'Groups'),
    h('ol.spans', {}, byGroup(it.pools, order).map((group) => groupRow(group, it, after))),
    it.events.length > 0 && [h('h3', {}, 'Events'), h('ol.changes', {}, it.events.map((event) => h('li', {},
      h('span.after', {title: clock(event.time)}, after(new Date(event.time))), h('span', {}, event.event))))],
    (it.failures ?? []).map((text) => h('p.notice.warning', {}, text)),
  ];
}

function groupRow(group, it, after) {
  const from = +new Date(it.from);
  const length = Math.max(1, new Date(it.to) - from);
  const percent = (part) => `${Math.min(100, Math.max(0, part / length * 100)).toFixed(2)}%`;
  const begins = group.start < Infinity;
  const place = begins && {left: percent(group.start - from), width: percent(group.end - group.start)};
  const results = [...group.results].map(([result, count]) => `${count} ${result}`);
  return h('li', {'data-key': group.name}, h('b', {}, group.name),
    h('span.track', {'aria-hidden': true}, begins && h(`span.span${it.failing ? '.bad' : ''}`, {style: place})),
    h('small', {}, begins && `${after(group.start)} to ${after(group.end)}, `, results.join(', ')));
}
