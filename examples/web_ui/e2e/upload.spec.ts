import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markdown, pdf, prose } from './files';
import { drop, expect, open, summary, test } from './fixtures';
import { recordTasks } from './tasks';
import { StubEmbedder, stubDimensions } from './stub_embedder';

const tray = 'section[aria-label="Uploads"] li';

// UI_FILES=1000 for the large run.
const many = Number(process.env.UI_FILES ?? 200);

test(`A3: ${many} files dropped at once show up at once, move on by themselves and end right`, async ({ page, service, watch }) => {
  test.setTimeout(many * 900);
  const kb = await service.knowledgeBase('Two hundred');
  await open(page, `/kb/${kb}`);
  await expect(page.getByRole('button', { name: 'Choose files' })).toBeVisible();
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(window, { seen });
    // Only what changed is looked at, so that the watching does not slow what it watches.
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const state = /Queued|Uploading|Waiting|Reading|Splitting|Embedding|Ready/.exec(target.parentElement?.closest('li')?.textContent ?? target.textContent ?? '');
        if (state) seen.add(state[0]);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const stopRecording = await recordTasks(page);
  const files = Array.from({ length: many }, (_, index) => ({ name: `note ${index}.md`, type: 'text/markdown', text: prose(index) }));
  const started = Date.now();
  await drop(page, files);
  await expect(page.locator(tray)).toHaveCount(many, { timeout: 5000 });
  const appeared = Date.now() - started;
  const names = await page.locator(`${tray} p[title]`).evaluateAll((rows) => rows.map((row) => row.getAttribute('title')));
  expect(names).toEqual(files.map((file) => file.name));
  await expect(summary(page)).toHaveText(`${many.toLocaleString('en')} of ${many.toLocaleString('en')} ready`, { timeout: many * 600 });
  const longest = (await stopRecording()).reduce((most, ms) => Math.max(most, ms), 0);
  const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
  console.log(`      ${many} rows after ${appeared} ms, all ready after ${Date.now() - started} ms, longest task ${Math.round(longest)} ms`);
  expect(seen).toEqual(expect.arrayContaining(['Queued', 'Ready']));
  expect(seen.some((state) => ['Waiting', 'Reading', 'Splitting', 'Embedding'].includes(state))).toBe(true);
  expect(appeared).toBeLessThan(process.env.RELAXED ? 5000 : 1000);
  // Processor time: what the page itself costs, on a busy machine too.
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThan(200);
  const { document_count: count } = await service.call<{ document_count: number }>('GET', `/knowledge_bases/${kb}`);
  expect(count).toBe(many);
  expect(watch.complaints).toEqual([]);
});

test('A4: a folder with sub-folders goes up whole, and what does not is named with its reason', async ({ page, service }) => {
  const kb = await service.knowledgeBase('Folder');
  const folder = mkdtempSync(join(tmpdir(), 'folder-'));
  mkdirSync(join(folder, 'handbook/travel/rail'), { recursive: true });
  mkdirSync(join(folder, 'handbook/.git'));
  writeFileSync(join(folder, 'handbook/start.md'), prose(1));
  writeFileSync(join(folder, 'handbook/travel/ferry.md'), prose(2));
  writeFileSync(join(folder, 'handbook/travel/rail/seats.txt'), prose(3));
  writeFileSync(join(folder, 'handbook/travel/trailer.xyz'), 'x');
  writeFileSync(join(folder, 'handbook/empty.md'), '');
  writeFileSync(join(folder, 'handbook/.git/config.md'), 'hidden');
  await open(page, `/kb/${kb}`);
  await page.getByTestId('folder-input').setInputFiles(join(folder, 'handbook'));
  const dialog = page.getByRole('dialog', { name: 'Before the upload' });
  await expect(dialog).toContainText('3 of 6 files will be sent.');
  await expect(dialog).toContainText('handbook/travel/trailer.xyz');
  await expect(dialog).toContainText('1 file of a type that cannot be read');
  await expect(dialog).toContainText('1 empty file');
  await expect(dialog).toContainText('1 hidden file');
  await dialog.getByRole('button', { name: 'Upload 3 files' }).click();
  await expect(summary(page)).toHaveText('3 of 3 ready', { timeout: 30_000 });
  const seats = page.getByRole('link', { name: 'handbook/travel/rail/seats.txt' });
  await expect(seats).toBeVisible();
  rmSync(folder, { recursive: true });

  // The same content again is noticed before anything is sent.
  await page.getByTestId('file-input').setInputFiles([markdown('copy.md', prose(1)), markdown('new.md', prose(4))]);
  await expect(dialog).toContainText('1 file is already there with the same content');
  await dialog.getByRole('button', { name: 'Upload 1 file' }).click();
  await expect(summary(page)).toHaveText('4 of 4 ready', { timeout: 30_000 });
});

