import { expect, type Page, test as base } from '@playwright/test';
import { freePort, Service } from './service';

interface Watch {
  /** Complaints of the console and failed scripts. */
  complaints: string[];
  /** Requests that left the origin. */
  outside: string[];
}

interface Fixtures {
  watch: Watch;
}

interface WorkerFixtures {
  service: Service;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  service: [
    async ({}, use) => {
      const service = new Service(await freePort());
      await service.start();
      await use(service);
      await service.end();
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ service }, use) => use(service.url),
  watch: [
    async ({ page, service }, use) => {
      const watch: Watch = { complaints: [], outside: [] };
      page.on('console', (message) => message.type() === 'error' && watch.complaints.push(message.text()));
      page.on('pageerror', (error) => watch.complaints.push(error.message));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(service.url) && !/^(blob|data):/.test(url)) watch.outside.push(url);
      });
      await use(watch);
      expect(watch.outside).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

export async function open(page: Page, path: string): Promise<void> {
  await page.goto(`/#${path}`);
}

export const summary = (page: Page) => page.getByTestId('summary');

/** Give files to the page the way a drop from the desktop does. */
export async function drop(page: Page, files: { name: string; type: string; text: string }[]): Promise<void> {
  await page.evaluate((given) => {
    const transfer = new DataTransfer();
    for (const { name, type, text } of given) transfer.items.add(new File([text], name, { type, lastModified: 1 }));
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, files);
}
