// The connection to the plugin: requests, and the stream of events.

// Returns {data, error}: the response, or null and a message for the user if the request fails.
async function request(path, options) {
  try {
    const response = await fetch(path, options);
    const data = await response.json().catch(() => ({}));
    if (response.ok) return {data, error: ''};
    return {data: null, error: data.error || `${response.status} ${response.statusText}`};
  } catch {
    return {data: null, error: 'kubectl yad dashboard does not respond. Check that it is still running.'};
  }
}

export const get = (path, parameters = {}) => request(`api/${path}?${new URLSearchParams(parameters)}`);

export const post = (path, body) =>
  request(`api/${path}`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});

const kEvents = ['connection', 'fleet', 'daemon', 'pools', 'gone'];
const kRetryMilliseconds = 2000;

// Calls `on(event, data)` for each event of the stream, until the returned function is called. Also calls `on('online',
// bool)` when the stream begins or breaks. A hidden page closes its stream, because a browser opens only six
// connections to a server.
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
      // The browser reconnects by itself, unless the response was not a stream of events.
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
