export const searchModes = ['hybrid', 'vector', 'keyword'];

// What the file types of the filter stand for.
const office = 'application/vnd.openxmlformats-officedocument';

export const families: Record<string, string[]> = {
  pdf: ['application/pdf'],
  word: [
    `${office}.wordprocessingml.document`,
    'application/msword',
    'application/vnd.oasis.opendocument.text',
    'application/rtf',
    'text/rtf',
    'application/epub+zip',
  ],
  slides: [
    `${office}.presentationml.presentation`,
    'application/vnd.ms-powerpoint',
    'application/vnd.oasis.opendocument.presentation',
  ],
  sheets: [
    `${office}.spreadsheetml.sheet`,
    'application/vnd.ms-excel',
    'application/vnd.ms-excel.sheet.binary.macroenabled.12',
    'application/vnd.oasis.opendocument.spreadsheet',
    'text/csv',
    'text/tab-separated-values',
  ],
  text: ['text/plain', 'text/markdown', 'text/x-rst'],
  web: ['text/html', 'application/xhtml+xml', 'application/xml', 'text/xml'],
  image: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/tiff'],
};

/** Single types for lists that filter by exactly one; the labels are names in every language. */
export const singleTypes: [mediaType: string, label: string][] = [
  ['application/pdf', 'PDF'],
  [`${office}.wordprocessingml.document`, 'Word (.docx)'],
  [`${office}.presentationml.presentation`, 'PowerPoint (.pptx)'],
  [`${office}.spreadsheetml.sheet`, 'Excel (.xlsx)'],
  ['text/markdown', 'Markdown (.md)'],
  ['text/plain', 'TXT'],
  ['text/html', 'HTML'],
  ['text/csv', 'CSV'],
  ['application/epub+zip', 'EPUB'],
  ['image/png', 'PNG'],
  ['image/jpeg', 'JPEG'],
];
