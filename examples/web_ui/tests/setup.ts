import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, beforeAll, vi } from 'vitest';
import { startLanguage } from '@/i18n';

// Pages load their parts lazily; a busy machine may take its time over that.
configure({
  asyncUtilTimeout: 8000,
  getElementError: (message) => new Error(message?.split('\n')[0] ?? 'not found'),
});

// No test talks to a real address.
globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'));

beforeAll(startLanguage);
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});
