import type { Page } from '@playwright/test';
import { markdown, pdf, slides } from './files';
import { expect, open, test } from './fixtures';
import type { Service } from './service';

const filler = (topic: string) => Array.from({ length: 6 }, (_, index) => `The ${topic} chapter, paragraph ${index + 1}, deals with ordinary matters of the office.`).join(' ');
const passage = 'The lighthouse keeper polishes the brass lamp every Thursday before sunset.';

async function library(service: Service): Promise<string> {
  // Made first: it takes a moment in which a kept connection would be closed.
  const deck = slides('deck.pptx', [['Welcome', 'An ordinary opening.'], ['Telescope', 'The telescope dome opens at midnight for visiting astronomers.']]);
  const kb = await service.knowledgeBase('Library');
  await service.upload(kb, pdf('guide.pdf', [filler('first'), filler('second'), `${filler('third')} ${passage} ${filler('closing')}`, filler('fourth')]));
  await service.upload(kb, markdown('notes.md', `# Notes\n\n${'Line of ordinary text.\n\n'.repeat(120)}## Orchard\n\nThe orchard ladder leans against the crooked pear tree until October.\n`));
  await service.upload(kb, deck);
  const counts = await service.settled(kb);
  expect(counts.ready).toBe(3);
  return kb;
}

/** Whether any part of the element can be seen inside its pane. */
async function visibleInPane(page: Page, selector: string): Promise<boolean> {
  return page.locator(selector).first().evaluate((element) => {
    const pane = element.closest('[data-pane]')?.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    return pane !== undefined && box.bottom > pane.top && box.top < pane.bottom;
  });
}

test('A7 and A8: a hit shows score, file, page and words, opens there, and every address comes back', async ({ page, service, watch }) => {
  test.slow();
  const kb = await library(service);
  await open(page, `/kb/${kb}/search`);
  const query = page.getByLabel('Question or keywords');
  const search = async (words: string) => {
    await query.fill(words);
    await query.press('Enter');
    await expect(page.locator('ol li mark').first()).toBeVisible();
  };
  const first = page.locator('ol > li').first();

  await search('lighthouse keeper brass lamp');
  await expect(first).toContainText('guide.pdf');
  await expect(first).toContainText('page 3');
  await expect(first).toContainText(/\d\.\d{3}/);
  await expect(first.locator('mark').filter({ hasText: 'lighthouse' })).toBeVisible();
  await first.getByRole('link', { name: 'Open at page 3' }).click();
  await expect(page).toHaveURL(/chunk=\d+&page=3/);
  await expect(page.locator('.pdf-text .marked').first()).toBeVisible();
  await expect.poll(() => visibleInPane(page, '.pdf-text .marked')).toBe(true);
  const marked = await page.locator('.pdf-text .marked').allTextContents();
  expect(marked.join(' ')).toContain('lighthouse');
  const address = page.url();
  await page.reload();
  await expect.poll(() => visibleInPane(page, '.pdf-text .marked')).toBe(true);
  await page.goBack();
  await expect(query).toHaveValue('lighthouse keeper brass lamp');
  await expect(first).toContainText('guide.pdf');
  await page.goForward();
  await expect(page.locator('.pdf-text .marked').first()).toBeVisible();

  await open(page, `/kb/${kb}/search`);
  await search('orchard ladder crooked pear tree');
  await expect(first).toContainText('notes.md');
  await first.getByRole('link', { name: /^Open/ }).click();
  await expect(page.locator('pre mark').first()).toContainText('orchard ladder');
  await expect.poll(() => visibleInPane(page, 'pre mark')).toBe(true);

  await open(page, `/kb/${kb}/search`);
  await search('telescope dome midnight astronomers');
  await expect(first).toContainText('deck.pptx');
  await first.getByRole('link', { name: 'Open at slide 2' }).click();
  await expect(page.locator('section[aria-label="slide 2"] mark').first()).toContainText('telescope dome');
  await expect.poll(() => visibleInPane(page, 'section[aria-label="slide 2"] mark')).toBe(true);

  // A copied link in a fresh tab.
  const other = await page.context().newPage();
  await other.goto(address);
  await expect(other.locator('.pdf-text .marked').first()).toBeVisible();
  await other.close();

  // Options live in the address too.
  await page.goto(`/#/kb/${kb}/search?q=lighthouse&k=3&mode=keyword`);
  await page.reload();
  await expect(page.getByLabel('Results', { exact: true })).toHaveValue('3');
  await expect(page.getByLabel('Mode')).toHaveValue('keyword');
  await page.getByLabel('File type').selectOption('slides');
  await expect(page.getByText('Nothing found')).toBeVisible();
  await expect(page).toHaveURL(/type=slides/);
  await page.goto(`/#/kb/${kb}?q=guide&sort=name&desc=0`);
  await page.reload();
  await expect(page.getByLabel('Filter by name')).toHaveValue('guide');
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending');
  await page.getByLabel('File type').selectOption({ label: 'PDF' });
  await expect(page.getByRole('row')).toHaveCount(2);
  await page.getByLabel('File type').selectOption({ label: 'HTML' });
  await expect(page.getByText('No document matches.')).toBeVisible();

  // Two ways beside each other, one of them with a condition; all of it is in the address.
  await page.keyboard.press('Control+k');
  await search('lighthouse keeper');
  await page.getByRole('button', { name: 'Compare' }).click();
  const left = page.getByRole('group', { name: 'Left', exact: true });
  const right = page.getByRole('group', { name: 'Right', exact: true });
  await expect(right.getByLabel('Right: mode')).toHaveValue('vector');
  await expect(right.locator('ol > li').first()).toContainText(/same rank|Ranks gained|new/);
  await expect(page.getByText(/ on both sides, /)).toBeVisible();
  await right.getByText('Options').click();
  await right.getByRole('button', { name: 'Add condition' }).click();
  await right.getByLabel('Field').fill('filename');
  await right.getByLabel('Value').fill('notes.md');
  await page.keyboard.press('Enter');
  await expect(right.locator('ol > li').first()).toContainText('notes.md');
  await expect(right.getByRole('heading', { name: 'guide.pdf' })).toHaveCount(0);
  await expect(left.locator('ol > li').first()).toContainText('only here');
  await page.reload();
  await expect(right.getByLabel('Value')).toHaveValue('notes.md');
  await expect(right.locator('ol > li').first()).toContainText('notes.md');
  // The arrow keys walk through the results.
  await left.getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(left.getByRole('link').nth(1)).toBeFocused();
  await right.getByRole('button', { name: 'Remove condition 1' }).click();
  await expect(right.getByRole('heading', { name: 'guide.pdf' }).first()).toBeVisible();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(right).toHaveCount(0);
  expect(watch.complaints).toEqual([]);
});
