import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { markdown, prose } from './files';
import { expect, open, summary, test } from './fixtures';
import { python } from './service';

test('A9: one, many and all go away for good, with counts that are right', async ({ page, service }) => {
  test.slow();
  const kb = await service.knowledgeBase('Deletions');
  for (let index = 0; index < 8; index += 1) await service.upload(kb, markdown(`note ${index}.md`, prose(index)));
  await service.settled(kb);
  await open(page, `/kb/${kb}`);
  await expect(summary(page)).toHaveText('8 of 8 ready');

  await page.getByRole('button', { name: 'Actions for note 3.md' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('heading')).toHaveText('Delete “note 3.md”?');
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Delete 1 document' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'note 3.md' })).toHaveCount(0);
  await expect(summary(page)).toHaveText('7 of 7 ready');

  await page.getByRole('checkbox', { name: 'Select note 1.md' }).check();
  await page.getByRole('checkbox', { name: 'Select note 2.md' }).check();
  await page.getByRole('group', { name: 'Selected documents' }).getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete 2 documents' }).click();
  await expect(summary(page)).toHaveText('5 of 5 ready');

  await page.getByRole('checkbox', { name: 'Select this page' }).check();
  await page.getByRole('group', { name: 'Selected documents' }).getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete 5 documents' }).click();
  await expect(page.getByRole('row')).toHaveCount(0);
  await expect(page.getByText('Drop files or folders here')).toBeVisible();
  await page.reload();
  await expect(page.getByText('Drop files or folders here')).toBeVisible();
  await expect(page.getByRole('row')).toHaveCount(0);

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Delete knowledge base' }).click();
  await dialog.getByRole('button', { name: 'Delete knowledge base' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Knowledge bases' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Deletions' })).toHaveCount(0);
});

test('A10: two users in two tabs never see each other, and a switch leaves nothing behind', async ({ page, service }) => {
  await service.knowledgeBase('Only for Ada', 'ada');
  await service.knowledgeBase('Only for Ben', 'ben');
  const become = async (tab: typeof page, name: string) => {
    await tab.getByRole('button', { name: /^User / }).click();
    await tab.getByRole('menuitem', { name: 'Switch user' }).click();
    await tab.getByLabel('User name').fill(name);
    await tab.getByRole('button', { name: 'Switch', exact: true }).click();
  };
  await page.goto('/');
  await become(page, 'ada');
  await expect(page.getByRole('link', { name: 'Only for Ada' })).toBeVisible();
  const other = await page.context().newPage();
  await other.goto('/');
  await become(other, 'ben');
  await expect(other.getByRole('link', { name: 'Only for Ben' })).toBeVisible();
  await expect(other.getByText('Only for Ada')).toHaveCount(0);

  // The first tab stays who it was, also over a reload.
  await page.reload();
  await expect(page.getByRole('link', { name: 'Only for Ada' })).toBeVisible();
  await expect(page.getByText('Only for Ben')).toHaveCount(0);

  await page.getByRole('link', { name: 'Only for Ada' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Only for Ada' })).toBeVisible();
  await become(page, 'carol');
  await expect(page.getByText('Make your documents searchable')).toBeVisible();
  expect(page.url()).toBe(`${service.url}/#/`);
  await expect(page.getByText('Only for Ada')).toHaveCount(0);
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('ada');
  await other.close();
});

test('A11: a secret goes in and never comes back', async ({ page, service, watch }) => {
  const secret = 'sk-very-secret-4711';
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith(service.url)) bodies.push(response.text().catch(() => ''));
  });
  await page.goto('/#/credentials');
  await page.getByRole('button', { name: 'New credential' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Provider').selectOption({ label: 'OpenAI API' });
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('Secretive');
  await dialog.getByLabel('API key').fill(secret);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'Secretive' })).toBeVisible();
  await page.getByRole('button', { name: 'Edit Secretive' }).click();
  await expect(dialog.getByLabel('API key')).toHaveValue('');
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('Renamed');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'Renamed' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Renamed' })).toBeVisible();
  expect((await Promise.all(bodies)).some((body) => body.includes(secret))).toBe(false);
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(secret);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Delete Renamed' }).click();
  await dialog.getByRole('button', { name: 'Delete credential' }).click();
  await expect(page.getByRole('heading', { name: 'Renamed' })).toHaveCount(0);
  expect(watch.complaints).toEqual([]);
});

test('A15: 5,000 documents list in under a second and stay smooth', async ({ page, service, watch }) => {
  test.slow();
  const kb = await service.knowledgeBase('Many', 'collector');
  await service.upload(kb, markdown('first.md', prose(0)), 'collector');
  await service.settled(kb, 'collector');
  await service.stop();
  execFileSync(python, [join(import.meta.dirname, 'seed.py'), service.dataFolder, kb, '4999']);
  await service.start();
  await page.addInitScript(() => sessionStorage.setItem('agentscope.user', 'collector'));
  await open(page, `/kb/${kb}`);
  await expect(summary(page)).toHaveText('5,000 of 5,000 ready');
  await expect(page.getByRole('row')).toHaveCount(51);
  const answered = async (act: () => Promise<unknown>) => {
    const waiting = page.waitForResponse((response) => /\/documents\?/.test(response.url()));
    await act();
    const response = await waiting;
    await response.finished();
    return response.request().timing().responseEnd;
  };
  const limit = process.env.RELAXED ? 5000 : 1000;
  expect(await answered(() => page.getByRole('button', { name: 'Next' }).click())).toBeLessThan(limit);
  await expect(page.getByText('51 to 100 of 5,000')).toBeVisible();
  expect(await answered(() => page.getByRole('button', { name: 'Name' }).click())).toBeLessThan(limit);
  await expect(page.getByRole('link', { name: 'first.md' })).toBeVisible();
  expect(await answered(() => page.getByLabel('Filter by name').fill('note 04321'))).toBeLessThan(limit);
  await expect(page.getByRole('row')).toHaveCount(2);
  await page.getByLabel('Filter by name').fill('');
  await expect(page.getByRole('row')).toHaveCount(51);
  await page.getByRole('checkbox', { name: 'Select this page' }).check();
  await page.getByRole('button', { name: 'Select all 5,000 matches' }).click();
  await expect(page.getByText('5,000 selected')).toBeVisible();
  expect(watch.complaints).toEqual([]);
});
