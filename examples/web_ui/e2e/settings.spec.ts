import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdown, prose } from './files';
import { expect, open, summary, test } from './fixtures';
import { StubEmbedder, stubDimensions } from './stub_embedder';

test('the embedding model is changed while searches go on; a bad one is told at once, and the change can be given up', async ({ page, service }) => {
  test.slow();
  const stub = new StubEmbedder();
  const base = await stub.listen();
  await service.call('POST', '/credential/', { data: { type: 'openai_credential', name: 'Other', api_key: 'x', base_url: base } }, 'mover');
  const kb = await service.knowledgeBase('Moving', 'mover');
  for (let index = 0; index < 3; index += 1) await service.upload(kb, markdown(`note ${index}.md`, prose(index)), 'mover');
  await service.settled(kb, 'mover');
  await page.addInitScript(() => sessionStorage.setItem('agentscope.user', 'mover'));
  await open(page, `/kb/${kb}/settings`);
  const section = page.getByRole('region', { name: 'Embedding model' });
  const dialog = page.getByRole('dialog');
  const start = async () => {
    await section.getByRole('button', { name: 'Change model' }).click();
    await expect(dialog.getByText('This is the model it has now.')).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Start' })).toBeDisabled();
    await dialog.getByLabel('Embedding model').selectOption({ label: 'Other model…' });
    await dialog.getByLabel('Model name at the provider').fill('stub-model');
    await dialog.getByLabel('Dimension').fill(String(stubDimensions));
    await dialog.getByRole('button', { name: 'Start' }).click();
  };
  stub.broken = true;
  await start();
  await expect(section.getByText('The embedding provider refused the key.')).toBeVisible();

  stub.broken = false;
  stub.holdAfter = 1;
  await start();
  await expect(section.getByText('Embedding with stub-model')).toBeVisible();
  await expect(section.getByText('0 of 3 documents')).toBeVisible();
  await section.getByRole('button', { name: 'Give the change up' }).click();
  await dialog.getByRole('button', { name: 'Give the change up' }).click();
  await expect(section.getByRole('button', { name: 'Change model' })).toBeVisible();
  stub.release();

  await start();
  const stored = page.getByRole('region', { name: 'How passages are stored' });
  await expect(stored).toContainText('stub-model', { timeout: 60_000 });
  await expect(section.getByRole('button', { name: 'Change model' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.getByLabel('Question or keywords').fill('harbour ferry bicycles');
  await page.keyboard.press('Enter');
  await expect(page.locator('ol > li').first()).toContainText('harbour ferry');
  stub.close();
});

test('a knowledge base is shared, exported and imported', async ({ page, service }) => {
  test.slow();
  const kb = await service.knowledgeBase('Shared shelf', 'owner');
  for (let index = 0; index < 2; index += 1) await service.upload(kb, markdown(`note ${index}.md`, prose(index)), 'owner');
  await service.settled(kb, 'owner');
  await page.addInitScript(() => {
    sessionStorage.setItem('agentscope.user', 'owner');
    Reflect.deleteProperty(window, 'showSaveFilePicker');
  });
  await open(page, `/kb/${kb}/settings`);
  const sharing = page.getByRole('region', { name: 'Sharing' });
  await sharing.getByRole('button', { name: 'Share' }).click();
  await expect(sharing.getByLabel('User name')).toHaveAccessibleDescription('Enter the name of a user.');
  await sharing.getByLabel('User name').fill('guest');
  await page.keyboard.press('Enter');
  const permission = sharing.getByLabel('What guest may do');
  await expect(permission).toHaveValue('read');

  const guest = await page.context().newPage();
  await guest.addInitScript(() => sessionStorage.setItem('agentscope.user', 'guest'));
  await guest.goto(`${service.url}/#/`);
  await guest.getByRole('link', { name: 'Shared shelf' }).click();
  await expect(guest.getByText('Shared with you, to read', { exact: true })).toBeVisible();
  await expect(summary(guest)).toHaveText('2 of 2 ready');
  await expect(guest.getByRole('button', { name: 'Choose files' })).toHaveCount(0);
  await permission.selectOption('edit');
  await expect(async () => {
    await guest.reload();
    await expect(guest.getByRole('button', { name: 'Choose files' })).toBeVisible({ timeout: 2000 });
  }).toPass();
  await guest.getByRole('link', { name: 'Settings' }).click();
  await expect(guest.getByRole('region', { name: 'Export' })).toBeVisible();
  await expect(guest.getByRole('region', { name: 'Sharing' })).toHaveCount(0);
  await expect(guest.getByRole('button', { name: 'Delete knowledge base' })).toHaveCount(0);
  await sharing.getByRole('button', { name: 'Stop sharing with guest' }).click();
  await expect(permission).toHaveCount(0);
  await guest.reload();
  await expect(guest.getByRole('heading', { level: 1, name: 'Nothing here' })).toBeVisible();
  await guest.close();

  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const download = await saving;
  expect(download.suggestedFilename()).toBe('Shared shelf.tar');
  const path = join(service.folder, 'shelf.tar');
  await download.saveAs(path);
  await expect(page.getByText('Exported', { exact: true })).toBeVisible();

  await page.goto('/#/');
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await expect(dialog.getByLabel('Exported file')).toHaveAccessibleDescription('Choose a file.');
  const broken = { name: 'cut.tar', mimeType: 'application/x-tar', buffer: readFileSync(path).subarray(0, 700) };
  await dialog.getByLabel('Exported file').setInputFiles(broken);
  await dialog.getByRole('button', { name: 'Import' }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await dialog.getByLabel('Exported file').setInputFiles(path);
  await dialog.getByLabel('Name').fill('Second shelf');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await expect(dialog.getByRole('heading', { name: '“Second shelf” is here' })).toBeVisible();
  await expect(dialog.getByText('2 documents are searchable at once')).toBeVisible();
  await dialog.getByRole('button', { name: 'Open' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Second shelf' })).toBeVisible();
  await expect(summary(page)).toHaveText('2 of 2 ready');
});

test('the operator sees what waits and fails, retries, pauses and resumes', async ({ page, service }) => {
  const kb = await service.knowledgeBase('Stuck', 'waiter');
  await service.upload(kb, { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 nothing') }, 'waiter');
  await service.settled(kb, 'waiter');
  await open(page, '/');
  await page.getByRole('button', { name: /^User / }).press('Enter');
  await page.getByRole('menuitem', { name: 'Operation' }).press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Operation' })).toBeVisible();
  const failures = page.getByRole('region', { name: 'Failed documents by reason' });
  await expect(failures).toContainText('corrupt_file');
  await failures.getByRole('button', { name: 'Retry documents with corrupt_file' }).click();
  await expect(page.getByText(/documents? (is|are) tried again\./)).toBeVisible();
  await expect(page.getByRole('table', { name: 'Workers' }).getByRole('row')).toHaveCount(2);

  const paused = page.getByRole('region', { name: 'Paused' });
  const dialog = page.getByRole('dialog');
  await paused.getByRole('button', { name: 'Pause' }).click();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await expect(dialog.getByLabel('User name')).toHaveAccessibleDescription('Say whom or what to pause.');
  await dialog.getByLabel('User name').fill('waiter');
  await dialog.getByLabel('Reason').fill('Moving house until noon.');
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await expect(paused).toContainText('waiter');
  const waiter = await page.context().newPage();
  await waiter.addInitScript(() => sessionStorage.setItem('agentscope.user', 'waiter'));
  await waiter.goto(`${service.url}/#/kb/${kb}`);
  await expect(waiter.getByText('Moving house until noon.')).toBeVisible();
  await waiter.goto(`${service.url}/#/usage`);
  await expect(waiter.getByText('1, no limit').first()).toBeVisible();
  await waiter.close();
  await paused.getByRole('button', { name: 'Resume waiter' }).click();
  await expect(paused).toContainText('Nothing is paused.');
});
