import type { ApiError } from '@/api/errors';
import type { OnDuplicate, UploadAnswer } from '@/api/types';

export type UploadState = 'waiting' | 'sending' | 'sent' | 'failed';

export interface UploadItem {
  readonly id: number;
  readonly batch: number;
  readonly kbId: string;
  readonly file: File;
  /** Path inside the dropped folder, or the plain name. */
  readonly path: string;
  readonly state: UploadState;
  readonly loaded: number;
  readonly attempts: number;
  readonly onDuplicate: OnDuplicate;
  readonly error: ApiError | null;
  readonly documentId: string | null;
  readonly duplicate: boolean;
  /** False when the service kept the document it had instead. */
  readonly stored: boolean;
  /** Milliseconds; tells whether counts that were read earlier can know of it. */
  readonly sentAt: number;
}

export interface Sending {
  done: Promise<UploadAnswer>;
  abort: () => void;
}

export type Send = (item: UploadItem, onProgress: (loaded: number) => void) => Sending;

interface Options {
  send: Send;
  limit?: number;
  /** Progress is told at most this often; other changes too, except for additions. */
  tellEveryMs?: number;
  onSent?: (item: UploadItem) => void;
}

const mostAttempts = 6;
const slowestRetrySeconds = 60;

/** Sends files in the order they came, a few at a time, and keeps what became of each. */
export class UploadQueue {
  private items = new Map<number, UploadItem>();
  private snapshot: readonly UploadItem[] = [];
  private readonly running = new Map<number, Sending>();
  private readonly listeners = new Set<() => void>();
  private readonly send: Send;
  private readonly limit: number;
  private readonly tellEveryMs: number;
  private readonly onSent: (item: UploadItem) => void;
  private lastId = 0;
  private lastBatch = 0;
  private telling: ReturnType<typeof setTimeout> | null = null;
  private resumeTimer: ReturnType<typeof setTimeout> | null = null;
  private paused = false;

