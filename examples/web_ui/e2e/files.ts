import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { python } from './service';

export interface GivenFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export const markdown = (name: string, text: string): GivenFile => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) });

/** A PDF with one page per text; lines are broken at about 80 characters. */
export function pdf(name: string, pages: string[]): GivenFile {
  const objects: string[] = [];
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  objects[1] = '<< /Type /Catalog /Pages 2 0 R >>';
  objects[2] = `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`;
  objects[3] = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
  pages.forEach((text, index) => {
    const lines = text.match(/.{1,80}(?:\s|$)/g) ?? [];
    const shown = lines.map((line) => `(${line.trim().replace(/[()\\]/g, '\\$&')}) Tj T*`).join('\n');
    const stream = `BT /F1 12 Tf 16 TL 60 760 Td\n${shown}\nET`;
    objects[4 + index * 2] =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`;
    objects[5 + index * 2] = `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`;
  });
  let body = '%PDF-1.4\n';
  const offsets: number[] = [];
  for (let number = 1; number < objects.length; number += 1) {
    offsets[number] = body.length;
    body += `${number} 0 obj\n${objects[number]}\nendobj\n`;
  }
  const table = offsets.slice(1).map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  body += `xref\n0 ${objects.length}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF`;
  return { name, mimeType: 'application/pdf', buffer: Buffer.from(body, 'latin1') };
}

const slideScript = `
import json, sys
from pptx import Presentation
deck = Presentation()
for title, text in json.loads(sys.argv[2]):
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = title
    slide.placeholders[1].text = text
deck.save(sys.argv[1])
`;

export function slides(name: string, texts: [title: string, text: string][]): GivenFile {
  const folder = mkdtempSync(join(tmpdir(), 'slides-'));
  const path = join(folder, 'deck.pptx');
  execFileSync(python, ['-c', slideScript, path, JSON.stringify(texts)]);
  const buffer = readFileSync(path);
  rmSync(folder, { recursive: true });
  return { name, mimeType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation', buffer };
}

const topics = [
  'The harbour ferry leaves every forty minutes and takes bicycles without a surcharge.',
  'Solar panels on the depot roof cover a third of the yearly electricity.',
  'Visitors register at the north gate and wear the green badge at all times.',
  'The archive keeps maps in flat drawers at eighteen degrees and half humidity.',
];

/** Ordinary text that differs from file to file. */
export const prose = (index: number): string => `# Note ${index}\n\n${topics[index % topics.length]} This is note number ${index}.\n`;
