/** One condition on the metadata of a passage: field, operator, value as typed. */
export type Clause = [field: string, operator: string, value: string];

export const operators = ['is', 'not', 'in', 'gte', 'lte', 'gt', 'lt', 'exists', 'missing'] as const;
export type Operator = (typeof operators)[number];

export const takesValue = (operator: string) => operator !== 'exists' && operator !== 'missing';

export function isComplete([field, operator, value]: Clause): boolean {
  return field.trim() !== '' && (!takesValue(operator) || value.trim() !== '');
}

const number = /^-?\d+(\.\d+)?$/;

/** A typed word may be stored as a text, a number or a truth: it stands for all that it can be. */
function meanings(text: string): (string | number | boolean)[] {
  if (number.test(text)) return [Number(text), text];
  if (text === 'true' || text === 'false') return [text === 'true', text];
  return [text];
}

function condition(operator: string, typed: string): unknown {
  const text = typed.trim();
  const parts = text.split(/[,，]/).flatMap((part) => (part.trim() ? meanings(part.trim()) : []));
  if (operator === 'exists' || operator === 'missing') return { $exists: operator === 'exists' };
  if (operator === 'in') return { $in: parts };
  if (operator === 'not') return { $nin: meanings(text) };
  if (operator === 'is') {
    const can = meanings(text);
    return can.length === 1 ? can[0] : { $in: can };
  }
  return { [`$${operator}`]: number.test(text) ? Number(text) : text };
}

/** The filter that the service understands; all conditions must hold. */
export function filterFrom(clauses: Clause[]): Record<string, unknown> | undefined {
  const complete = clauses.filter(isComplete).map(([field, operator, value]) => ({ [field.trim()]: condition(operator, value) }));
  return complete.length > 1 ? { $and: complete } : complete[0];
}
