import type { FileChooser } from '@playwright/test';
import { expect, summary, test } from './fixtures';
import { markdown } from './files';

const text = '# Leave\n\nAnnual leave is 25 days a year. Days left over move on until the end of March.\n';

test('A1: one command shows the page in under two seconds, without a form or an outside request', async ({ page, watch }) => {
  await page.goto('/');
  const started = Date.now();
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1, name: 'Knowledge bases' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'New knowledge base' })).toBeVisible();
  expect(Date.now() - started).toBeLessThan(2000);
  expect(await page.locator('h1').count()).toBe(1);
  expect(await page.locator('main').count()).toBe(1);
  expect(await page.locator('form, input').count()).toBe(0);
  await expect(page).toHaveTitle('Knowledge bases');
  expect(watch).toEqual({ complaints: [], outside: [] });
});

test('the files carry the headers that keep a browser safe, and arrive compressed', async ({ page, service }) => {
  const answers: { url: string; headers: Record<string, string> }[] = [];
  page.on('response', (response) => answers.push({ url: response.url(), headers: response.headers() }));
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const files = answers.filter(({ url }) => /\/$|\.(js|css)$/.test(url.split('#')[0] ?? '') && url.startsWith(service.url));
  expect(files.length).toBeGreaterThan(2);
  for (const { url, headers } of files) {
    expect(headers['content-security-policy'], url).toContain("default-src 'self'");
    expect(headers['content-security-policy'], url).toContain("object-src 'none'");
    expect(headers['x-content-type-options'], url).toBe('nosniff');
  }
  const script = files.find(({ url }) => /assets\/index-.*\.js/.test(url));
  expect(script?.headers['content-encoding']).toBe('gzip');
  expect(script?.headers['cache-control']).toContain('immutable');
});

test('A2: from empty to the first hit in six clicks', async ({ page, watch }) => {
  let clicks = 0;
  const click = async (name: string | RegExp, role: 'button' | 'link' = 'button') => {
    clicks += 1;
    await page.getByRole(role, { name, exact: typeof name === 'string' }).click();
  };
  await page.goto('/');
  await click('New knowledge base');
  await expect(page.getByLabel('Embedding model')).not.toHaveValue('');
  await page.keyboard.type('First');
  await click('Create');
  const chooser = page.waitForEvent('filechooser');
  await click('Choose files');
  await (await chooser).setFiles([markdown('leave.md', text)]);
  await expect(summary(page)).toHaveText('1 of 1 ready', { timeout: 30_000 });
  await click('Search', 'link');
  await page.getByLabel('Question or keywords').fill('how many days of annual leave');
  await click('Search');
  await expect(page.locator('mark').first()).toBeVisible();
  expect(clicks).toBeLessThanOrEqual(6);
  expect(watch.complaints).toEqual([]);
});

for (const variant of [
  { name: 'English, wide', language: 'en', theme: 'light', width: 1280 },
  { name: 'Chinese, dark, 390 px', language: 'zh', theme: 'dark', width: 390 },
]) {
  test(`A12: the same by keyboard alone (${variant.name})`, async ({ page, watch }) => {
    await page.setViewportSize({ width: variant.width, height: 844 });
    await page.addInitScript(({ language, theme }) => {
      localStorage.setItem('agentscope.language', language);
      localStorage.setItem('agentscope.theme', theme);
    }, variant);
    const chinese = variant.language === 'zh';
    const tabTo = async (name: RegExp) => {
      for (let step = 0; step < 60; step += 1) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(() => {
          const element = document.activeElement as HTMLElement | null;
          const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])].map((label) => label.innerText) : [];
          return [element?.getAttribute('aria-label'), ...labels, element?.innerText].filter(Boolean).join(' ').trim();
        });
        if (name.test(focused)) return;
      }
      throw new Error(`${name} cannot be reached with Tab`);
    };
    const fits = async () => expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);

    await page.goto('/');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe(chinese ? 'zh-CN' : 'en');
    await fits();
    await tabTo(chinese ? /^新建知识库$/ : /^New knowledge base$/);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog')).toBeVisible();
    await expect(page.getByLabel(chinese ? '名称' : 'Name', { exact: true })).toBeFocused();
    const name = `Keyboard ${variant.language}`;
    await page.keyboard.type(name);
    await fits();
    await tabTo(chinese ? /^创建$/ : /^Create$/);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await tabTo(chinese ? /^选择文件$/ : /^Choose files$/);
    // A browser that is short of time may refuse to open a chooser; a person presses again.
    let opened: FileChooser | undefined;
    await expect(async () => {
      const chooser = page.waitForEvent('filechooser', { timeout: 4000 });
      await page.keyboard.press('Enter');
      opened = await chooser;
    }).toPass({ timeout: 30_000 });
    await opened?.setFiles([markdown('leave.md', text), markdown('年假.md', '# 年假\n\n每年的年假为二十五天，剩余的可以结转到三月底。\n')]);
    await expect(summary(page)).toHaveText(chinese ? '2 个中 2 个就绪' : '2 of 2 ready', { timeout: 30_000 });
    await fits();
    await page.keyboard.press('Shift+Tab');
    await page.evaluate(() => document.querySelector<HTMLElement>('h1')?.scrollIntoView());
    await tabToSearch();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/search/);
    await expect(page.getByRole('search').getByRole('textbox')).toBeVisible();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(chinese ? '年假有多少天' : 'annual leave');
    await page.keyboard.press('Enter');
    await expect(page.locator('mark').first()).toBeVisible();
    await fits();
    expect(watch.complaints).toEqual([]);

    async function tabToSearch() {
      for (let step = 0; step < 40; step += 1) {
        await page.keyboard.press('Shift+Tab');
        const href = await page.evaluate(() => document.activeElement?.getAttribute('href') ?? '');
        if (/\/search$/.test(href)) return;
      }
      throw new Error('the search cannot be reached with Shift+Tab');
    }
  });
}

test('the pages keep to the strictest content policy', async ({ page, service, watch }) => {
  const kb = await service.knowledgeBase('Strict');
  await page.route(/\/$/, async (route) => {
    const answer = await route.fetch();
    const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";
    await route.fulfill({ response: answer, headers: { ...answer.headers(), 'content-security-policy': policy } });
  });
  await page.goto(`/#/kb/${kb}/settings`);
  await page.getByRole('button', { name: 'Delete knowledge base' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Activity' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Appearance and language' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect(page.locator('html.dark')).toHaveCount(1);
  expect(watch.complaints).toEqual([]);
});
