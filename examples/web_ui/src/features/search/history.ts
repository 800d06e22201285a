import { recall, remember } from '@/api/memory';

const most = 20;
const key = (user: string, kbId: string) => `queries/${user}/${kbId}`;

export function recentQueries(user: string, kbId: string): string[] {
  return recall<string[]>('local', key(user, kbId), []);
}

export function keepQuery(user: string, kbId: string, query: string): void {
  const others = recentQueries(user, kbId).filter((other) => other !== query);
  remember('local', key(user, kbId), [query, ...others].slice(0, most));
}
