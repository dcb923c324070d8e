// The panel of the revisions, with the difference of two of them.
import {actionButton} from './actions.js';
import {get} from './api.js';
import {h, time} from './dom.js';

export class RevisionsPanel {
  title = 'Revisions';
  #revisions = null;
  #update = null;   // the daemon's update revision at the last read
  #chosen = {};     // {from, to}: names
  #diff = null;
  #error = '';

  constructor(daemon, redraw) {
    this.daemon = daemon;
    this.redraw = redraw;
  }

  changed() {}
  reload() {}
  close() {}

  chosen(field, name) {
    this.#chosen[field] = name;
    this.#loadDiff();
  }

  async #load() {
    try {
      const {revisions} = await get('history', {daemon: this.daemon});
      this.#revisions = revisions;
      const to = revisions.find((it) => it.update) ?? revisions[0];
      const from = revisions.find((it) => it.current && it !== to) ?? revisions.find((it) => it !== to) ?? to;
      if (to) this.#chosen = {from: from.name, to: to.name};
      this.#error = '';
      if (to) return this.#loadDiff();
    } catch (error) {
      this.#error = error.message;
    }
    this.redraw();
  }

  async #loadDiff() {
    const {from, to} = this.#chosen;
    let diff, failure = '';
    try {
      ({diff} = await get('diff', {daemon: this.daemon, from, to}));
    } catch (error) {
      failure = error.message;
    }
    if (from !== this.#chosen.from || to !== this.#chosen.to) return;
    this.#diff = diff ?? null;
    this.#error = failure;
    this.redraw();
  }

  render({rights, daemon}) {
    // A new update revision means that the history has changed.
    if (daemon && daemon.revision !== this.#update) {
      this.#update = daemon.revision;
      this.#load();
    }
    return [
      this.#error && h('p.error', {role: 'status'}, this.#error),
      this.#revisions === null ? h('p.muted', {}, 'Reading the revisions …') : this.#table(rights),
      this.#diff !== null && h('div', {'data-key': 'diff'},
        h('h3', {id: 'diff-title'}, `From ${this.#chosen.from} to ${this.#chosen.to}`),
        this.#diff === '' ? h('p.muted', {}, 'They are equal.') : h('pre.diff', {tabindex: 0, role: 'region', 'aria-labelledby': 'diff-title'}, lines(this.#diff))),
    ];
  }

  #table(rights) {
    const radio = (field, it) => h('td', {}, h('input', {type: 'radio', name: field, value: it.name, checked: it.name === this.#chosen[field],
      'aria-label': `compare ${field} ${it.name}`}));
    const columns = ['From', 'To', 'Revision', 'Age', 'Pools', 'Undo'];
    return h('div.scroll', {tabindex: 0, role: 'region', 'aria-label': 'Revisions'}, h('table', {},
      h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col'}, name)))),
      h('tbody', {}, this.#revisions.map((it) => h('tr', {'data-key': it.name}, radio('from', it), radio('to', it),
        h('th', {scope: 'row'}, `${it.revision} `, h('code', {}, it.name), it.update && h('span.tag', {}, 'update'), it.current && h('span.tag', {}, 'current'),
          it.failed && h('span.tag.failed', {}, 'failed'),
          it.cause && h('small', {}, it.cause)),
        h('td', {}, time(it.created)), h('td', {}, it.pools === null ? 'unknown' : String(it.pools)),
        h('td', {}, rights.undo && !it.update && actionButton({action: 'undo', daemon: this.daemon, revision: it.revision}, `Undo to ${it.revision}`)))))));
  }
}

function lines(diff) {
  const kinds = {'+': 'span.added', '-': 'span.removed', '@': 'span.muted'};
  return diff.split('\n').map((line) => h(kinds[line[0]] ?? 'span', {}, `${line}\n`));
}
