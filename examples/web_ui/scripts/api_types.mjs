// Writes src/api/schema.d.ts from an OpenAPI document: node scripts/api_types.mjs openapi.json [--check]
// With --check nothing is written; the exit code says whether the committed types still fit.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { project } from './folders.mjs';

const [document] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const target = join(project, 'src/api/schema.d.ts');
const header = '// Generated from the OpenAPI document of the service by "pnpm api:types". Do not edit.\n\n';
const made = astToString(await openapiTS(JSON.parse(readFileSync(document, 'utf8')), { alphabetize: true }));
// Only the shapes count: a reworded description must not make the types look old.
const fresh = header + made.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '');

if (process.argv.includes('--check')) {
  const same = readFileSync(target, 'utf8') === fresh;
  if (!same) console.error('src/api/schema.d.ts does not fit the service: run "pnpm api:types openapi.json".');
  process.exitCode = same ? 0 : 1;
} else writeFileSync(target, fresh);
