import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import en from '@/locales/en.json';
import zh from '@/locales/zh.json';

type Tree = { [key: string]: string | Tree };

function flatten(tree: Tree, prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') found.set(prefix + key, value);
    else for (const [inner, text] of flatten(value, `${prefix}${key}.`)) found.set(inner, text);
  }
  return found;
}

const source = readdirSync(join(import.meta.dirname, '../src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  .join('\n');
const english = flatten(en);
const chinese = flatten(zh);
const withoutPlural = (key: string) => key.replace(/_(one|other)$/, '');
const defined = new Set([...english.keys()].map(withoutPlural));

// t('a.b'), t(`a.${x}`), and texts named in tables such as { label: 'table.name' }.
const whole = new Set([...source.matchAll(/['"`]([a-z]+\.[\w]+)['"`]/gi)].map((match) => match[1] ?? ''));
const prefixes = [...source.matchAll(/`([a-z]+\.[\w]*)\$\{/gi)].map((match) => match[1] ?? '');

describe('texts', () => {
  it('has the same keys in both languages, none of them empty', () => {
    expect([...chinese.keys()]).toEqual([...english.keys()]);
    for (const [key, text] of [...english, ...chinese]) expect(text.trim(), key).not.toBe('');
  });

  it('has every text that the source asks for', () => {
    const called = [...source.matchAll(/\bt\(\s*['"]([\w.]+)['"]/g)].map((match) => match[1] ?? '');
    expect(called.filter((key) => !defined.has(key))).toEqual([]);
  });

  it('has no text that nothing asks for', () => {
    const unused = [...defined].filter((key) => !whole.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)));
    expect(unused).toEqual([]);
  });

  it('fills in the same values in both languages', () => {
    const values = (text = '') => [...new Set([...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]))].sort();
    for (const [key, text] of english) expect(values(chinese.get(key)), key).toEqual(values(text));
  });
});
