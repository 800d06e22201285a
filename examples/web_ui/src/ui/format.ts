import i18next from 'i18next';

// Formatters are slow to make and asked for in every row.
const made = new Map<string, unknown>();

function formatter<F>(kind: string, make: (locale: string) => F): F {
  const locale = i18next.language === 'zh' ? 'zh-CN' : 'en';
  const key = locale + kind;
  if (!made.has(key)) made.set(key, make(locale));
  return made.get(key) as F;
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function formatNumber(value: number, digits = 0): string {
  return formatter(`number${digits}`, (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits })).format(value);
}

export function formatScore(value: number): string {
  const options = { minimumFractionDigits: 3, maximumFractionDigits: 3 };
  return formatter('score', (locale) => new Intl.NumberFormat(locale, options)).format(value);
}

export function formatPercent(share: number): string {
  return formatter('percent', (locale) => new Intl.NumberFormat(locale, { style: 'percent' })).format(share);
}

export function formatBytes(bytes: number): string {
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const unit = units[step];
  const options = { style: 'unit', unit, unitDisplay: step === 0 ? 'long' : 'short', maximumFractionDigits: 1 } as const;
  return formatter(`bytes${unit}`, (locale) => new Intl.NumberFormat(locale, options)).format(bytes / 1000 ** step);
}

const stamp = /(?:Z|[+-]\d\d:?\d\d)$/;

/** A time of the service; without a zone it is UTC. */
export function parseTime(text: string): Date {
  return new Date(stamp.test(text) ? text : text + 'Z');
}

export function formatTime(text: string): string {
  const options = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return formatter('time', (locale) => new Intl.DateTimeFormat(locale, options)).format(parseTime(text));
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** A span in its largest unit: "3 min". */
export function formatSeconds(seconds: number): string {
  const [unit, size] = steps.find((step) => seconds >= step[1]) ?? (['second', 1] as const);
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 } as const;
  return formatter(`span${unit}`, (locale) => new Intl.NumberFormat(locale, options)).format(Math.floor(seconds / size));
}

/** "2 minutes ago"; a date after two weeks. */
export function formatAgo(text: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - parseTime(text).getTime()) / 1000);
  if (seconds > 14 * 86_400)
    return formatter('date', (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })).format(parseTime(text));
  const relative = formatter('ago', (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  for (const [unit, size] of steps) if (seconds >= size) return relative.format(-Math.floor(seconds / size), unit);
  return relative.format(0, 'second');
}
