import type { Range } from '@/features/search/marks';

interface Squeezed {
  text: string;
  /** For each kept character, where it stood. */
  at: number[];
}

/** Letters only, folded, without blanks: two readings of one page differ in little else. */
function squeeze(text: string): Squeezed {
  const at: number[] = [];
  let kept = '';
  for (let index = 0; index < text.length; index += 1) {
    const folded = (text[index] ?? '').normalize('NFKC').toLowerCase();
    for (const character of folded) {
      if (/[\s\u00ad\u200b-\u200f\ufeff]/.test(character)) continue;
      kept += character;
      for (let unit = 0; unit < character.length; unit += 1) at.push(index);
    }
  }
  return { text: kept, at };
}

const windowSize = 24;
const step = 8;

/**
 * Where a passage stands in a text that may hold only part of it, or hold it with other blanks.
 * Null when nothing of it is found.
 */
export function locate(text: string, passage: string): Range | null {
  const hay = squeeze(text);
  const needle = squeeze(passage).text;
  if (needle === '' || hay.text === '') return null;
  const range = (start: number, end: number): Range => [hay.at[start] ?? 0, (hay.at[end - 1] ?? 0) + 1];
  const whole = hay.text.indexOf(needle);
  if (whole >= 0) return range(whole, whole + needle.length);

  // Parts of the passage, in order: the first that is found begins the range, the last ends it.
  const size = Math.min(windowSize, needle.length);
  let start = -1;
  let end = -1;
  for (let from = 0; from + size <= needle.length; from += step) {
    const part = needle.slice(from, from + size);
    const found = hay.text.indexOf(part, Math.max(0, end - size));
    // A far jump is the same words elsewhere, not the same passage.
    if (found < 0 || (start >= 0 && found > start + needle.length * 2)) continue;
    const before = sharedBefore(hay.text, found, needle, from);
    const after = sharedAfter(hay.text, found + size, needle, from + size);
    if (start < 0) start = found - before;
    end = Math.max(end, found + size + after);
  }
  return start < 0 ? null : range(start, end);
}

/** How many characters before the two places are the same. */
function sharedBefore(one: string, at: number, other: string, there: number): number {
  let count = 0;
  while (at - count > 0 && there - count > 0 && one[at - count - 1] === other[there - count - 1]) count += 1;
  return count;
}

function sharedAfter(one: string, at: number, other: string, there: number): number {
  let count = 0;
  while (at + count < one.length && there + count < other.length && one[at + count] === other[there + count]) count += 1;
  return count;
}