test('A5: a broken file and a dead embedding server each show one plain line, and Retry ends ready', async ({ page, service }) => {
  test.slow();
  const stub = new StubEmbedder();
  const base = await stub.listen();
  const secret = 'sk-secret-of-the-stub';
  const { credential_id: credential } = await service.call<{ credential_id: string }>('POST', '/credential/', {
    data: { type: 'openai_credential', name: 'Stub', api_key: secret, base_url: base },
  });
  const kb = await service.knowledgeBase('Faults', 'default', {
    type: 'openai_credential',
    credential_id: credential,
    model: 'stub-model',
    dimensions: stubDimensions,
  });
  stub.broken = true;
  await open(page, `/kb/${kb}`);
  const broken = pdf('broken.pdf', ['This page will be cut off.']);
  broken.buffer = broken.buffer.subarray(0, 60);
  await page.getByTestId('file-input').setInputFiles([broken, markdown('good.md', prose(1)), markdown('blank.md', ' \n \n')]);
  await expect(summary(page)).toHaveText('0 of 3 ready · 3 failed', { timeout: 60_000 });
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await expect(row('broken.pdf')).toContainText('The file is damaged and could not be opened.');
  await expect(row('blank.md')).toContainText('No text was found in this file.');
  await expect(row('good.md')).toContainText('The embedding provider refused the key.');
  await expect(page.getByRole('main').getByRole('link', { name: 'Credentials' })).toBeVisible();

  await row('good.md').getByRole('button', { name: 'Details' }).click();
  await expect(page.getByRole('dialog')).toContainText('embedding_auth');
  await expect(page.getByRole('dialog')).not.toContainText(secret);
  stub.broken = false;
  await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
  await expect(summary(page)).toHaveText('1 of 3 ready · 2 failed', { timeout: 30_000 });
  await expect(row('good.md')).toContainText('Ready');

  await page.getByRole('button', { name: 'Show failed' }).click();
  await expect(page.getByRole('row')).toHaveCount(3);
  await expect(page).toHaveURL(/status=error/);

  // A11: nothing that reached the browser held the secret.
  const listed = await service.call('GET', '/credential/');
  expect(JSON.stringify(listed)).not.toContain(secret);
  stub.close();
});

test('A6: after a reload the service goes on, unsent files are asked for again, and nothing doubles', async ({ page, service }) => {
  test.slow();
  const kb = await service.knowledgeBase('Reload');
  const files = Array.from({ length: 12 }, (_, index) => markdown(`note ${index}.md`, prose(index)));
  const folder = mkdtempSync(join(tmpdir(), 'reload-'));
  const paths = files.map(({ name, buffer }) => {
    writeFileSync(join(folder, name), buffer);
    return join(folder, name);
  });
  await open(page, `/kb/${kb}`);
  await expect(page.getByRole('button', { name: 'Choose files' })).toBeVisible();
  // The first five arrive; the others hang on the way.
  let open_for = 5;
  await page.route(`**/knowledge_bases/${kb}/documents`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    if (open_for <= 0) return;
    open_for -= 1;
    return route.continue();
  });
  await page.getByTestId('file-input').setInputFiles(paths);
  await expect(page.locator(tray)).toHaveCount(12);
  await expect(page.locator(tray).filter({ hasText: 'Ready' })).toHaveCount(5, { timeout: 30_000 });
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  open_for = Number.POSITIVE_INFINITY;
  await expect(page.getByText('7 files were not sent before the page was closed.')).toBeVisible();
  await expect(summary(page)).toHaveText('5 of 5 ready');
  await page.getByTestId('unsent-input').setInputFiles(paths);
  await expect(summary(page)).toHaveText('12 of 12 ready', { timeout: 30_000 });
  await expect(page.getByRole('row')).toHaveCount(13);
  await expect(page.getByText('were not sent')).toHaveCount(0);
  rmSync(folder, { recursive: true });
});

