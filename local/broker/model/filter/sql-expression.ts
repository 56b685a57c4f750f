/** Names of system properties that filters may use; the keys are lower-case, for case does not matter in them. */
export const SYSTEM_PROPERTIES = {
  messageid: 'messageId',
  correlationid: 'correlationId',
  contenttype: 'contentType',
  label: 'subject',
  subject: 'subject',
  to: 'to',
  replyto: 'replyTo',
  sessionid: 'sessionId',
  replytosessionid: 'replyToSessionId',
} as const;
export type SystemField = (typeof SYSTEM_PROPERTIES)[keyof typeof SYSTEM_PROPERTIES];

/** A constant. `null` is the unknown value. */
export type Constant = string | number | boolean | null;

export type Property =
  | { readonly kind: 'property'; readonly scope: 'user'; readonly name: string }
  | { readonly kind: 'property'; readonly scope: 'sys'; readonly name: SystemField };

/** Something with a value. */
export type Expression =
  | { readonly kind: 'constant'; readonly value: Constant }
  | Property
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'negative'; readonly operand: Expression };

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';
export const COMPARISONS = ['=', '<>', '!=', '<', '<=', '>', '>='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Something that is true, false or unknown. */
export type Predicate =
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'isNull'; readonly operand: Property }
  | { readonly kind: 'exists'; readonly operand: Property }
  | { readonly kind: 'in'; readonly operand: Expression; readonly options: readonly Expression[] }
  | {
      readonly kind: 'like';
      readonly operand: Expression;
      readonly pattern: Expression;
      readonly escape: Expression | undefined;
    }
  | { readonly kind: 'not'; readonly operand: Predicate }
  | { readonly kind: 'and' | 'or'; readonly left: Predicate; readonly right: Predicate };

/** What an action does to a message's application properties. */
export type Statement =
  | { readonly kind: 'set'; readonly name: string; readonly value: Expression }
  | { readonly kind: 'remove'; readonly name: string };
