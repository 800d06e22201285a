export type Range = [start: number, end: number];

/** The service counts characters; JavaScript counts UTF-16 units: an emoji is one there and two here. */
export function toUtf16(text: string, ranges: readonly Range[]): Range[] {
  if (!/[\ud800-\udbff]/.test(text)) return ranges.map(([start, end]) => [start, end]);
  const offsets: number[] = [];
  let unit = 0;
  for (const character of text) {
    offsets.push(unit);
    unit += character.length;
  }
  offsets.push(unit);
  const at = (index: number) => offsets[Math.max(0, Math.min(index, offsets.length - 1))] ?? unit;
  return ranges.map(([start, end]) => [at(start), at(end)]);
}

const cjk = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;
const piece = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[\p{L}\p{N}]+/gu;

/** What to look for: words whole, Chinese as runs and, where a run is longer, its pairs. */
export function queryTerms(query: string): string[] {
  const terms = new Set<string>();
  for (const [found] of query.toLowerCase().matchAll(piece)) {
    if (!cjk.test(found)) {
      if (found.length > 1) terms.add(found);
      continue;
    }
    terms.add(found);
    for (let index = 0; index + 2 <= found.length && found.length > 2; index += 1) terms.add(found.slice(index, index + 2));
  }
  return [...terms];
}

/** Where the words of the query stand in the text, for services that do not say it themselves. */
export function findTerms(text: string, query: string): Range[] {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [];
  const found: Range[] = [];
  for (const term of queryTerms(query)) {
    const whole = !cjk.test(term);
    for (let at = lower.indexOf(term); at >= 0; at = lower.indexOf(term, at + term.length)) {
      const end = at + term.length;
      const startsWord = !whole || !/[\p{L}\p{N}]/u.test(lower[at - 1] ?? ' ');
      if (startsWord) found.push([at, end]);
      if (found.length > 500) return merge(found);
    }
  }
  return merge(found);
}

const slideTags = /<slide index=\d+>\n?|\n?<\/slide>/g;

/** A passage without the tags that stand around slides for machines; ranges keep their words. */
export function readable(text: string, ranges: readonly Range[] = []): { text: string; marks: Range[] } {
  const cuts = [...text.matchAll(slideTags)].map((match): Range => [match.index, match.index + match[0].length]);
  if (cuts.length === 0) return { text, marks: ranges.map(([start, end]) => [start, end]) };
  const moved = (place: number) =>
    place - cuts.reduce((sum, [start, end]) => sum + Math.max(0, Math.min(place, end) - start), 0);
  const marks = ranges.map(([start, end]): Range => [moved(start), moved(end)]).filter(([start, end]) => end > start);
  return { text: text.replace(slideTags, ''), marks };
}

/** Sorted, inside one another or touching joined. */
export function merge(ranges: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (end > start) joined.push([start, end]);
  }
  return joined;
}

export interface Excerpt {
  text: string;
  marks: Range[];
  cutBefore: boolean;
  cutAfter: boolean;
}

/** The part of a passage with the most marks, cut at blanks, at most `size` characters. */
export function excerpt(text: string, marks: readonly Range[], size: number): Excerpt {
  if (text.length <= size) return { text, marks: marks.map(([a, b]) => [a, b]), cutBefore: false, cutAfter: false };
  let best = 0;
  let most = -1;
  for (const [start] of marks) {
    const from = Math.max(0, Math.min(start - Math.floor(size / 5), text.length - size));
    const inside = marks.filter(([a, b]) => a >= from && b <= from + size).length;
    if (inside > most) [best, most] = [from, inside];
  }
  let from = best;
  let to = Math.min(text.length, best + size);
  if (from > 0) {
    const blank = text.slice(from, from + 30).search(/\s/);
    if (blank >= 0) from += blank + 1;
  }
  if (to < text.length) {
    const blank = text.slice(to - 30, to).search(/\s\S*$/);
    if (blank >= 0) to = to - 30 + blank;
  }
  const inside = marks
    .filter(([a, b]) => b > from && a < to)
    .map(([a, b]): Range => [Math.max(a, from) - from, Math.min(b, to) - from]);
  return { text: text.slice(from, to), marks: inside, cutBefore: from > 0, cutAfter: to < text.length };
}
