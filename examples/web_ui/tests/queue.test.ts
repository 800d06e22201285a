import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import type { UploadAnswer } from '@/api/types';
import { type UploadItem, UploadQueue } from '@/features/upload/queue';

interface Pending {
  item: UploadItem;
  progress: (loaded: number) => void;
  accept: (answer?: Partial<UploadAnswer>) => Promise<void>;
  refuse: (error: ApiError) => Promise<void>;
  aborted: boolean;
}

function setup(limit = 4) {
  const pending: Pending[] = [];
  const sent: UploadItem[] = [];
  const queue = new UploadQueue({
    limit,
    tellEveryMs: 0,
    onSent: (item) => sent.push(item),
    send: (item, progress) => {
      let resolve: (answer: UploadAnswer) => void = () => undefined;
      let reject: (error: ApiError) => void = () => undefined;
      const done = new Promise<UploadAnswer>((yes, no) => {
        resolve = yes;
        reject = no;
      });
      const one: Pending = {
        item,
        progress,
        aborted: false,
        accept: async (answer) => {
          resolve({ document_id: `d${item.id}`, filename: item.file.name, status: 'pending', ...answer });
          await done;
          await Promise.resolve();
        },
        refuse: async (error) => {
          reject(error);
          await done.catch(() => undefined);
          await Promise.resolve();
        },
      };
      pending.push(one);
      return { done, abort: () => (one.aborted = true) };
    },
  });
  return { queue, pending, sent };
}

const files = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ file: new File(['abc'], `${index}.txt`), path: `${index}.txt` }));
const states = (queue: UploadQueue) => queue.get().map((item) => item.state);

describe('the upload queue', () => {
  beforeEach(() => void vi.useFakeTimers());

  it('sends files in drop order, four at a time', async () => {
    const { queue, pending } = setup();
    queue.add('kb', files(6));
    expect(pending.map((one) => one.item.path)).toEqual(['0.txt', '1.txt', '2.txt', '3.txt']);
    await pending[2]?.accept();
    expect(pending.at(-1)?.item.path).toBe('4.txt');
    expect(pending).toHaveLength(5);
  });

  it('shows a new batch at once and keeps one snapshot until something changes', () => {
    const { queue } = setup();
    queue.add('kb', files(200));
    expect(queue.get()).toHaveLength(200);
    expect(queue.get()).toBe(queue.get());
  });

  it('tells progress in one go, not for every event', () => {
    const { queue, pending } = setup();
    queue.add('kb', files(1));
    const listener = vi.fn();
    queue.subscribe(listener);
    for (let loaded = 0; loaded <= 3; loaded += 1) pending[0]?.progress(loaded);
    expect(listener).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(listener).toHaveBeenCalledTimes(1);
    expect(queue.get()[0]?.loaded).toBe(3);
  });

  it('cancels a waiting and a moving file and goes on with the next', () => {
    const { queue, pending } = setup(1);
    queue.add('kb', files(3));
    queue.cancel(2);
    queue.cancel(1);
    vi.runAllTimers();
    expect(pending[0]?.aborted).toBe(true);
    expect(queue.get().map((item) => item.path)).toEqual(['2.txt']);
    expect(pending[1]?.item.path).toBe('2.txt');
  });

  it('keeps a refused file with its reason and can retry it', async () => {
    const { queue, pending } = setup();
    queue.add('kb', files(1));
    await pending[0]?.refuse(new ApiError(415, 'unsupported_media_type', 'no'));
    vi.runAllTimers();
    expect(queue.get()[0]).toMatchObject({ state: 'failed', error: { code: 'unsupported_media_type' } });
    queue.retry(1);
    expect(pending).toHaveLength(2);
    expect(pending[1]?.item.onDuplicate).toBe('skip');
  });

  it('pauses when the service is away, and resumes without doubling what may have arrived', async () => {
    const { queue, pending } = setup(2);
    queue.add('kb', files(3));
    await pending[0]?.refuse(new ApiError(0, 'unreachable', ''));
    await pending[1]?.refuse(new ApiError(0, 'unreachable', ''));
    vi.advanceTimersByTime(600_000);
    expect(pending).toHaveLength(2);
    expect(queue.isPaused).toBe(true);
    expect(states(queue)).toEqual(['waiting', 'waiting', 'waiting']);
    queue.resume();
    expect(pending.slice(2).map((one) => [one.item.path, one.item.onDuplicate])).toEqual([
      ['0.txt', 'skip'],
      ['1.txt', 'skip'],
    ]);
  });

  it('waits as long as a busy service asks and then goes on by itself', async () => {
    const { queue, pending } = setup(1);
    queue.add('kb', files(1));
    await pending[0]?.refuse(new ApiError(429, 'quota_exceeded', '', { retryAfterSeconds: 7 }));
    vi.advanceTimersByTime(6900);
    expect(pending).toHaveLength(1);
    vi.advanceTimersByTime(200);
    expect(pending).toHaveLength(2);
  });

  it('gives up on a service that stays busy', async () => {
    const { queue, pending } = setup(1);
    queue.add('kb', files(1));
    for (let attempt = 0; attempt < 6; attempt += 1) {
      await pending[attempt]?.refuse(new ApiError(503, 'unavailable', ''));
      vi.advanceTimersByTime(5000);
    }
    expect(states(queue)).toEqual(['failed']);
  });

  it('remembers which document a file became, and whether it was there before', async () => {
    const { queue, pending, sent } = setup();
    queue.add('kb', files(2));
    await pending[0]?.accept();
    await pending[1]?.accept({ stored: false, duplicate_of: 'old' });
    vi.runAllTimers();
    expect(queue.get().map((item) => [item.documentId, item.duplicate])).toEqual([
      ['d1', false],
      ['d2', true],
    ]);
    expect(sent).toHaveLength(2);
    queue.forgetDocuments(new Set(['d1']));
    queue.dismiss('kb');
    expect(queue.get()).toEqual([]);
  });

  it('touches only the knowledge base it is told to', () => {
    const { queue } = setup(1);
    queue.add('a', files(2));
    queue.add('b', files(2));
    queue.cancelUnsent('a');
    vi.runAllTimers();
    expect(queue.get().map((item) => item.kbId)).toEqual(['b', 'b']);
  });
});
