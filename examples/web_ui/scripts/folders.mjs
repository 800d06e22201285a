import { fileURLToPath } from 'node:url';

export const project = fileURLToPath(new URL('..', import.meta.url));
export const committedCopy = fileURLToPath(new URL('../../../src/agentscope/app/ui/dist', import.meta.url));
export const builtFolder = process.env.OUT_DIR ?? committedCopy;
