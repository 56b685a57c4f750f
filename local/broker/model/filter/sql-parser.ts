import {
  type ArithmeticOperator,
  COMPARISONS,
  type Comparison,
  type Constant,
  type Expression,
  type Predicate,
  type Property,
  type Statement,
  SYSTEM_PROPERTIES,
} from './sql-expression.ts';
import { SqlError, type Token, tokensOf } from './sql-lexer.ts';

// Why a parser of our own: of those on npm (node-sql-parser 5.4, pgsql-ast-parser 12, sql-parser-cst 0.42) none reads all of
// this language: each lacks ESCAPE, EXISTS of a property, brackets or parameters in the dialect that has the rest, and none
// knows REMOVE. They take whole statements besides, all of which would have to be refused one by one; and a parser
// generator would ask for this same grammar, with a runtime of its own.
type Node = Expression | Predicate;

/** Values for the parameters of an expression, by name; a name begins with `@`. */
export type Parameters = ReadonlyMap<string, Exclude<Constant, null>>;
const NO_PARAMETERS: Parameters = new Map();

/**
 * Reads a filter of the service's SQL subset: comparisons, AND, OR, NOT, IS NULL, IN, LIKE, EXISTS, arithmetic, and
 * `property()`, and parameters. Not known, and refused by name: `newid()`, and system properties beyond those of
 * {@link SYSTEM_PROPERTIES}.
 *
 * @throws SqlError
 */
export function parseFilter(text: string, parameters = NO_PARAMETERS): Predicate {
  const parser = new Parser(text, parameters);
  return parser.whole(() => parser.predicate());
}

/**
 * Reads an action: SET and REMOVE of application properties, separated by semicolons. System properties cannot be set here.
 *
 * @throws SqlError
 */
export function parseAction(text: string, parameters = NO_PARAMETERS): Statement[] {
  const parser = new Parser(text, parameters);
  return parser.whole(() => parser.statements());
}

