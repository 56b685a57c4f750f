type Listener = (event: Event) => void;

const NO_EVENT = new Event('abort');

/**
 * `AbortController` and `AbortSignal` as far as the pipeline uses them, without what makes the platform's slow: weak
 * references, events and an exception with a stack for each abort.
 */
class LightSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: Listener[] | undefined;

  addEventListener(_type: 'abort', listener: Listener): void {
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index >= 0) this.#listeners?.splice(index, 1);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  fire(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners) for (const listener of listeners) listener(NO_EVENT);
  }

  static any(signals: readonly LightSignal[]): LightSignal {
    const either = new LightSignal();
    for (const signal of signals) {
      if (signal.aborted) {
        either.fire(signal.reason);
        return either;
      }
    }
    for (const signal of signals) signal.addEventListener('abort', () => either.fire(signal.reason));
    return either;
  }
}

class LightController {
  readonly signal = new LightSignal();

  abort(reason: unknown = ABORTED): void {
    this.signal.fire(reason);
  }
}

const ABORTED = new DOMException('This operation was aborted', 'AbortError');

/** Puts the light ones in place of the platform's, for this whole process. */
export function useLightSignals(): void {
  Object.assign(globalThis, { AbortController: LightController, AbortSignal: LightSignal });
}
