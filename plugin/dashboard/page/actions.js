// The buttons for actions. Before an action, a dialog asks for confirmation and shows the command line that does the
// same. After a successful action, the document gets the event `acted`.
import {get, post} from './api.js';
import {h, patch} from './dom.js';

const kMostReason = 256;  // bytes, as the command allows

const kActions = {
  approve: {
    title: (it) => `Approve group ${it.group}`,
    text: ({revision}) => `The operator updates the pools of this group to revision ${revision}, after the pools of`
      + ' the earlier groups.',
    confirm: 'Approve',
  },
  pause: {
    title: (it) => `Pause ${it.daemon}`,
    text: () => 'No pool is updated to another revision until the YurtAppDaemon is resumed.',
    confirm: 'Pause',
  },
  resume: {title: (it) => `Resume ${it.daemon}`, text: () => 'The rollout continues.', confirm: 'Resume'},
  undo: {
    title: (it) => `Undo ${it.daemon}`,
    text: ({revision}) => 'The template, the serviceTemplate and the overrides of '
      + (revision ? `revision ${revision}` : 'the previous revision')
      + ' become the newest revision, which is rolled out according to updateStrategy.',
    confirm: 'Undo', danger: true,
  },
  restart: {
    title: (it) => (it.pools.length ? `Restart pool ${it.pools.join(', ')}` : `Restart all pools of ${it.daemon}`),
    text: (it) => (it.pools.length ? 'The pods of this pool restart now.'
      : 'The restart creates a new revision, which is rolled out according to updateStrategy.'),
    confirm: 'Restart', danger: true,
  },
  hold: {
    title: (it) => `Hold pool ${it.pool}`,
    text: () => 'No update and no rollback starts in this pool, for any YurtAppDaemon, until the pool is released.',
    confirm: 'Hold', reason: true,
  },
  release: {
    title: (it) => `Release pool ${it.pool}`,
    text: () => 'Updates of this pool may start again.',
    confirm: 'Release',
  },
  freeze: {
    title: () => 'Freeze all updates',
    text: () => 'No update of any YurtAppDaemon starts until the freeze ends. Updates that have begun continue.',
    confirm: 'Freeze', reason: true, danger: true,
  },
  unfreeze: {
    title: () => 'End the freeze',
    text: () => 'Updates of all YurtAppDaemons may start again.',
    confirm: 'Unfreeze',
  },
};

export function actionButton(body, label, kind = '') {
  const data = {'data-action': JSON.stringify(body), 'data-key': `${body.action} ${label}`};
  return h(`button${kind && `.${kind}`}`, {type: 'button', ...data}, label);
}

const dialog = document.getElementById('dialog');
const result = document.getElementById('result');

function showResult(text) {
  patch(result, h('div', {}, h('span', {}, text), h('button', {type: 'button', 'data-dismiss': true}, 'Close')));
}

// `wanted()` returns the action as the dialog has it now.
async function showCommand(wanted, place) {
  const body = wanted();
  if (body.reason === '') return patch(place, h('span.muted', {}, 'Enter a reason to see the command.'));
  const {data, error} = await post('command', body);
  const shown = error ? h('span.muted', {}, error) : h('code', {}, data.command);
  // The user may have changed the reason in the meantime. Its own request then shows the command.
  if (wanted().reason === body.reason) patch(place, shown);
}

function ask(body) {
  const kind = kActions[body.action];
  const reason = kind.reason
    ? h('input', {id: 'reason', required: true, maxlength: kMostReason, autocomplete: 'off', autofocus: true}) : null;
  const command = h('div.command', {'aria-live': 'polite'});
  const status = h('p.error', {role: 'status'});
  const cancel = h('button', {type: 'button', autofocus: !reason}, 'Cancel');
  const confirm = h(`button.${kind.danger ? 'danger' : 'primary'}`, {type: 'submit'}, kind.confirm);
  const form = h('form', {method: 'dialog'},
    h('h2', {id: 'dialog-title'}, kind.title(body)), h('p', {}, kind.text(body)),
    reason && h('label', {}, 'Reason', reason),
    h('p.muted', {}, 'This command does the same:'), command, status, h('div.buttons', {}, cancel, confirm));
  const wanted = () => (reason ? {...body, reason: reason.value.trim()} : body);
  let timer;
  reason?.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => showCommand(wanted, command), 150);
  });
  cancel.addEventListener('click', () => dialog.close());
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    status.textContent = '';
    const {data, error} = await post('action', wanted());
    // Before the response arrives, the user may close the dialog, and open it for another action.
    const shown = dialog.open && form.isConnected;
    const text = error ? `The action failed: ${error}` : data.message.trim();
    if (!error && shown) dialog.close();
    if (error && shown) status.textContent = text;
    else showResult(text);
    if (!error) document.dispatchEvent(new Event('acted'));
    confirm.disabled = false;
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  showCommand(wanted, command);
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-action], [data-dismiss]');
  if (button?.dataset.action) ask(JSON.parse(button.dataset.action));
  else if (button) result.replaceChildren();
});

// Returns the actions that the user has the permission to perform, as {data, error}.
export const readPermissions = (daemon) => get('permissions', daemon ? {daemon} : {});