class Parser {
  readonly #text: string;
  readonly #parameters: Parameters;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string, parameters: Parameters) {
    this.#text = text;
    this.#parameters = parameters;
    this.#tokens = tokensOf(text);
  }

  whole<T>(parse: () => T): T {
    const result = parse();
    if (this.#peek().kind !== 'end') throw this.#unexpected();
    return result;
  }

  predicate(): Predicate {
    return this.#asPredicate(this.#or());
  }

  statements(): Statement[] {
    const statements = [this.#statement()];
    while (this.#takeSymbol(';')) if (this.#peek().kind !== 'end') statements.push(this.#statement());
    return statements;
  }

  #statement(): Statement {
    if (this.#takeWord('SET')) {
      const name = this.#userProperty('set');
      if (!this.#takeSymbol('=')) throw this.#unexpected();
      return { kind: 'set', name, value: this.#asExpression(this.#sum()) };
    }
    if (this.#takeWord('REMOVE')) return { kind: 'remove', name: this.#userProperty('removed') };
    throw this.#unexpected();
  }

  #userProperty(verb: string): string {
    const property = this.#primary();
    if (property.kind !== 'property') throw this.#unexpected();
    if (property.scope === 'user') return property.name;
    throw new SqlError(`The system property '${property.name}' cannot be ${verb} by an action of this broker.`);
  }

  #or(): Node {
    let left = this.#and();
    while (this.#takeWord('OR')) {
      left = { kind: 'or', left: this.#asPredicate(left), right: this.#asPredicate(this.#and()) };
    }
    return left;
  }

  #and(): Node {
    let left = this.#not();
    while (this.#takeWord('AND')) {
      left = { kind: 'and', left: this.#asPredicate(left), right: this.#asPredicate(this.#not()) };
    }
    return left;
  }

  #not(): Node {
    if (this.#takeWord('NOT')) return { kind: 'not', operand: this.#asPredicate(this.#not()) };
    return this.#relation();
  }

  #relation(): Node {
    const left = this.#sum();
    const operator = COMPARISONS.find((candidate) => this.#peek().kind === 'symbol' && this.#peek().text === candidate);
    if (operator !== undefined) return this.#comparison(this.#asExpression(left), operator);
    if (this.#takeWord('IS')) {
      const isNegated = this.#takeWord('NOT');
      if (!this.#takeWord('NULL')) throw this.#unexpected();
      return negatedIf(isNegated, { kind: 'isNull', operand: this.#asProperty(left) });
    }
    const isNegated = this.#takeWord('NOT');
    if (this.#takeWord('IN')) return negatedIf(isNegated, this.#membership(this.#asExpression(left)));
    if (this.#takeWord('LIKE')) {
      const pattern = this.#asExpression(this.#sum());
      const mark = this.#takeWord('ESCAPE') ? this.#asExpression(this.#sum()) : undefined;
      return negatedIf(isNegated, { kind: 'like', operand: this.#asExpression(left), pattern, escape: mark });
    }
    if (isNegated) throw this.#unexpected();
    return left;
  }

  #comparison(left: Expression, operator: Comparison): Predicate {
    this.#next++;
    return { kind: 'compare', operator, left, right: this.#asExpression(this.#sum()) };
  }

  #membership(operand: Expression): Predicate {
    this.#expectSymbol('(');
    const options = [this.#asExpression(this.#sum())];
    while (this.#takeSymbol(',')) options.push(this.#asExpression(this.#sum()));
    this.#expectSymbol(')');
    return { kind: 'in', operand, options };
  }

  #sum(): Node {
    return this.#chain(['+', '-'], () => this.#product());
  }

  #product(): Node {
    return this.#chain(['*', '/', '%'], () => this.#unary());
  }

  #chain(operators: readonly ArithmeticOperator[], operand: () => Node): Node {
    let left = operand();
    for (;;) {
      const operator = operators.find((candidate) => this.#takeSymbol(candidate));
      if (operator === undefined) return left;
      left = { kind: 'arithmetic', operator, left: this.#asExpression(left), right: this.#asExpression(operand()) };
    }
  }

  #unary(): Node {
    if (this.#takeSymbol('-')) return { kind: 'negative', operand: this.#asExpression(this.#unary()) };
    if (this.#takeSymbol('+')) return this.#unary();
    return this.#primary();
  }

  #primary(): Node {
    const token = this.#peek();
    this.#next++;
    switch (token.kind) {
      case 'string':
        return { kind: 'constant', value: token.text };
      case 'number':
        return { kind: 'constant', value: token.value };
      case 'identifier':
        return { kind: 'property', scope: 'user', name: token.text };
      case 'word':
        return this.#word(token.text);
      default: {
        if (token.text !== '(') break;
        const inner = this.#or();
        this.#expectSymbol(')');
        return inner;
      }
    }
    this.#next--;
    throw this.#unexpected();
  }

  #word(text: string): Node {
    const word = text.toUpperCase();
    if (text.startsWith('@')) return { kind: 'constant', value: this.#parameter(text) };
    if (word === 'TRUE' || word === 'FALSE') return { kind: 'constant', value: word === 'TRUE' };
    if (word === 'NULL') return { kind: 'constant', value: null };
    if (word === 'EXISTS') return { kind: 'exists', operand: this.#asProperty(this.#inParentheses()) };
    if (this.#peek().text === '(' && this.#peek().kind === 'symbol') return this.#call(word);
    if (word !== 'SYS' && word !== 'USER') return { kind: 'property', scope: 'user', name: text };
    if (!this.#takeSymbol('.')) return { kind: 'property', scope: 'user', name: text };
    const name = this.#peek().text;
    this.#next++;
    return word === 'USER' ? { kind: 'property', scope: 'user', name } : systemProperty(name);
  }

  #parameter(name: string): Constant {
    const value = this.#parameters.get(name);
    if (value === undefined) throw new SqlError(`The parameter '${name}' has no value.`);
    return value;
  }

  #call(name: string): Node {
    if (name !== 'P' && name !== 'PROPERTY')
      throw new SqlError(`The function '${name}' is not supported by this broker.`);
    const argument = this.#inParentheses();
    if (argument.kind !== 'constant' || typeof argument.value !== 'string') throw this.#unexpected();
    return { kind: 'property', scope: 'user', name: argument.value };
  }

  #inParentheses(): Node {
    this.#expectSymbol('(');
    const inner = this.#or();
    this.#expectSymbol(')');
    return inner;
  }

  #asPredicate(node: Node): Predicate {
    if (isPredicate(node)) return node;
    throw new SqlError(`Expected a condition near ${this.#place()}.`);
  }

  #asExpression(node: Node): Expression {
    if (!isPredicate(node)) return node;
    throw new SqlError(`Expected a value near ${this.#place()}.`);
  }

  #asProperty(node: Node): Property {
    if (node.kind === 'property') return node;
    throw new SqlError(`Expected a property near ${this.#place()}.`);
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)] as Token;
  }

  #takeWord(word: string): boolean {
    const token = this.#peek();
    const isThere = token.kind === 'word' && token.text.toUpperCase() === word;
    if (isThere) this.#next++;
    return isThere;
  }

  #takeSymbol(symbol: string): boolean {
    const isThere = this.#peek().kind === 'symbol' && this.#peek().text === symbol;
    if (isThere) this.#next++;
    return isThere;
  }

  #expectSymbol(symbol: string): void {
    if (!this.#takeSymbol(symbol)) throw this.#unexpected();
  }

  #unexpected(): SqlError {
    return new SqlError(`Unexpected ${this.#place()}.`);
  }

  #place(): string {
    return `'${this.#peek().text}' in: ${this.#text}`;
  }
}

function isPredicate(node: Node): node is Predicate {
  switch (node.kind) {
    case 'constant':
    case 'property':
    case 'arithmetic':
    case 'negative':
      return false;
    default:
      return true;
  }
}

function negatedIf(isNegated: boolean, operand: Predicate): Predicate {
  return isNegated ? { kind: 'not', operand } : operand;
}

function systemProperty(name: string): Property {
  const field = SYSTEM_PROPERTIES[name.toLowerCase() as keyof typeof SYSTEM_PROPERTIES];
  if (field === undefined) throw new SqlError(`The system property 'sys.${name}' is not supported by this broker.`);
  return { kind: 'property', scope: 'sys', name: field };
}
