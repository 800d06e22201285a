import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import { markdown, pdf, prose } from './files';
import { expect, test } from './fixtures';

const fromPackage = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright'));
const axeSource = readFileSync(fromPackage.resolve('axe-core/axe.min.js'), 'utf8');

interface State {
  name: string;
  path: string;
  /** Answers to give instead of the service's, by path. */
  answers?: Record<string, { status?: number; json: object }>;
  /** Bring the page into the state; afterwards it is checked at both widths. */
  enter: (page: Page) => Promise<void>;
}

const icon = (page: Page, svg: string) => page.locator(`button:has(svg.lucide-${svg})`).first();

const overview = {
  at: '2026-01-01T00:00:00+00:00',
  queue: { tenants: 1, documents: 12, running: 2, oldest_due_seconds: 90, classes: [], complete: true, top: [{ user_id: 'ada', documents: 12, running: 2, oldest_due_seconds: 90 }] },
  workers: [{ node_id: 'a', host: 'worker-1', version: '1.0.0', state: 'ok', slots: 4, running: 2, started_at: null, seen_at: '2026-01-01T00:00:00+00:00' }],
  failures: { total: 3, by_code: { corrupt_file: 2, embedding_auth: 1 }, complete: false },
  paused: [{ kind: 'tenant', id: 'ben', reason: 'Moving house', at: '2026-01-01T00:00:00+00:00' }],
};
const config = { type: 'openai_credential', credential_id: 'c', model: 'text-embedding-3-small', dimensions: 1536, parameters: {} };
const migration = {
  embedding_model_config: config,
  model_changed: null,
  migration: {
    embedding_model_config: config,
    progress: { stage: 'stopped', done: 3, total: 12, unit: 'document' },
    error: { code: 'embedding_auth', message: 'x', retryable: false },
    started_at: '2026-01-01T00:00:00+00:00',
    next_attempt_at: null,
  },
};

