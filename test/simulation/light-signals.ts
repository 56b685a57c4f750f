type Listener = (event: Event) => void;

const NO_EVENT = new Event('abort');

/**
 * `AbortController` and `AbortSignal` as far as the pipeline uses them, without what makes the platform's slow: weak
 * references, events, and an exception with a stack for each abort. A signal of several hears them only while someone
 * hears it, so that one that lives long keeps nothing.
 */
class LightSignal {
  readonly #sources: readonly LightSignal[];
  readonly #listeners = new Set<Listener>();
  readonly #hear = () => this.#tell();
  #isAborted = false;
  #reason: unknown = undefined;

  constructor(sources: readonly LightSignal[] = []) {
    this.#sources = sources;
  }

  get aborted(): boolean {
    return this.#isAborted || this.#sources.some((source) => source.aborted);
  }

  get reason(): unknown {
    return this.#isAborted ? this.#reason : this.#sources.find((source) => source.aborted)?.reason;
  }

  addEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners.size === 0) for (const source of this.#sources) source.addEventListener('abort', this.#hear);
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#hearNoMore();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  fire(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#tell();
  }

  #tell(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#hearNoMore();
    for (const listener of listeners) listener(NO_EVENT);
  }

  #hearNoMore(): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#hear);
  }

  static any(signals: readonly LightSignal[]): LightSignal {
    return new LightSignal(signals);
  }
}

class LightController {
  readonly signal = new LightSignal();

  abort(reason: unknown = ABORTED): void {
    this.signal.fire(reason);
  }
}

const ABORTED = new DOMException('This operation was aborted', 'AbortError');

/** Puts the light ones in place of the platform's, for this whole process. @returns what puts those back */
export function useLightSignals(): () => void {
  const { AbortController, AbortSignal } = globalThis;
  Object.assign(globalThis, { AbortController: LightController, AbortSignal: LightSignal });
  return () => void Object.assign(globalThis, { AbortController, AbortSignal });
}
