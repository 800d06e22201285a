import i18next from 'i18next';
import { describe, expect, it, vi } from 'vitest';
import { errorFrom } from '@/api/errors';
import { movingCount, type KnowledgeBase, type KnowledgeDocument } from '@/api/types';
import { nextPoll, secondsLeft } from '@/features/documents/polling';
import { forEach } from '@/features/documents/actions';
import { newer } from '@/features/documents/live';
import { totalsOf } from '@/features/documents/summary';
import { modelChoices } from '@/features/kbs/models';
import { filterFrom } from '@/features/search/clauses';
import { clausesOf, paramsOf, requestOf, settingsOf } from '@/features/search/settings';
import { viewKind } from '@/features/viewer/kind';
import { searchCodec } from '@/router';
import { formatAgo, formatBytes, parseTime } from '@/ui/format';
import { errorText, failureText } from '@/ui/message';
import { sentValues, startValues } from '@/ui/schema_form';

describe('polling', () => {
  it('asks once a second while something moves, rarely when hidden, never when all stands still', () => {
    expect(nextPoll({ moving: 3, hidden: false, failures: 0 })).toBe(1000);
    expect(nextPoll({ moving: 3, hidden: true, failures: 0 })).toBe(10_000);
    expect(nextPoll({ moving: 0, hidden: false, failures: 0 })).toBeNull();
  });

  it('backs off on errors, up to half a minute', () => {
    const waits = [1, 2, 3, 4, 5, 9].map((failures) => nextPoll({ moving: 1, hidden: false, failures }));
    expect(waits).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('tells the time left only after five seconds and a tenth of progress', () => {
    const since = { startedAt: 0, startedShare: 0 };
    expect(secondsLeft(0.5, since, 4000)).toBeNull();
    expect(secondsLeft(0.05, since, 60_000)).toBeNull();
    expect(secondsLeft(0.25, since, 30_000)).toBe(90);
    expect(secondsLeft(1, since, 30_000)).toBeNull();
  });
});

describe('counts', () => {
  const counts = { pending: 1, parsing: 2, chunking: 0, indexing: 3, ready: 10, error: 1 };
  const kb = { status_counts: counts } as KnowledgeBase;
  const item = (state: string, sentAt = 0, stored = true) => ({ state, sentAt, stored }) as never;

  it('adds files that the service has not counted yet, and those it never got', () => {
    expect(movingCount(counts)).toBe(6);
    const items = [item('waiting'), item('sending'), item('sent', 200), item('sent', 50), item('sent', 300, false), item('failed')];
    expect(totalsOf(kb, 100, items)).toEqual({ total: 21, ready: 10, working: 9, failed: 2, unsent: 2 });
  });

  it('prefers the newer view of a row', () => {
    const row = { updated_at: '2026-01-01T00:00:01+00:00' } as KnowledgeDocument;
    const live = { updated_at: '2026-01-01T00:00:02+00:00' } as KnowledgeDocument;
    expect(newer(row, live)).toBe(live);
    expect(newer(live, row)).toBe(live);
    expect(newer(row, undefined)).toBe(row);
  });
});

describe('errors', () => {
  it('reads every shape of error answer', () => {
    expect(errorFrom(404, { detail: 'gone', code: 'document_not_found' }, null)).toMatchObject({ code: 'document_not_found', message: 'gone' });
    expect(errorFrom(429, { detail: 'slow' }, '12')).toMatchObject({ code: 'quota_exceeded', retryAfterSeconds: 12 });
    const invalid = errorFrom(422, { detail: [{ loc: ['body', 'name'], msg: 'too short', type: 'x' }] }, null);
    expect(invalid.fields).toEqual({ name: 'too short' });
    expect(invalid.message).toBe('too short');
  });

  it('never calls a failing service unreachable, only a proxy without one behind it', () => {
    expect(errorFrom(500, 'Internal Server Error', null)).toMatchObject({ unreachable: false, code: 'internal_error' });
    expect(errorFrom(503, { detail: 'busy', code: 'storage_error' }, null).unreachable).toBe(false);
    expect(errorFrom(502, '', null).unreachable).toBe(true);
  });

  it('translates codes and keeps the line of the service for unknown ones', async () => {
    expect(errorText(errorFrom(500, null, null))).toContain('Something went wrong');
    const failed = { error: 'A new kind of fault.', error_detail: { code: 'brand_new' } } as KnowledgeDocument;
    expect(failureText(failed)).toBe('A new kind of fault.');
    expect(failureText({ ...failed, error_detail: { code: 'no_text' } })).toContain('No text');
    expect(errorText(errorFrom(409, { detail: 'It says why.', code: 'conflict' }, null))).toBe('It says why.');
  });
});

describe('many at a time', () => {
  it('does all, a few at once, and collects what failed', async () => {
    let running = 0;
    let most = 0;
    const progress = vi.fn();
    const outcome = await forEach(
      Array.from({ length: 20 }, (_, index) => String(index)),
      async (id) => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running -= 1;
        if (id === '7') throw errorFrom(404, { detail: 'gone', code: 'document_not_found' }, null);
      },
      progress,
    );
    expect(outcome.done).toBe(19);
    expect(outcome.failures).toHaveLength(1);
    expect(most).toBeLessThanOrEqual(6);
    expect(progress).toHaveBeenLastCalledWith(20);
  });
});

describe('models', () => {
  const credential = (id: string, data: object) => ({ id, editable: true, data: { type: 'openai_credential', name: id, ...data } });
  const card = { name: 'm', label: 'M', dimensions: 8, supported_dimensions: null };
  const local = { credential: credential('local', { type: 'local_credential' }), models: [card] };

  it('puts the model of this machine first', () => {
    const models = { providers: [{ credential: credential('a', {}), models: [card] }, local], policy: { kind: 'any', dimension: null } as const };
    expect(modelChoices(models, [])[0]).toMatchObject({ key: 'local/m', dimensions: [8] });
  });

  it('lets a credential with a server of its own name any model', () => {
    const models = { providers: [local], policy: { kind: 'fixed', dimension: 8 } as const };
    const choices = modelChoices(models, [credential('mine', { base_url: 'http://localhost:1' }), credential('plain', { base_url: null })]);
    expect(choices.map(({ key, dimensions }) => [key, dimensions])).toEqual([
      ['local/m', [8]],
      ['mine/', [8]],
    ]);
  });
});

describe('forms from a schema', () => {
  const schema = {
    required: ['api_key'],
    properties: {
      type: { const: 'x' },
      api_key: { type: 'string', format: 'password' },
      size: { type: 'integer', default: 3 },
      url: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      on: { type: 'boolean' },
    },
  };

  it('starts from defaults and stored values, secrets empty', () => {
    expect(startValues(schema, { api_key: '****', url: 'http://x' })).toEqual({ api_key: '', size: '3', url: 'http://x', on: false });
  });

  it('sends numbers as numbers, emptied texts as null, untouched secrets not at all', () => {
    expect(sentValues(schema, { api_key: '', size: '5', url: ' ', on: true })).toEqual({ size: 5, url: null, on: true });
  });
});

describe('small things', () => {
  it('writes plain addresses and reads them back', () => {
    const values = { q: 'a b&c', page: 2, status: undefined };
    expect(searchCodec.stringifySearch(values)).toBe('?q=a+b%26c&page=2');
    expect(searchCodec.parseSearch('?q=a+b%26c&page=2')).toEqual({ q: 'a b&c', page: '2' });
    expect(searchCodec.stringifySearch({})).toBe('');
  });

  it('filters by type and by document', () => {
    expect(requestOf('q', {})).toEqual({ query: 'q', top_k: 10 });
    expect(requestOf('q', { type: 'pdf', k: 99 }, 'd')).toEqual({
      query: 'q',
      top_k: 50,
      content_types: ['application/pdf'],
      document_ids: ['d'],
    });
    expect(requestOf('q', { type: 'unknown' })).toEqual({ query: 'q', top_k: 10 });
  });

  it('makes a filter of complete conditions, a typed word standing for all it can be', () => {
    expect(filterFrom([])).toBeUndefined();
    expect(filterFrom([['', 'is', 'x'], ['year', 'is', ' ']])).toBeUndefined();
    expect(filterFrom([['author', 'is', 'Li']])).toEqual({ author: 'Li' });
    expect(filterFrom([['year', 'is', '2024']])).toEqual({ year: { $in: [2024, '2024'] } });
    expect(
      filterFrom([
        ['year', 'gte', '2020'],
        ['day', 'lt', '2024-05-01'],
        ['tag', 'in', 'a，b, true'],
        ['draft', 'not', 'true'],
        ['folder', 'missing', ''],
      ]),
    ).toEqual({
      $and: [
        { year: { $gte: 2020 } },
        { day: { $lt: '2024-05-01' } },
        { tag: { $in: ['a', 'b', true, 'true'] } },
        { draft: { $nin: [true, 'true'] } },
        { folder: { $exists: false } },
      ],
    });
  });

  it('keeps both sides of a comparison in the address, and survives an address that is nonsense', () => {
    const right = { k: 5, mode: 'keyword', min: undefined, type: undefined, rerank: false, where: [['year', 'is', '1']] as [string, string, string][] };
    expect(settingsOf({ q: 'x', ...paramsOf(right, 'b') }, 'b')).toEqual(right);
    expect(settingsOf({ q: 'x', ...paramsOf(right, 'b') }, 'a').where).toEqual([]);
    expect(clausesOf('{"a":1}')).toEqual([]);
    expect(clausesOf('[["a","is"],["b","is","c"]]')).toEqual([['b', 'is', 'c']]);
    expect(clausesOf('[')).toEqual([]);
  });

  it('never shows a web page or a drawing as such', () => {
    const kind = (content_type: string | null, filename = 'a', size = 1) => viewKind({ content_type, filename, size } as KnowledgeDocument);
    expect(kind('application/pdf')).toBe('pdf');
    expect(kind(null, 'a.pdf')).toBe('pdf');
    expect(kind('text/html')).toBe('extracted');
    expect(kind('image/svg+xml')).toBe('extracted');
    expect(kind('text/markdown; charset=utf-8')).toBe('text');
    expect(kind('text/plain', 'a', 3_000_000)).toBe('extracted');
    expect(kind('image/png')).toBe('image');
  });

  it('formats sizes and times in the chosen language', async () => {
    expect(formatBytes(0)).toBe('0 bytes');
    expect(formatBytes(1_500_000)).toBe('1.5 MB');
    expect(parseTime('2026-01-02T20:00:00').toISOString()).toBe('2026-01-02T20:00:00.000Z');
    const now = Date.parse('2026-01-02T20:00:00Z');
    expect(formatAgo('2026-01-02T18:00:00+00:00', now)).toBe('2 hours ago');
    await i18next.changeLanguage('zh');
    expect(formatAgo('2026-01-02T18:00:00+00:00', now)).toBe('2小时前');
    await i18next.changeLanguage('en');
  });
});