test('A13: the service stops and comes back during an upload; the page says so and recovers by itself', async ({ page, service }) => {
  test.slow();
  const kb = await service.knowledgeBase('Outage');
  await open(page, `/kb/${kb}`);
  await expect(page.getByRole('button', { name: 'Choose files' })).toBeVisible();
  const session = await page.context().newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 50, downloadThroughput: -1, uploadThroughput: 30_000 });
  const big = (index: number) => markdown(`big ${index}.md`, `${prose(index)}${'More words about the same thing. '.repeat(500)}`);
  await page.getByTestId('file-input').setInputFiles(Array.from({ length: 8 }, (_, index) => big(index)));
  await expect(page.locator(tray).filter({ hasText: 'Uploading' }).first()).toBeVisible();
  await service.stop('SIGKILL');
  await expect(page.getByText('The service cannot be reached.')).toBeVisible();
  await expect(page.locator(tray).filter({ hasText: 'Paused' }).first()).toBeVisible();
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await service.start();
  await expect(page.getByText('The service cannot be reached.')).toHaveCount(0, { timeout: 30_000 });
  await expect(summary(page)).toHaveText('8 of 8 ready', { timeout: 90_000 });
  const { document_count: count } = await service.call<{ document_count: number }>('GET', `/knowledge_bases/${kb}`);
  expect(count).toBe(8);
});

test('a service that is away from the beginning is named, with its address, and the page comes by itself', async ({ page, service }) => {
  await page.route('**/knowledge_bases/**', (route) => route.abort('connectionrefused'));
  await page.route('**/health', (route) => route.abort('connectionrefused'));
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1, name: 'The service cannot be reached' })).toBeVisible();
  await expect(page.getByText(`${service.url}/`)).toBeVisible();
  await page.unrouteAll();
  await expect(page.getByRole('heading', { level: 1, name: 'Knowledge bases' })).toBeVisible();
});

test('A14: file names of every kind show as text and come back intact', async ({ page, service, watch }) => {
  const kb = await service.knowledgeBase('Names');
  const names = [
    '差旅报销制度（2026年）.md',
    'party 🎉 plan.md',
    `quotes "double" and 'single'.md`,
    '<img src=x onerror=alert(1)>.md',
    `${'long '.repeat(39)}.md`,
  ];
  await open(page, `/kb/${kb}`);
  await expect(page.getByRole('button', { name: 'Choose files' })).toBeVisible();
  await drop(page, names.map((name, index) => ({ name, type: 'text/markdown', text: prose(index) })));
  await expect(summary(page)).toHaveText('5 of 5 ready', { timeout: 30_000 });
  for (const name of names) await expect(page.getByRole('link', { name: name.replace(/ +/g, ' ').trim(), exact: true })).toBeVisible();
  expect(await page.locator('main img').count()).toBe(0);
  for (const name of names.slice(0, 4)) {
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
    await page.getByRole('menuitem', { name: 'Download' }).click();
    const got = await started;
    // Browsers replace what a file system cannot hold.
    expect(got.suggestedFilename().replaceAll('_', '?')).toBe(name.replace(/[<>"]/g, '?'));
  }
  expect(watch.complaints).toEqual([]);
});
