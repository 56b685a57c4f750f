import { LOG_LEVELS, type LogEntry, type LogLevel } from './log-entry.ts';

/** Names of levels in `logging.logLevel` of host.json; upper and lower case do not matter. */
export const LEVEL_NAMES = [...LOG_LEVELS, 'none'].map((level) => level.charAt(0).toUpperCase() + level.slice(1));

/** The least level that is logged, by the beginning of a category, both in lower case; `default` is for all others. */
export type LogLevels = Readonly<Record<string, LogLevel | 'none'>>;

/** What the real host logs where host.json says nothing. */
const DEFAULT_LEVEL = 'information';

/** The level of this name, or undefined where there is none. */
export function levelOf(name: string): LogLevel | 'none' | undefined {
  const level = name.toLowerCase();
  return level === 'none' ? level : LOG_LEVELS.find((each) => each === level);
}

/** Whether the line is logged: of the beginnings that its category has, the longest decides. */
export function isLogged({ level, category }: Pick<LogEntry, 'level' | 'category'>, levels: LogLevels): boolean {
  const [beginning = 'default'] = Object.keys(levels)
    .filter((each) => each !== 'default' && category.toLowerCase().startsWith(each))
    .sort((one, other) => other.length - one.length);
  const least = levels[beginning] ?? DEFAULT_LEVEL;
  return least !== 'none' && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}
