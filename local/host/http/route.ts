/** A route template such as `orders/{id:int}/{tab?}`, ready to match paths. */
export interface Route {
  /** What the path gives for the parameters; undefined where it does not match. */
  match(path: string): Readonly<Record<string, string>> | undefined;
}

const CONSTRAINTS: Readonly<Record<string, string>> = {
  int: '-?\\d+',
  long: '-?\\d+',
  bool: 'true|false',
  alpha: '[A-Za-z]+',
  guid: '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
};
const PARAMETER = /^\{(\*)?([A-Za-z_]\w*)(?::(\w+)(?:\([^)]*\))?)?(\?)?\}$/;

/** Reads a template. Constraints that are not known let everything through. */
export function parseRoute(template: string): Route {
  const names: string[] = [];
  const pattern = template
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => {
      const [, isRest, name, constraint, isOptional] = PARAMETER.exec(segment) ?? [];
      if (name === undefined) return `/${segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`;
      names.push(name);
      if (isRest) return '(?:/(.*))?';
      const value = `/(${(constraint && CONSTRAINTS[constraint]) ?? '[^/]+'})`;
      return isOptional ? `(?:${value})?` : value;
    })
    .join('');
  const expression = new RegExp(`^${pattern}/?$`, 'i');
  return {
    match: (path) => {
      const match = expression.exec(path);
      if (!match) return undefined;
      const values = names.map((name, index) => [name, match[index + 1]] as const);
      return Object.fromEntries(
        values.flatMap(([name, value]) => (value === undefined ? [] : [[name, decodeURIComponent(value)]])),
      );
    },
  };
}
