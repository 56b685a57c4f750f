import type { Fields } from '../content.ts';
import type { ArithmeticOperator, Comparison, Expression, Predicate, Property } from './sql-expression.ts';

/** Three-valued logic: `undefined` is unknown, which is what comes of a property that is not there. */
type Truth = boolean | undefined;
type Value = string | number | boolean | undefined;

/** Whether a predicate holds for a message; unknown is neither. */
export function evaluate(predicate: Predicate, fields: Fields): Truth {
  switch (predicate.kind) {
    case 'compare':
      return compare(predicate.operator, valueIn(predicate.left, fields), valueIn(predicate.right, fields));
    case 'isNull':
      return property(predicate.operand, fields) === undefined;
    case 'exists':
      return property(predicate.operand, fields) !== undefined;
    case 'in':
      return predicate.options.reduce<Truth>(
        (found, option) => or(found, compare('=', valueIn(predicate.operand, fields), valueIn(option, fields))),
        false,
      );
    case 'like': {
      const mark = predicate.escape === undefined ? undefined : valueIn(predicate.escape, fields);
      return like(valueIn(predicate.operand, fields), valueIn(predicate.pattern, fields), mark);
    }
    case 'not': {
      const truth = evaluate(predicate.operand, fields);
      return truth === undefined ? undefined : !truth;
    }
    case 'and': {
      const left = evaluate(predicate.left, fields);
      if (left === false) return false;
      const right = evaluate(predicate.right, fields);
      return right === false ? false : left && right;
    }
    case 'or':
      return or(evaluate(predicate.left, fields), evaluate(predicate.right, fields));
  }
}

/** The value of an expression for a message; `undefined` where it is unknown. */
export function valueIn(expression: Expression, fields: Fields): Value {
  switch (expression.kind) {
    case 'constant':
      return expression.value ?? undefined;
    case 'property':
      return property(expression, fields);
    case 'negative': {
      const value = valueIn(expression.operand, fields);
      return typeof value === 'number' ? -value : undefined;
    }
    case 'arithmetic':
      return calculate(expression.operator, valueIn(expression.left, fields), valueIn(expression.right, fields));
  }
}

function property({ scope, name }: Property, fields: Fields): Value {
  if (scope === 'sys') return fields[name];
  const value = fields.applicationProperties.get(name);
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** Values of different types cannot be compared: the answer is unknown. */
function compare(operator: Comparison, left: Value, right: Value): Truth {
  if (left === undefined || right === undefined || typeof left !== typeof right) return undefined;
  switch (operator) {
    case '=':
      return left === right;
    case '<>':
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

function calculate(operator: ArithmeticOperator, left: Value, right: Value): Value {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') return left + right;
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? undefined : left / right;
    case '%':
      return right === 0 ? undefined : left % right;
  }
}

/** `%` stands for any text, `_` for one character; the escape character makes the next one plain. */
function like(value: Value, pattern: Value, escapeMark: Value): Truth {
  if (typeof value !== 'string' || typeof pattern !== 'string') return undefined;
  let source = '';
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] as string;
    if (character === escapeMark && index + 1 < pattern.length) source += plain(pattern[++index] as string);
    else source += character === '%' ? '.*' : character === '_' ? '.' : plain(character);
  }
  return new RegExp(`^${source}$`, 's').test(value);
}

function plain(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}

function or(left: Truth, right: Truth): Truth {
  if (left === true || right === true) return true;
  return left === undefined || right === undefined ? undefined : false;
}
