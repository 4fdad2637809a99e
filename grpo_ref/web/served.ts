/** Serve this page by the service worker, which keeps its files, with the headers for shared memory. */

const RELOADED = "grpo-ref/reloaded";
const PATIENCE = 5000;

/** Let the service worker serve this page and keep its files. Resolves when it does, or after a timeout. */
export async function kept(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const controlled = new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done));
  const late = new Promise((done) => setTimeout(done, PATIENCE));
  await navigator.serviceWorker.register("offline.js");
  if (navigator.serviceWorker.controller === null) await Promise.race([controlled, late]);
}

/** Return whether memory can be shared with workers. Reload the page once if it came without the headers. */
export async function isolated(): Promise<boolean> {
  await kept();
  if (crossOriginIsolated || sessionStorage.getItem(RELOADED) !== null) return crossOriginIsolated;
  sessionStorage.setItem(RELOADED, "yes");
  location.reload();
  return new Promise(() => undefined);
}
