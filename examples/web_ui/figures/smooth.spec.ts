import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import { markdown, prose } from '../e2e/files';
import { drop, expect, open, summary, test } from '../e2e/fixtures';
import { python } from '../e2e/service';
import { recordTasks } from '../e2e/tasks';

const files = Number(process.env.UI_FILES ?? 1000);
const documents = Number(process.env.UI_DOCUMENTS ?? 5000);
const target = process.env.FIGURES ?? join(import.meta.dirname, '../../../benchmarks/results/ui.json');
const figures: Record<string, unknown> = {};

/** From now on: how long single tasks held the page, and how often over 50 and 200 ms. */
async function watch(page: Page): Promise<() => Promise<object>> {
  const stop = await recordTasks(page);
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  });
  return async () => watched(page, await stop());
}

async function watched(page: Page, processor: number[]): Promise<object> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const metric = (name: string) => metrics.find((item) => item.name === name)?.value ?? 0;
  const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
  await session.detach();
  return {
    longest_task_cpu_ms: Math.round(processor.reduce((most, ms) => Math.max(most, ms), 0)),
    tasks_over_50_ms_cpu: processor.filter((ms) => ms > 50).length,
    longest_task_ms: Math.round(Math.max(0, ...tasks)),
    tasks_over_50_ms: tasks.length,
    tasks_over_200_ms: tasks.filter((ms) => ms > 200).length,
    dom_nodes: metric('Nodes'),
    heap_mb: Number((metric('JSHeapUsedSize') / 1e6).toFixed(1)),
  };
}

test('an upload of many files', async ({ page, service }) => {
  const kb = await service.knowledgeBase('Upload');
  await open(page, `/kb/${kb}`);
  await expect(page.getByRole('button', { name: 'Choose files' })).toBeVisible();
  const done = await watch(page);
  const given = Array.from({ length: files }, (_, index) => ({ name: `note ${index}.md`, type: 'text/markdown', text: prose(index) }));
  const started = Date.now();
  await drop(page, given);
  await expect(page.locator('section[aria-label="Uploads"] li')).toHaveCount(files, { timeout: 60_000 });
  const appeared = Date.now() - started;
  const total = files.toLocaleString('en');
  await expect(summary(page)).toHaveText(`${total} of ${total} ready`, { timeout: 840_000 });
  figures.upload = { files, rows_shown_after_ms: appeared, all_ready_after_s: Math.round((Date.now() - started) / 1000), ...(await done()) };
});

test('a knowledge base of many documents', async ({ page, service }) => {
  const kb = await service.knowledgeBase('Many', 'collector');
  await service.upload(kb, markdown('first.md', prose(0)), 'collector');
  await service.settled(kb, 'collector');
  await service.stop();
  execFileSync(python, [join(import.meta.dirname, '../e2e/seed.py'), service.dataFolder, kb, String(documents - 1)]);
  await service.start();
  await page.addInitScript(() => sessionStorage.setItem('agentscope.user', 'collector'));
  await open(page, `/kb/${kb}`);
  await expect(page.getByRole('row')).toHaveCount(51);
  const done = await watch(page);
  const answers: Record<string, number> = {};
  const timed = async (name: string, act: () => Promise<unknown>, shown: () => Promise<unknown>) => {
    const started = Date.now();
    await act();
    await shown();
    answers[name] = Date.now() - started;
  };
  const range = (text: string) => () => expect(page.getByText(text)).toBeVisible();
  await timed('next_page_ms', () => page.getByRole('button', { name: 'Next' }).click(), range('51 to 100 of 5,000'));
  await timed('sort_by_name_ms', () => page.getByRole('button', { name: 'Name' }).click(), () => expect(page.getByRole('link', { name: 'first.md' })).toBeVisible());
  await timed('filter_ms', () => page.getByLabel('Filter by name').fill('note 04321'), () => expect(page.getByRole('row')).toHaveCount(2));
  await page.getByLabel('Filter by name').fill('');
  await expect(page.getByRole('row')).toHaveCount(51);
  await page.getByRole('checkbox', { name: 'Select this page' }).check();
  await timed('select_all_ms', () => page.getByRole('button', { name: 'Select all 5,000 matches' }).click(), range('5,000 selected'));
  figures.list = { documents, ...answers, ...(await done()) };
});

test.afterAll(() => {
  const about = { cores: cpus().length, load_at_end: Number((loadavg()[0] ?? 0).toFixed(1)), service: 'embedded defaults, same machine' };
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${JSON.stringify({ ...about, ...figures }, null, 2)}\n`);
});
