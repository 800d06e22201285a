import { defineConfig } from '@playwright/test';
import config from './playwright.config';

/** The measured runs: `pnpm figures` writes benchmarks/results/ui.json. */
export default defineConfig({ ...config, testDir: 'figures', timeout: 900_000 });
