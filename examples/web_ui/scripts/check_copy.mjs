// Builds twice into a scratch folder: both builds and the committed copy must be equal, byte for byte.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { committedCopy, project } from './folders.mjs';

function contents(folder) {
  const found = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.set(relative(folder, path), createHash('sha256').update(readFileSync(path)).digest('hex'));
  }
  return found;
}

function differences(one, other) {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort();
  return names.filter((name) => one.get(name) !== other.get(name));
}

function build(folder) {
  const env = { ...process.env, OUT_DIR: folder };
  const run = (command, args) => execFileSync(command, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] });
  run(process.execPath, [join(project, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error']);
  run(process.execPath, [join(project, 'scripts/precompress.mjs')]);
  return contents(folder);
}

const scratch = mkdtempSync(join(tmpdir(), 'ui-build-'));
try {
  const fresh = build(join(scratch, 'first'));
  const unstable = differences(fresh, build(join(scratch, 'second')));
  const stale = differences(fresh, contents(committedCopy));
  for (const name of unstable) console.error(`differs between two builds: ${name}`);
  for (const name of stale) console.error(`committed copy differs from a fresh build: ${name}`);
  if (stale.length > 0) console.error('Run "pnpm build" and commit the result.');
  process.exitCode = unstable.length + stale.length > 0 ? 1 : 0;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
