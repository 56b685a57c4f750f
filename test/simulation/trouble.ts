/** What a port call is made to. */
export type Target = 'store' | 'send' | 'settle' | 'handler';

/** What becomes of one port call. */
export interface Fate {
  readonly requestInMs: number;
  readonly replyInMs: number;
  /** The process dies: before the call has its effect, or after it and before the reply. */
  readonly kill?: 'before' | 'after';
  /**
   * `fails`: no effect, an error. `replyLost`: the effect, and an error. `repeated`: the effect, a lost reply, and the
   * client's own repetition of the call, which is answered.
   */
  readonly fault?: 'fails' | 'replyLost' | 'repeated';
}

/** What goes wrong in a world. */
export interface Trouble {
  fateOf(target: Target, name: string, nowUtc: number): Fate;
  /** Whether the target is down at all: every call to it fails. */
  isDown(target: Target, nowUtc: number): boolean;
}

/** Nothing goes wrong, and every call takes the same time. */
export const fairWeather: Trouble = {
  fateOf: () => FAIR,
  isDown: () => false,
};

export const FAIR: Fate = { requestInMs: 5, replyInMs: 0 };
