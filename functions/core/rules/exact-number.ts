/**
 * A JSON number whose digits a double cannot hold, such as 9007199254740993 or 1e400, as it was written. It stands in
 * the parsed body where the number stood, so that nothing is rounded in silence: `z.number()` refuses it, and a schema
 * that wants such numbers asks for their text with `exactText`. `JSON.stringify` writes it as it came.
 */
export class ExactNumber {
  /** The JSON number, character for character. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The number as it was written. */
  toString(): string {
    return this.text;
  }

  /** For `JSON.stringify`, which writes it character for character. */
  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/**
 * The decimal text of a number in a body, whether a double holds it or not; any other value as it is.
 *
 * @example orderNumber: z.preprocess(exactText, z.string().regex(/^\d+$/))
 */
export const exactText = (value: unknown): unknown =>
  typeof value === 'number' || value instanceof ExactNumber ? String(value) : value;

/** The language's own since Node 21; the type library does not know them yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
const parse = JSON.parse as (
  text: string,
  reviver?: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/** 16 digits, or an exponent: without either, a double holds every number of the text. */
const MAY_BE_INEXACT = /(?:\d\.?){16}|\d[eE]/;

/**
 * `JSON.parse`, but for numbers that a double cannot hold: those become an `ExactNumber`.
 *
 * @throws SyntaxError where the text is no JSON
 */
export function parseJson(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return parse(text);
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isExact(source, value) ? new ExactNumber(source) : value,
  );
}

/**
 * Whether a double holds a JSON number: whether the double, printed in its shortest form or with as many digits, gives
 * the same decimal. 0.1 and 0.10000000000000001 both are the double that they name; 9007199254740993 is not, its double
 * is ...992.
 */
function isExact(source: string, value: number): boolean {
  const written = decimalOf(source);
  if (isSame(decimalOf(String(value)), written)) return true;
  const { precision } = written;
  return precision >= 1 && precision <= MOST_DIGITS && isSame(decimalOf(value.toPrecision(precision)), written);
}

/** What `toPrecision` can print. */
const MOST_DIGITS = 100;

/** 0.<digits> * 10^exponent, the digits without zeros at either end; `precision` counts those at the end too. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
  readonly precision: number;
}

const isSame = (one: Decimal, other: Decimal): boolean =>
  one.digits === other.digits && (one.digits === '' || one.exponent === other.exponent);

function decimalOf(source: string): Decimal {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const significant = (whole + fraction).replace(/^0+/, '');
  const leading = whole.length + fraction.length - significant.length;
  return {
    digits: significant.replace(/0+$/, ''),
    exponent: Number(exponent) + whole.length - leading,
    precision: significant.length,
  };
}
