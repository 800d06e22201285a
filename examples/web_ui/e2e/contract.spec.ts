import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from './fixtures';

test('the generated types fit the service', async ({ service }) => {
  const document = join(service.folder, 'openapi.json');
  writeFileSync(document, JSON.stringify(await (await fetch(`${service.url}/openapi.json`)).json()));
  const script = join(import.meta.dirname, '../scripts/api_types.mjs');
  expect(() => execFileSync(process.execPath, [script, document, '--check'])).not.toThrow();
});
