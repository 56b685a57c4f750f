/** What fires one or more functions. */
export interface Listener {
  /** Fires no more. What has been taken all the same is given back. */
  stopReceiving(): Promise<void>;
  /** Resolves when everything taken so far has been dealt with. */
  idle(): Promise<void>;
}