test('every state is accessible in both languages, both themes and both widths, and fits', async ({ browser, page, service, watch }) => {
  test.setTimeout(480_000);
  const kb = await service.knowledgeBase('Accessible', 'reader');
  const documentId = await service.upload(kb, pdf('guide.pdf', ['The lighthouse keeper polishes the lamp.', 'A second page.']), 'reader');
  await service.upload(kb, markdown('note.md', prose(1)), 'reader');
  await service.upload(kb, { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 nothing') }, 'reader');
  await service.call('POST', '/credential/', { data: { type: 'openai_credential', name: 'Key', api_key: 'sk-x' } }, 'reader');
  await service.call('POST', '/api_keys/', { name: 'Nightly job', capability: 'read', expires_in_seconds: 3600 }, 'reader');
  await service.call('PUT', `/knowledge_bases/${kb}/shares/guest`, { permission: 'read' }, 'reader');
  await service.settled(kb, 'reader');

  const opened = (selector: string) => async (at: Page) => expect(at.locator(selector).first()).toBeVisible();
  const dialog = opened('[role=dialog]');
  const states: State[] = [
    { name: 'list', path: '/', enter: opened('main li h2') },
    {
      name: 'new knowledge base',
      path: '/',
      enter: async (at) => {
        await icon(at, 'plus').click();
        await dialog(at);
        await at.locator('summary').click();
      },
    },
    { name: 'documents', path: `/kb/${kb}`, enter: opened('main tbody tr') },
    {
      name: 'row menu',
      path: `/kb/${kb}`,
      enter: async (at) => {
        await icon(at, 'ellipsis-vertical').click();
        await opened('[role=menu]')(at);
      },
    },
    {
      name: 'selection and deletion',
      path: `/kb/${kb}`,
      enter: async (at) => {
        await at.locator('thead input').check();
        await icon(at, 'trash-2').click();
        await dialog(at);
      },
    },
    {
      name: 'report',
      path: `/kb/${kb}`,
      enter: async (at) => {
        await opened('main tbody tr')(at);
        await at.getByTestId('file-input').setInputFiles([
          markdown('copy.md', prose(1)),
          { name: 'x.xyz', mimeType: '', buffer: Buffer.from('x') },
          { name: 'empty.md', mimeType: '', buffer: Buffer.from('') },
        ]);
        await dialog(at);
      },
    },
    {
      name: 'search',
      path: `/kb/${kb}/search?q=lighthouse&k=5`,
      enter: opened('mark'),
    },
    { name: 'nothing found', path: `/kb/${kb}/search?q=zzzz&mode=keyword`, enter: opened('main h2') },
    { name: 'document', path: `/kb/${kb}/doc/${documentId}?chunk=0&page=1&q=lighthouse`, enter: opened('.pdf-text .marked') },
    { name: 'settings', path: `/kb/${kb}/settings`, enter: opened('main section') },
    { name: 'credentials', path: '/credentials', enter: opened('main li h2') },
    {
      name: 'new credential',
      path: '/credentials',
      enter: async (at) => {
        await icon(at, 'plus').click();
        await opened('[role=dialog] select')(at);
      },
    },
    {
      name: 'activity',
      path: '/',
      enter: async (at) => {
        await opened('main li h2')(at);
        await icon(at, 'activity').click();
        await dialog(at);
      },
    },
    {
      name: 'preferences',
      path: '/',
      enter: async (at) => {
        await icon(at, 'settings-2').click();
        await opened('[role=menu]')(at);
      },
    },
    { name: 'API keys', path: '/keys', enter: opened('main li h2') },
    {
      name: 'new API key',
      path: '/keys',
      enter: async (at) => {
        await icon(at, 'plus').click();
        await dialog(at);
        await at.locator('fieldset input').first().uncheck();
      },
    },
    {
      name: 'sign in',
      path: '/',
      answers: {
        '/knowledge_bases/': { status: 401, json: { code: 'unauthenticated', detail: '' } },
        '/identity': { json: { ways: ['api_key', 'oidc'], oidc: { issuer: 'https://login.example', client_id: 'x', token: 'id_token' }, caller: null } },
      },
      enter: async (at) => {
        await at.locator('form button').click();
        await opened('[aria-invalid]')(at);
      },
    },
    {
      name: 'comparison',
      path: `/kb/${kb}/search?q=lighthouse&compare=1&bmode=vector&bk=5&bwhere=${encodeURIComponent('[["page","is","1"]]')}`,
      enter: async (at) => expect(at.locator('ol')).toHaveCount(2),
    },
    { name: 'usage', path: '/usage', enter: opened('main meter') },
    {
      name: 'operation',
      path: '/operator',
      answers: { '/operator/overview': { json: overview } },
      enter: opened('main table'),
    },
    {
      name: 'operator key',
      path: '/operator',
      answers: { '/operator/overview': { status: 401, json: { code: 'unauthenticated', detail: '' } } },
      enter: async (at) => {
        await at.locator('main form input').fill('x');
        await at.locator('main form button').click();
        await opened('[aria-invalid]')(at);
      },
    },
    {
      name: 'change of the model',
      path: `/kb/${kb}/settings`,
      answers: { [`/knowledge_bases/${kb}/migration`]: { json: migration } },
      enter: opened('main section progress'),
    },
    {
      name: 'import',
      path: '/',
      enter: async (at) => {
        await icon(at, 'file-up').click();
        await dialog(at);
      },
    },
    { name: 'nothing here', path: '/kb/00000000000000000000000000000000', enter: opened('main h1') },
  ];

  const problems: string[] = [];
  const inLanguage = async (at: Page, language: string) => {
    await at.addInitScript((chosen) => {
      if (!location.protocol.startsWith('http')) return;
      sessionStorage.setItem('agentscope.user', 'reader');
      localStorage.setItem('agentscope.language', chosen);
    }, language);
    await at.emulateMedia({ reducedMotion: 'reduce' });
    for (const { name, path, answers = {}, enter } of states) {
      for (const [where, answer] of Object.entries(answers)) await at.route((url) => url.pathname === where, (route) => route.fulfill(answer));
      await at.setViewportSize({ width: 1280, height: 860 });
      await at.goto('about:blank');
      await at.goto(`${service.url}/#${path}`);
      await test.step(`${name}, ${language}`, () => enter(at));
      await at.evaluate(axeSource);
      for (const width of [1280, 390]) {
        await at.setViewportSize({ width, height: 860 });
        for (const theme of ['light', 'dark']) {
          const where = `${name}, ${language}, ${theme}, ${width} px`;
          const found = await check(at, theme);
          problems.push(...found.map((text) => `${where}: ${text}`));
        }
      }
      if (Object.keys(answers).length > 0) await at.unrouteAll();
    }
  };
  // Both languages at once: each has a process of its own.
  const other = await browser.newContext();
  await Promise.all([inLanguage(page, 'en'), inLanguage(await other.newPage(), 'zh')]);
  await other.close();
  expect(problems).toEqual([]);
  expect(watch.complaints.filter((text) => !/40[14]/.test(text))).toEqual([]);
});

/** What is wrong with the page as it stands. Only colours differ between the themes, so dark repeats the rules about colours. */
async function check(page: Page, theme: string): Promise<string[]> {
  return page.evaluate(async (chosen) => {
    const dark = chosen === 'dark';
    document.documentElement.classList.toggle('dark', dark);
    // A new width and new colours have arrived after a few frames.
    for (let frame = 0; frame < 4; frame += 1) await new Promise((yes) => requestAnimationFrame(yes));
    const { axe } = window as unknown as { axe: { run: (node: Document, options: object) => Promise<{ violations: Violation[] }> } };
    interface Violation {
      id: string;
      nodes: { html: string }[];
    }
    const rules = dark ? { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } } : {};
    const { violations } = await axe.run(document, { ...rules, resultTypes: ['violations'] });
    const problems = violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
    const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (overflow > 0) problems.push(`${overflow} px too wide`);
    if (document.querySelectorAll('h1').length !== 1) problems.push('not exactly one h1');
    return problems;
  }, theme);
}
