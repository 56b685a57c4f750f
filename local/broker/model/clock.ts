/** Where the model learns the time. It never sets a timer itself: whoever owns the namespace wakes it when it is due. */
export type Clock = {
  /** The present instant, in epoch milliseconds. It may jump forward, never back. */
  now(): number;
};
