// The pools of a YurtAppDaemon as tiles, with a legend, filters and grouping. Most events change only the tiles of
// their pools.
import {h, patch, plural} from './dom.js';
import {Pools, describe, facets, groupName, kPhases, letterOf, mainFact, textFilter} from './pools.js';

// If there are more pools than this, the tiles first show only the letter of the phase.
const kMostNamedTiles = 400;
const kLegend = [['phase', 'Phase'], ['revision', 'Revision'], ['wait', 'Waits for']];
const kArrows = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

export class Tiles {
  pools = new Pools();
  #tiles = new Map();      // pool name -> button
  #sections = new Map();   // value of the grouping -> {heading, grid}
  #chosen = new Set();     // facets that the legend selects
  #filter = textFilter('');
  #groupBy = '';           // a label, or '' for the group of the rollout
  #named = null;           // whether tiles show names; null until the number of pools is known
  #current = null;         // the name of the pool whose tile can be reached with Tab
  #open;

  // `open(name)` is called when the user selects a pool.
  constructor(open) {
    this.#open = open;
    this.legend = h('div.legend');
    this.inspector = h('p.inspector', {'aria-hidden': true});
    this.board = h('div.board', {id: 'board'});
    this.select = h('select', {id: 'group-by'});
    this.names = h('button', {type: 'button', 'aria-pressed': 'false'}, 'Names');
    const search = h('input', {type: 'search', id: 'filter', placeholder: 'name, or zone=a', autocomplete: 'off'});
    this.shown = h('span.shown', {role: 'status'});
    this.element = h('section.pools', {'aria-labelledby': 'pools-title'},
      h('h2', {id: 'pools-title'}, 'Pools'),
      h('div.toolbar', {},
        h('label', {for: 'filter'}, 'Filter'), search,
        h('label', {for: 'group-by'}, 'Group by'), this.select,
        this.names, this.shown),
      this.legend,
      h('p.hidden', {id: 'board-help'}, 'The arrow keys move between pools. Enter opens a pool.'),
      this.inspector, this.board);
    search.addEventListener('input', () => this.#setFilter(search.value));
    this.select.addEventListener('change', () => { this.#groupBy = this.select.value; this.#rebuild(); });
    this.names.addEventListener('click', () => { this.#named = !this.#named; this.#rebuild(); });
    this.legend.addEventListener('click', (event) => this.#toggle(event.target.closest('button')?.dataset.facet));
    this.board.addEventListener('click', (event) => this.#select(event.target.closest('.tile')));
    this.board.addEventListener('mouseover', (event) => this.#inspect(event.target.closest('.tile')));
    this.board.addEventListener('focusin', (event) => this.#focused(event.target.closest('.tile')));
    this.board.addEventListener('keydown', (event) => this.#key(event));
  }

  // Applies an event `pools`.
  apply(data) {
    const changed = this.pools.apply(data);
    if (data.reset) this.#named ??= this.pools.size <= kMostNamedTiles;
    if (data.reset || changed.some((pool) => this.#moved(pool))) return this.#rebuild();
    for (const pool of changed) this.#fill(this.#tiles.get(pool.name), pool);
    this.#count();
  }

  // Marks the tile of the pool that the panel shows.
  mark(name) {
    this.board.querySelector('[aria-current]')?.removeAttribute('aria-current');
    this.#tiles.get(name)?.setAttribute('aria-current', 'true');
  }

  focus(name) { this.#tiles.get(name)?.focus(); }

  #moved(pool) {
    const grid = this.#tiles.get(pool.name)?.parentElement;
    return !grid || grid !== this.#sections.get(this.#keyOf(pool))?.grid;
  }

  #keyOf(pool) { return this.#groupBy ? pool.labels?.[this.#groupBy] ?? '' : pool.group; }

  #rebuild() {
    const pools = this.pools.all();
    const groups = new Map();
    for (const pool of pools) {
      const key = this.#keyOf(pool);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(pool);
    }
    // The groups of the rollout keep their order.
    const keys = this.#groupBy ? [...groups.keys()].sort() : [...groups.keys()];
    const focused = this.board.contains(document.activeElement) ? this.#current : null;
    const old = this.#tiles;
    this.#tiles = new Map();
    this.#sections.clear();
    this.board.classList.toggle('compact', !this.#named);
    this.board.replaceChildren(...keys.map((key) => this.#section(key, groups.get(key), old)));
    if (!this.#tiles.has(this.#current)) this.#current = pools[0]?.name ?? null;
    this.#tiles.get(this.#current)?.setAttribute('tabindex', '0');
    if (focused) this.#tiles.get(this.#current)?.focus({preventScroll: true});
    this.names.setAttribute('aria-pressed', String(this.#named));
    const options = new Set(['', ...this.pools.labelKeys(), this.#groupBy]);
    patch(this.select, [...options].map((key) => h('option', {value: key}, key || 'group of the rollout')));
    this.select.value = this.#groupBy;  // `patch` may have given the selected option another label
    this.#count();
  }

  #section(key, pools, old) {
    const name = this.#groupBy ? `${this.#groupBy}=${key}` : groupName(key);
    const heading = h('h3', {}, name, h('span.count'));
    const grid = h('div.grid', {role: 'group', 'aria-label': name, 'aria-describedby': 'board-help'});
    for (const pool of pools) {
      const tile = old.get(pool.name) ?? h('button', {type: 'button', tabindex: '-1', 'data-name': pool.name});
      this.#tiles.set(pool.name, tile);
      this.#fill(tile, pool);
      grid.append(tile);
    }
    this.#sections.set(key, {heading, grid});
    return h('div.section', {}, heading, grid);
  }

  #fill(tile, pool) {
    const known = kPhases.has(pool.phase) ? ` p-${pool.phase}` : '';
    tile.className = `tile${known}${pool.current ? ' new' : ''}`;
    tile.dataset.letter = letterOf(pool.phase);
    tile.setAttribute('aria-label', `${pool.name} ${describe(pool)}`);
    tile.hidden = !this.#shows(pool);
    if (this.#named) tile.replaceChildren(h('span', {}, pool.name), ' ', h('small', {}, mainFact(pool)));
    else if (tile.firstChild) tile.replaceChildren();
  }

  // Shows a pool if, for each kind with chosen facets, the pool has one of them.
  #shows(pool) {
    if (!this.#filter(pool)) return false;
    const own = new Set(facets(pool));
    return kLegend.every(([kind]) => {
      const chosen = [...this.#chosen].filter((facet) => facet.startsWith(`${kind}:`));
      return !chosen.length || chosen.some((facet) => own.has(facet));
    });
  }

  #setFilter(text) {
    this.#filter = textFilter(text);
    this.#hide();
  }

  #toggle(facet) {
    if (!facet) return;
    if (!this.#chosen.delete(facet)) this.#chosen.add(facet);
    this.#hide();
  }

  #hide() {
    for (const pool of this.pools.all()) this.#tiles.get(pool.name).hidden = !this.#shows(pool);
    if (this.#tiles.get(this.#current)?.hidden) this.#setCurrent(this.#visible()[0]);
    this.#count();
  }

  #count() {
    const counts = new Map();
    const sections = new Map();
    let shown = 0;
    for (const pool of this.pools.all()) {
      for (const facet of facets(pool)) counts.set(facet, (counts.get(facet) ?? 0) + 1);
      const key = this.#keyOf(pool);
      const section = sections.get(key) ?? {pools: 0, updated: 0, shown: 0};
      sections.set(key, section);
      section.pools += 1;
      section.updated += pool.current ? 1 : 0;
      if (this.#tiles.get(pool.name).hidden) continue;
      section.shown += 1;
      shown += 1;
    }
    for (const [key, {heading, grid}] of this.#sections) {
      const {pools, updated, shown: visible} = sections.get(key) ?? {pools: 0, updated: 0, shown: 0};
      heading.lastChild.textContent = `${updated} of ${pools} on the new revision`;
      grid.parentElement.hidden = visible === 0;
    }
    const all = plural(this.pools.size, 'pool');
    const text = shown === this.pools.size ? all : `${shown} of ${all} shown`;
    if (this.shown.textContent !== text) this.shown.textContent = text;
    this.#drawLegend(counts);
  }

  #drawLegend(counts) {
    const values = {phase: [...kPhases.keys()], revision: ['new', 'old'], wait: []};
    for (const facet of [...counts.keys(), ...this.#chosen].sort()) {
      const [kind, value] = facet.split(':');
      if (!values[kind].includes(value)) values[kind].push(value);
    }
    patch(this.legend, kLegend.map(([kind, title]) => {
      const known = values[kind].map((value) => `${kind}:${value}`);
      const present = known.filter((facet) => counts.has(facet) || this.#chosen.has(facet));
      return present.length > 0 && h('div', {role: 'group', 'aria-label': title, 'data-key': kind},
        h('span.title', {}, title), present.map((facet) => this.#chip(kind, facet, counts.get(facet) ?? 0)));
    }));
  }

  #chip(kind, facet, count) {
    const value = facet.slice(kind.length + 1);
    const samples = {
      phase: () => h(`span.sample.new.p-${value}`, {'data-letter': letterOf(value)}),
      revision: () => h(`span.sample.${value}`),
      wait: () => null,
    };
    const data = {'data-facet': facet, 'data-key': facet, 'aria-pressed': String(this.#chosen.has(facet))};
    const number = h('span.number', {}, String(count));
    return h('button.chip', {type: 'button', ...data}, samples[kind](), `${value} `, number);
  }

  #inspect(tile) {
    const pool = tile && this.pools.get(tile.dataset.name);
    if (pool) patch(this.inspector, h('b', {}, pool.name), ` ${describe(pool)}`, pool.message && `: ${pool.message}`);
  }

  #focused(tile) {
    if (!tile) return;
    this.#setCurrent(tile);
    this.#inspect(tile);
  }

  #setCurrent(tile) {
    this.#tiles.get(this.#current)?.setAttribute('tabindex', '-1');
    this.#current = tile?.dataset.name ?? null;
    tile?.setAttribute('tabindex', '0');
  }

  #select(tile) {
    if (tile) this.#open(tile.dataset.name);
  }

  #visible() { return [...this.board.querySelectorAll('.tile:not([hidden])')]; }

  #key(event) {
    const tile = event.target.closest('.tile');
    if (!tile || !kArrows.has(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const tiles = this.#visible();
    const index = tiles.indexOf(tile);
    const targets = {
      ArrowLeft: () => tiles[index - 1], ArrowRight: () => tiles[index + 1],
      Home: () => tiles[0], End: () => tiles.at(-1),
      ArrowUp: () => nearest(tiles, index, -1), ArrowDown: () => nearest(tiles, index, 1),
    };
    targets[event.key]()?.focus();
  }
}

// Returns the tile nearest to tiles[index] in the next row (step 1) or in the row before (step -1).
function nearest(tiles, index, step) {
  const from = tiles[index].getBoundingClientRect();
  let best, row, distance = Infinity;
  for (let i = index + step; tiles[i]; i += step) {
    const box = tiles[i].getBoundingClientRect();
    if (box.top === from.top) continue;
    row ??= box.top;
    const away = Math.abs(box.left - from.left);
    if (box.top !== row || away > distance) break;
    [best, distance] = [tiles[i], away];
  }
  return best;
}
