// Makes the pictures of the README against a running service: node scripts/screenshots.mjs [URL]
// The documents are written here; the user "pictures" is used and cleaned up afterwards.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const url = (process.argv[2] ?? 'http://127.0.0.1:8000').replace(/\/$/, '');
const target = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const headers = { 'X-User-ID': 'pictures', 'Content-Type': 'application/json' };
mkdirSync(target, { recursive: true });

async function call(method, path, body) {
  const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

async function knowledgeBase(name, description) {
  const { providers } = await call('GET', '/knowledge_bases/embedding_models');
  const { credential, models } = providers.find((item) => item.credential.data.type === 'local_credential');
  const { knowledge_base_id: id } = await call('POST', '/knowledge_bases/', {
    name,
    description,
    embedding_model_config: {
      type: credential.data.type,
      credential_id: credential.id,
      model: models[0].name,
      dimensions: models[0].dimensions,
    },
  });
  return id;
}

async function upload(kb, name, content, type) {
  const form = new FormData();
  form.append('file', new Blob([content], { type }), name);
  const answer = await fetch(`${url}/knowledge_bases/${kb}/documents`, { method: 'POST', headers: { 'X-User-ID': 'pictures' }, body: form });
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return (await answer.json()).document_id;
}

async function settled(kb) {
  for (;;) {
    const { status_counts: counts } = await call('GET', `/knowledge_bases/${kb}`);
    if (counts.pending + counts.parsing + counts.chunking + counts.indexing === 0) return;
    await new Promise((yes) => setTimeout(yes, 300));
  }
}

function pdf(pages) {
  const objects = [];
  objects[1] = '<< /Type /Catalog /Pages 2 0 R >>';
  objects[2] = `<< /Type /Pages /Kids [${pages.map((_, index) => `${5 + index * 2} 0 R`).join(' ')}] /Count ${pages.length} >>`;
  objects[3] = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
  objects[4] = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>';
  pages.forEach(({ title, paragraphs }, index) => {
    const shown = (line) => `(${line.trim().replace(/[()\\]/g, '\\$&')}) Tj T*`;
    const text = paragraphs.map((part) => (part.match(/.{1,82}(?:\s|$)/g) ?? []).map(shown).join('\n')).join('\nT*\n');
    const stream = `BT /F2 20 Tf 24 TL 56 770 Td (${title}) Tj T* T* /F1 11.5 Tf 17 TL\n${text}\nET`;
    objects[5 + index * 2] = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents ${6 + index * 2} 0 R >>`;
    objects[6 + index * 2] = `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`;
  });
  let body = '%PDF-1.4\n';
  const offsets = [];
  for (let number = 1; number < objects.length; number += 1) {
    offsets.push(body.length);
    body += `${number} 0 obj\n${objects[number]}\nendobj\n`;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return `${body}xref\n0 ${objects.length}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF`;
}

const handbook = pdf([
  {
    title: 'Working hours',
    paragraphs: [
      'Full-time staff work 38 hours a week. The day starts between seven and ten in the morning; between ten and three everybody can be reached.',
      'Overtime is agreed with the team beforehand. Hours worked on a Sunday are returned as free time within four weeks.',
    ],
  },
  {
    title: 'Leave',
    paragraphs: [
      'Annual leave is 28 days for everyone who works full time; part-time staff receive a proportional share.',
      'Days that are left over at the end of the year move on and can be taken until the end of March. After that they expire, unless illness or the needs of the office made it impossible to take them.',
      'Leave is asked for in the calendar at least two weeks ahead. The team answers within three working days.',
    ],
  },
  {
    title: 'Travel',
    paragraphs: [
      'Journeys of up to 600 kilometres are made by train. Receipts are handed in within 30 days of the return.',
      'The daily allowance for meals is 28 euros; it is halved on the days of departure and return.',
    ],
  },
]);

const note = (title, text) => `# ${title}\n\n${text}\n`;

async function main() {
  for (const { id } of (await call('GET', '/knowledge_bases/?page_size=128')).knowledge_bases) await call('DELETE', `/knowledge_bases/${id}`);
  const kb = await knowledgeBase('Staff handbook', 'Rules for working hours, leave and travel, with the notes of the works council.');
  const handbookId = await upload(kb, 'handbook.pdf', handbook, 'application/pdf');
  await upload(kb, 'parental leave.md', note('Parental leave', 'Parents take up to 14 months of leave between them. It is announced seven weeks before it begins.'), 'text/markdown');
  await upload(kb, 'bicycle.md', note('Bicycles', 'The office leases bicycles; a third of the rate is paid by the office.'), 'text/markdown');
  await upload(kb, '休假制度.md', note('休假制度', '全职员工每年享有二十八天年假。当年未休完的年假可以结转，并须在次年三月底之前休完，逾期作废。\n\n请假须至少提前两周在日历中提出，团队会在三个工作日内答复。'), 'text/markdown');
  await upload(kb, 'scan of 1998.pdf', '%PDF-1.4\nnothing readable', 'application/pdf');
  await knowledgeBase('Product notes', 'What changed in each release, and why.');
  await knowledgeBase('客户支持', '常见问题与处理办法。');
  await settled(kb);

  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
  });

  async function tab(language, theme) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.addInitScript((chosen) => {
      sessionStorage.setItem('agentscope.user', 'pictures');
      localStorage.setItem('agentscope.language', chosen.language);
      localStorage.setItem('agentscope.theme', chosen.theme);
    }, { language, theme });
    return page;
  }

  async function take(page, path, ready, name) {
    await page.goto('about:blank');
    await page.goto(`${url}/#${path}`);
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: `${target}/${name}.png` });
  }

  const light = await tab('en', 'light');
  await take(light, '/', 'main li h2', 'ui-knowledge-bases');
  await take(light, `/kb/${kb}/search?q=how+long+can+I+keep+my+remaining+leave`, 'mark', 'ui-search');
  await take(light, `/kb/${kb}/doc/${handbookId}?chunk=1&page=2&q=remaining+leave`, '.pdf-text .marked', 'ui-document');
  // Documents while they move: the files go in through the page itself.
  await light.goto('about:blank');
  await light.goto(`${url}/#/kb/${kb}`);
  await light.locator('tbody tr').first().waitFor();
  const chapters = Array.from({ length: 24 }, (_, index) => ({
    name: `minutes ${String(index + 1).padStart(2, '0')}.md`,
    mimeType: 'text/markdown',
    buffer: Buffer.from(note(`Minutes ${index + 1}`, `Meeting number ${index + 1} dealt with the canteen, the bicycle shed and the plan for spring.\n\n`.repeat(40))),
  }));
  await light.getByTestId('file-input').setInputFiles(chapters);
  await light.locator('section[aria-label="Uploads"] li').filter({ hasText: 'Ready' }).nth(3).waitFor({ timeout: 60_000 });
  await light.screenshot({ path: `${target}/ui-documents.png` });
  await settled(kb);

  const dark = await tab('en', 'dark');
  await take(dark, `/kb/${kb}/doc/${handbookId}?chunk=1&page=2&q=remaining+leave`, '.pdf-text .marked', 'ui-document-dark');
  const chinese = await tab('zh', 'light');
  await take(chinese, `/kb/${kb}/search?q=${encodeURIComponent('没休完的年假什么时候作废')}`, 'mark', 'ui-search-zh');
  const phone = await tab('zh', 'dark');
  await phone.setViewportSize({ width: 390, height: 800 });
  await take(phone, `/kb/${kb}`, 'tbody tr', 'ui-documents-zh-phone');

  await browser.close();
  for (const { id } of (await call('GET', '/knowledge_bases/?page_size=128')).knowledge_bases) await call('DELETE', `/knowledge_bases/${id}`);
}

await main();
