// Fails when the built copy is heavier than it may be. Sizes are gzip bytes unless said otherwise.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { builtFolder } from './folders.mjs';

const kilo = 1000;
const budgets = { firstLoadJs: 190 * kilo, css: 15 * kilo, pdf: 500 * kilo, folder: 4700 * kilo };
const alarm = { firstLoadJs: 175 * kilo };

const gzipped = (name) => gzipSync(readFileSync(join(builtFolder, name)), { level: 9 }).length;
const files = readdirSync(builtFolder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(builtFolder.length + 1));
const html = readFileSync(join(builtFolder, 'index.html'), 'utf8');
const linked = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1]);
const sum = (names) => names.reduce((total, name) => total + gzipped(name), 0);

const measured = {
  firstLoadJs: sum(linked.filter((name) => name.endsWith('.js'))),
  css: sum(files.filter((name) => name.endsWith('.css'))),
  pdf: sum(files.filter((name) => /pdf/.test(name) && /\.m?js$/.test(name))),
  folder: files.reduce((total, name) => total + statSync(join(builtFolder, name)).size, 0),
};

let over = false;
for (const [what, bytes] of Object.entries(measured)) {
  const mark = bytes > budgets[what] ? 'OVER' : bytes > (alarm[what] ?? Infinity) ? 'near' : 'ok';
  over ||= mark === 'OVER';
  console.log(`${mark.padEnd(4)} ${what.padEnd(12)} ${(bytes / kilo).toFixed(1)} of ${budgets[what] / kilo} kB`);
}
process.exit(over ? 1 : 0);
