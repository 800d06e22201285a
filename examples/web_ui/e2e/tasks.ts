import type { Page } from '@playwright/test';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds of processor time, whatever else the machine does meanwhile. */
  tdur?: number;
  args?: { name?: string };
}

/** Record the tasks of the page; the function that comes back ends it and tells their processor times in ms. */
export async function recordTasks(page: Page): Promise<() => Promise<number[]>> {
  const browser = page.context().browser();
  if (!browser) throw new Error('no browser');
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  return async () => {
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    const key = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
    const main = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(key));
    return traceEvents
      .filter((event) => event.ph === 'X' && event.name.endsWith('RunTask') && main.has(key(event)))
      .map(({ tdur = 0 }) => tdur / 1000);
  };
}
