import type { SupportedTypes } from '@/api/types';
import type { PickedFile } from './collect';

export type Refusal = 'hidden' | 'empty' | 'too_large' | 'unsupported';

export interface Triage {
  accepted: PickedFile[];
  refused: { picked: PickedFile; reason: Refusal }[];
}

const systemFiles = new Set(['thumbs.db', 'desktop.ini', '__macosx']);

/** The largest upload the service takes, in bytes, whatever it calls the limit. */
export function largestUpload(supported: SupportedTypes | undefined): number | null {
  const limits = supported?.limits ?? {};
  return limits.max_upload_bytes ?? limits.upload_bytes ?? limits.max_file_bytes ?? null;
}

function isHidden(path: string): boolean {
  return path.split('/').some((part) => (part.startsWith('.') && part !== '.') || systemFiles.has(part.toLowerCase()));
}

function isSupported(file: File, supported: SupportedTypes): boolean {
  const dot = file.name.lastIndexOf('.');
  if (dot > 0 && supported.extensions.includes(file.name.slice(dot).toLowerCase())) return true;
  return file.type !== '' && supported.media_types.includes(file.type.split(';')[0]?.trim().toLowerCase() ?? '');
}

/** Sort picked files into those worth sending and those that are not, each with its reason. */
export function triage(picked: PickedFile[], supported: SupportedTypes | undefined): Triage {
  const most = largestUpload(supported);
  const refusal = ({ file, path }: PickedFile): Refusal | null => {
    if (isHidden(path)) return 'hidden';
    if (file.size === 0) return 'empty';
    if (most !== null && file.size > most) return 'too_large';
    return supported && !isSupported(file, supported) ? 'unsupported' : null;
  };
  const result: Triage = { accepted: [], refused: [] };
  for (const item of picked) {
    const reason = refusal(item);
    if (reason === null) result.accepted.push(item);
    else result.refused.push({ picked: item, reason });
  }
  return result;
}
