/** Settings in the address of a page: a link to it brings them back. They stand behind the #, which is never sent. */

/** The settings of the address, as text. */
export function read(): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Put settings into the address, in place of those that are there. */
export function write(settings: Record<string, string | number>): void {
  const texts = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  history.replaceState(null, "", `#${new URLSearchParams(texts)}`);
}
