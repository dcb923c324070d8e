// The connection to the plugin: requests, and the stream of events.

// Returns the answer, or throws an Error whose message can be shown to the user.
async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error('kubectl yad dashboard does not respond. Check that it is still running.');
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error || `${answer.status} ${answer.statusText}`);
  return body;
}

export const get = (path, parameters = {}) => request(`api/${path}?${new URLSearchParams(parameters)}`);

export const post = (path, body) =>
  request(`api/${path}`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});

const kEvents = ['connection', 'fleet', 'daemon', 'pools', 'gone'];
const kRetryMilliseconds = 2000;

// Reads events until the returned function is called. `on(event, data)` gets each of them, and ('online', bool) when
// the stream begins or breaks. A hidden page has no stream, because a browser opens only six connections to one server.
export function listen(daemon, on) {
  let source = null, timer;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    if (document.hidden) return;
    source = new EventSource(`api/events${daemon ? `?${new URLSearchParams({daemon})}` : ''}`);
    for (const name of kEvents) source.addEventListener(name, (event) => on(name, JSON.parse(event.data)));
    source.onopen = () => on('online', true);
    source.onerror = () => {
      on('online', false);
      // The browser reconnects by itself, except after an answer that is not a stream.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, kRetryMilliseconds);
    };
  };
  document.addEventListener('visibilitychange', open);
  open();
  return () => {
    document.removeEventListener('visibilitychange', open);
    close();
  };
}
