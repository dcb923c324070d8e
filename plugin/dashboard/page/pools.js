// The pools of one YurtAppDaemon, as the events describe them, and numbers about them.

// The phases, the most urgent first, with the letters that the tiles show.
export const kPhases = new Map([
  ['Failed', 'X'], ['Unhealthy', '!'], ['Pending', 'P'], ['Updating', 'U'], ['Verifying', 'V'], ['Soaking', 'S'],
  ['Removing', '-'], ['Offline', 'O'], ['Ready', 'R'],
]);

export const letterOf = (phase) => kPhases.get(phase) ?? phase.slice(0, 1);
export const groupName = (name) => name || 'default';

// The page does not offer a label for grouping if it has more values than this.
const kMaxValues = 100;

export class Pools {
  #byName = new Map();

  // Applies an event `pools`. Returns the pools that have changed.
  apply({reset, order, pools}) {
    if (reset) this.#byName = new Map(order.map((name) => [name, null]));
    for (const pool of pools) this.#byName.set(pool.name, pool);
    return pools;
  }

  get(name) { return this.#byName.get(name); }
  get size() { return this.#byName.size; }
  all() { return [...this.#byName.values()].filter(Boolean); }

  // Returns the keys of labels by which the pools can be grouped.
  labelKeys() {
    const values = new Map();
    for (const pool of this.all()) {
      for (const [key, value] of Object.entries(pool.labels ?? {})) {
        if (!values.has(key)) values.set(key, new Set());
        values.get(key).add(value);
      }
    }
    return [...values].filter(([, set]) => set.size <= kMaxValues).map(([key]) => key).sort();
  }

  // Returns the number of waiting pools for each group and reason: Map group -> Map reason -> {count, opens}.
  waits() {
    const groups = new Map();
    for (const pool of this.all()) {
      if (!pool.waitingFor) continue;
      if (!groups.has(pool.group)) groups.set(pool.group, new Map());
      const waits = groups.get(pool.group);
      const entry = waits.get(pool.waitingFor) ?? {count: 0, opens: null};
      entry.count += 1;
      if (pool.opens && (!entry.opens || pool.opens < entry.opens)) entry.opens = pool.opens;
      waits.set(pool.waitingFor, entry);
    }
    return groups;
  }
}

// Returns the properties of a pool that the legend counts and can filter.
export function facets(pool) {
  const list = [`phase:${pool.phase}`, `revision:${pool.current ? 'new' : 'old'}`];
  if (pool.waitingFor) list.push(`wait:${pool.waitingFor}`);
  return list;
}

// Returns a filter for a text such as "bei zone=a". A pool must match all words: parts of its name, and labels.
export function textFilter(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (pool) => words.every((word) => {
    const [key, value] = word.split('=', 2);
    if (value === undefined) return pool.name.toLowerCase().includes(word);
    const matches = ([k, v]) => k.toLowerCase() === key && (value === '' || v.toLowerCase() === value);
    return Object.entries(pool.labels ?? {}).some(matches);
  });
}

// Returns the text beside the pool's name on a large tile: what the pool waits for, or its phase. Returns '' for a pool
// that is ready and does not wait.
export function mainFact(pool) {
  if (pool.waitingFor && pool.phase === 'Ready') return `waits for ${pool.waitingFor}`;
  return pool.phase === 'Ready' ? '' : pool.phase;
}

// Returns the facts in one line. The main fact comes first, because a label must contain the visible text of its tile.
export function describe(pool) {
  const wait = pool.waitingFor && `waits for ${pool.waitingFor}`;
  const parts = [mainFact(pool), pool.phase, wait, pool.current ? 'new revision' : 'old revision', pool.reason];
  return [...new Set(parts)].filter(Boolean).join(', ');
}
