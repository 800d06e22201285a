import { expect, test as base } from '@playwright/test';
import { Provider } from './provider';
import { freePort, Service } from './service';

/** A service that trusts nobody's word: it takes API keys and the tokens of a provider. */
const test = base.extend<object, { keyed: { service: Service; provider: Provider } }>({
  keyed: [
    async ({}, use) => {
      const provider = new Provider('web-ui');
      await provider.listen();
      const service = new Service(await freePort(), {
        AGENTSCOPE_IDENTITY: 'api_key',
        AGENTSCOPE_OIDC_ISSUER: provider.issuer,
        AGENTSCOPE_OIDC_AUDIENCE: 'web-ui',
        AGENTSCOPE_OIDC_JWKS_URL: `${provider.issuer}/keys`,
        AGENTSCOPE_OIDC_CLIENT_ID: 'web-ui',
      });
      await service.start();
      await use({ service, provider });
      await service.end();
      provider.close();
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ keyed }, use) => use(keyed.service.url),
});

test('an API key is checked, kept as asked, made, replaced and revoked', async ({ page, keyed: { service } }) => {
  const first = service.key('ada', 'admin');
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^User / })).toHaveCount(0);
  const field = page.getByLabel('API key');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(field).toHaveAccessibleDescription('Enter an API key.');
  await field.fill('rag_nonsense');
  await field.press('Enter');
  await expect(page.getByText('The service does not accept this key.')).toBeVisible();
  await field.fill(first);
  await field.press('Enter');
  await expect(page.getByText('Make your documents searchable')).toBeVisible();
  await expect(page.getByRole('button', { name: 'User ada' })).toBeVisible();
  await page.reload();
  await expect(page.getByText('Make your documents searchable')).toBeVisible();

  // It stays in the tab: a new one asks again, unless the key was to be kept.
  const other = await page.context().newPage();
  await other.goto('/');
  await other.getByLabel('API key').fill(first);
  await other.getByLabel('Stay signed in on this device').check();
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(other.getByRole('button', { name: 'User ada' })).toBeVisible();
  await other.close();
  const third = await page.context().newPage();
  await third.goto('/');
  await expect(third.getByRole('button', { name: 'User ada' })).toBeVisible();
  await third.getByRole('button', { name: 'User ada' }).click();
  await third.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(third.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  expect(await third.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(first);
  await third.close();

  // A key for reading one knowledge base, made by keyboard.
  const kb = await service.knowledgeBase('Readable', 'ada', undefined, first);
  await page.getByRole('button', { name: 'User ada' }).press('Enter');
  await page.getByRole('menuitem', { name: 'API keys' }).press('Enter');
  await page.reload();
  await page.getByRole('button', { name: 'New key' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await page.keyboard.type('Reader');
  await dialog.getByLabel('All, also those made later').uncheck();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByText('Choose at least one knowledge base.')).toBeVisible();
  await dialog.getByLabel('Readable').check();
  await dialog.getByRole('button', { name: 'Create' }).press('Enter');
  const shown = dialog.getByLabel('API key', { exact: true });
  await expect(shown).toBeFocused();
  const text = await shown.inputValue();
  expect(text).toMatch(/^rag_/);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  const card = page.getByRole('listitem').filter({ hasText: 'Reader' });
  await expect(card).toContainText('Readable');
  expect(await page.content()).not.toContain(text);

  // That key reads and changes nothing.
  const reader = await page.context().newPage();
  await reader.goto(`/#/kb/${kb}`);
  await reader.getByLabel('API key').fill(text);
  await reader.getByLabel('API key').press('Enter');
  await expect(reader.getByRole('heading', { level: 1, name: 'Readable' })).toBeVisible();
  await expect(reader.getByRole('button', { name: 'Choose files' })).toHaveCount(0);
  await expect(reader.getByRole('link', { name: 'Credentials' })).toHaveCount(0);

  // A new secret closes the door to the old one at once; the page says so and goes on after it is given.
  await page.getByRole('button', { name: 'Give Reader a new secret' }).click();
  await dialog.getByRole('button', { name: 'New secret' }).click();
  await expect(shown).toBeVisible();
  const fresh = await shown.inputValue();
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await reader.getByRole('link', { name: 'Search' }).click();
  await expect(reader.getByText('Your sign-in has ended.')).toBeVisible();
  await reader.getByLabel('API key').fill(fresh);
  await reader.getByLabel('API key').press('Enter');
  await expect(reader).toHaveURL(/\/search$/);
  await reader.getByLabel('Question or keywords').fill('anything');
  await reader.keyboard.press('Enter');
  await expect(reader.getByText('No document is ready yet.')).toBeVisible();
  await reader.close();

  await page.getByRole('button', { name: 'Revoke Reader' }).click();
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  await expect(card).toHaveCount(0);

  // Whoever runs the service needs no user, but the operator key.
  const anybody = await page.context().newPage();
  await anybody.goto('/');
  await anybody.getByRole('link', { name: 'I run this service' }).click();
  await anybody.getByLabel('Operator key').fill('guessed');
  await anybody.keyboard.press('Enter');
  await expect(anybody.getByLabel('Operator key')).toHaveAccessibleDescription(/does not accept this key/);
  await anybody.close();
});

test('signing in at a provider comes back to where one was, and signing out ends it there, too', async ({ page, keyed: { provider, service } }) => {
  await page.goto('/#/?q=hand');
  const host = new URL(provider.issuer).host;
  const leave = page.getByRole('button', { name: `Sign in at ${host}` });
  provider.denies = true;
  await leave.click();
  await expect(page.getByText('The sign-in was cancelled.')).toBeVisible();
  expect(page.url()).toBe(`${service.url}/#/?q=hand`);
  provider.denies = false;
  await leave.click();
  await expect(page.getByRole('button', { name: 'User grace' })).toBeVisible();
  expect(page.url()).toBe(`${service.url}/#/?q=hand`);
  await expect(page.getByText('Make your documents searchable')).toBeVisible();
  await page.getByRole('button', { name: 'New knowledge base' }).click();
  await expect(page.getByLabel('Embedding model')).not.toHaveValue('');
  await page.getByRole('dialog').getByLabel('Name').fill('Of Grace');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Of Grace' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Of Grace' })).toBeVisible();
  await page.getByRole('button', { name: 'User grace' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  expect(provider.sessions).toBe(0);
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain('grace');

  // A token near its end is renewed without a word.
  provider.lifetimeSeconds = 46;
  await leave.click();
  await expect(page.getByRole('link', { name: 'Of Grace' })).toBeVisible();
  await expect.poll(() => provider.renewals).toBeGreaterThan(0);
  await page.reload();
  await expect(page.getByRole('link', { name: 'Of Grace' })).toBeVisible();

  // An answer that nobody asked for signs nobody in.
  const other = await page.context().newPage();
  await other.goto('/?code=stolen&state=forged');
  await expect(other.getByText('This sign-in is no longer valid.')).toBeVisible();
  expect(other.url()).toBe(`${service.url}/`);
});