  constructor({ send, limit = 4, tellEveryMs = 100, onSent = () => undefined }: Options) {
    this.send = send;
    this.limit = limit;
    this.tellEveryMs = tellEveryMs;
    this.onSent = onSent;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** All items, oldest first; the same array until something changes. */
  readonly get = (): readonly UploadItem[] => this.snapshot;

  get isPaused(): boolean {
    return this.paused;
  }

  add(kbId: string, files: { file: File; path: string }[], onDuplicate: OnDuplicate = 'keep'): void {
    this.lastBatch += 1;
    for (const { file, path } of files) {
      const id = ++this.lastId;
      this.items.set(id, {
        id,
        batch: this.lastBatch,
        kbId,
        file,
        path,
        state: 'waiting',
        loaded: 0,
        attempts: 0,
        onDuplicate,
        error: null,
        documentId: null,
        duplicate: false,
        stored: true,
        sentAt: 0,
      });
    }
    this.tellNow();
    this.pump();
  }

  /** Stop one file, whether it waits or moves. What the service already has stays there. */
  cancel(id: number): void {
    const sending = this.running.get(id);
    this.items.delete(id);
    this.running.delete(id);
    sending?.abort();
    this.tell();
    this.pump();
  }

  cancelUnsent(kbId: string): void {
    for (const item of this.snapshotOf(kbId)) if (item.state === 'waiting' || item.state === 'sending') this.cancel(item.id);
  }

  retry(id: number): void {
    const item = this.items.get(id);
    if (item?.state !== 'failed') return;
    this.change(id, { state: 'waiting', error: null, loaded: 0, attempts: 0, onDuplicate: again(item) });
    this.pump();
  }

  retryFailed(kbId: string): void {
    for (const item of this.snapshotOf(kbId)) if (item.state === 'failed') this.retry(item.id);
  }

  /** Forget what needs no more attention: sent files, and failed ones too when asked. */
  dismiss(kbId: string, failedToo = false): void {
    for (const item of this.snapshotOf(kbId))
      if (item.state === 'sent' || (failedToo && item.state === 'failed')) this.items.delete(item.id);
    this.tellNow();
  }

  forgetDocuments(ids: ReadonlySet<string>): void {
    for (const item of this.items.values())
      if (item.documentId !== null && ids.has(item.documentId)) this.items.delete(item.id);
    this.tellNow();
  }

  pause(): void {
    this.paused = true;
    this.tellNow();
  }

  resume(): void {
    if (this.resumeTimer !== null) clearTimeout(this.resumeTimer);
    this.resumeTimer = null;
    if (!this.paused) return;
    this.paused = false;
    this.tellNow();
    this.pump();
  }

  clear(): void {
    for (const sending of this.running.values()) sending.abort();
    this.running.clear();
    this.items.clear();
    this.paused = false;
    this.tellNow();
  }

  private snapshotOf(kbId: string): UploadItem[] {
    return [...this.items.values()].filter((item) => item.kbId === kbId);
  }

  private pump(): void {
    if (this.paused || this.running.size >= this.limit) return;
    for (const item of this.items.values()) {
      if (this.running.size >= this.limit) return;
      if (item.state === 'waiting') this.start(item);
    }
  }

  private start(item: UploadItem): void {
    this.change(item.id, { state: 'sending', attempts: item.attempts + 1, loaded: 0 });
    const sending = this.send(item, (loaded) => this.change(item.id, { loaded }));
    this.running.set(item.id, sending);
    sending.done.then(
      (answer) => this.finish(item.id, sending, answer),
      (error: ApiError) => this.fail(item.id, sending, error),
    );
  }

  private finish(id: number, sending: Sending, answer: UploadAnswer): void {
    if (!this.release(id, sending)) return;
    const duplicate = Boolean(answer.duplicate_of) || answer.stored === false;
    this.change(id, { state: 'sent', documentId: answer.document_id, duplicate, stored: answer.stored !== false, sentAt: Date.now() });
    const item = this.items.get(id);
    if (item) this.onSent(item);
    this.pump();
  }

  private fail(id: number, sending: Sending, error: ApiError): void {
    if (!this.release(id, sending)) return;
    const item = this.items.get(id);
    if (!item) return;
    const wait = pauseFor(error);
    if (wait !== null && (wait === Number.POSITIVE_INFINITY || item.attempts < mostAttempts)) {
      // The bytes may have arrived although the answer did not: the next try must not double them.
      this.change(id, { state: 'waiting', loaded: 0, onDuplicate: again(item) });
      this.pause();
      if (Number.isFinite(wait)) this.resumeTimer ??= setTimeout(() => this.resume(), wait * 1000);
      return;
    }
    this.change(id, { state: 'failed', error });
    this.pump();
  }

  private release(id: number, sending: Sending): boolean {
    if (this.running.get(id) !== sending) return false;
    this.running.delete(id);
    return true;
  }

  private change(id: number, changes: Partial<UploadItem>): void {
    const item = this.items.get(id);
    if (!item) return;
    this.items.set(id, { ...item, ...changes });
    this.tell();
  }

  private tell(): void {
    this.telling ??= setTimeout(() => this.tellNow(), this.tellEveryMs);
  }

  private tellNow(): void {
    if (this.telling !== null) clearTimeout(this.telling);
    this.telling = null;
    this.snapshot = [...this.items.values()];
    for (const listener of this.listeners) listener();
  }
}

function again(item: UploadItem): OnDuplicate {
  return item.onDuplicate === 'keep' ? 'skip' : item.onDuplicate;
}

/** Seconds to hold the whole queue; Infinity until the service is back or somebody signs in; null when waiting cannot help. */
function pauseFor(error: ApiError): number | null {
  if (error.unreachable || error.status === 401) return Number.POSITIVE_INFINITY;
  if (error.status === 429 || error.status === 503) return Math.min(error.retryAfterSeconds ?? 5, slowestRetrySeconds);
  return null;
}
