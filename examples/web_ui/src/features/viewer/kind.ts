import type { KnowledgeDocument } from '@/api/types';

export type ViewKind = 'pdf' | 'image' | 'text' | 'extracted';

const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp']);
const texts = new Set([
  'application/json',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/x-ndjson',
  'application/toml',
]);
const largestText = 2 * 1024 * 1024;

/** How the original can be shown. Pages and drawings that could run code are never shown as such. */
export function viewKind({ content_type: type, filename, size }: KnowledgeDocument): ViewKind {
  const media = type?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (media === 'application/pdf' || (media === '' && /\.pdf$/i.test(filename))) return 'pdf';
  if (images.has(media)) return 'image';
  const isText = (media.startsWith('text/') && media !== 'text/html' && media !== 'text/rtf') || texts.has(media);
  return isText && size <= largestText ? 'text' : 'extracted';
}
