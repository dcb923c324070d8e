// The panel of the revisions. It also shows the difference between two of them.
import {actionButton} from './actions.js';
import {get} from './api.js';
import {block, h, tableHead, time} from './dom.js';

export class RevisionsPanel {
  title = 'Revisions';
  #revisions = null;
  #version = null;  // the daemon and its update revision at the last read
  #chosen = {};     // {from, to}: names
  #picked = false;  // whether the user has chosen one of them
  #diff = null;     // {from, to, text}
  #error = '';
  #reads = 0;       // the number of requests for the revisions

  constructor(daemon, redraw) {
    this.daemon = daemon;
    this.redraw = redraw;
  }

  changed() {}
  reload() { this.#load(); }
  close() {}

  chosen(field, name) {
    this.#chosen[field] = name;
    this.#picked = true;
    this.#loadDiff();
  }

  async #load() {
    const read = ++this.#reads;
    const {data, error} = await get('history', {daemon: this.daemon});
    if (read !== this.#reads) return;  // A newer request has begun.
    this.#error = error;
    if (data) {
      this.#revisions = data.revisions;
      this.#choose();
      if (this.#revisions.length > 0) this.#loadDiff();
    }
    this.redraw();
  }

  // Chooses the revisions to compare. Keeps those that the user has chosen while both exist.
  #choose() {
    const revisions = this.#revisions;
    const exists = (name) => revisions.some((it) => it.name === name);
    this.#picked = this.#picked && exists(this.#chosen.from) && exists(this.#chosen.to);
    if (this.#picked || revisions.length === 0) return;
    const to = revisions.find((it) => it.update) ?? revisions[0];
    const from = revisions.find((it) => it.current && it !== to) ?? revisions.find((it) => it !== to) ?? to;
    this.#chosen = {from: from.name, to: to.name};
  }

  async #loadDiff() {
    const {from, to} = this.#chosen;
    const {data, error} = await get('diff', {daemon: this.daemon, from, to});
    if (from !== this.#chosen.from || to !== this.#chosen.to) return;
    this.#diff = data && {from, to, text: data.diff};
    this.#error = error;
    this.redraw();
  }

  render({permissions, daemon}) {
    // A new update revision means that the history has changed. A daemon that was created again has a new history.
    const version = daemon && `${daemon.created} ${daemon.revision}`;
    if (daemon && version !== this.#version) {
      this.#version = version;
      this.#load();
    }
    return [
      this.#error && h('p.error', {role: 'status'}, this.#error),
      this.#revisions === null ? h('p.muted', {}, 'Reading the revisions …') : this.#table(permissions),
      this.#diff !== null && h('div', {'data-key': 'diff'},
        h('h3', {}, `From ${this.#diff.from} to ${this.#diff.to}`),
        this.#diff.text ? block('Difference', lines(this.#diff.text)) : h('p.muted', {}, 'The revisions are equal.')),
    ];
  }

  #table(permissions) {
    const columns = ['From', 'To', 'Revision', 'Age', 'Pools', 'Undo'];
    return h('div.scroll', {tabindex: 0, role: 'region', 'aria-label': 'Revisions'}, h('table', {},
      tableHead(columns), h('tbody', {}, this.#revisions.map((it) => this.#row(it, permissions)))));
  }

  #row(it, permissions) {
    const radio = (field) => h('td', {}, h('input', {
      type: 'radio', name: field, value: it.name, checked: it.name === this.#chosen[field],
      'aria-label': `compare ${field} ${it.name}`,
    }));
    const tags = [it.update && 'update', it.current && 'current', it.failed && 'failed'].filter(Boolean);
    const undo = {action: 'undo', daemon: this.daemon, revision: it.revision};
    return h('tr', {'data-key': it.name}, radio('from'), radio('to'),
      h('th', {scope: 'row'},
        `${it.revision} `, h('code', {}, it.name), tags.map((tag) => h(`span.tag.${tag}`, {}, tag)),
        it.cause && h('small', {}, it.cause),
        it.failure && h('small.failed', {}, it.failure)),
      h('td', {}, time(it.created)), h('td', {}, it.pools === null ? 'unknown' : String(it.pools)),
      h('td', {}, permissions.undo && !it.update && actionButton(undo, `Undo to ${it.revision}`)));
  }
}

function lines(diff) {
  const kinds = {'+': 'span.added', '-': 'span.removed', '@': 'span.muted'};
  return diff.trimEnd().split('\n').map((line) => {
    const kind = /^(---|\+\+\+) /.test(line) ? 'span.muted' : kinds[line[0]] ?? 'span';
    return h(kind, {}, `${line}\n`);
  });
}
