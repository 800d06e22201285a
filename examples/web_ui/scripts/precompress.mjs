// Writes a .gz beside every file of the built copy that gets smaller by it; same bytes on every run.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { builtFolder } from './folders.mjs';

const compressible = /\.(html|js|mjs|css|svg|json|wasm)$/;

for (const entry of readdirSync(builtFolder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile()) continue;
  if (path.endsWith('.gz')) {
    rmSync(path);
    continue;
  }
  if (!compressible.test(path)) continue;
  const plain = readFileSync(path);
  const packed = gzipSync(plain, { level: 9 });
  packed[9] = 255; // the "operating system" byte, otherwise different between machines
  if (packed.length < plain.length) writeFileSync(path + '.gz', packed);
}
