import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { NotFound, RouteError } from './features/shell/problems';
import { Shell } from './features/shell/shell';
import { KnowledgeBasesPage } from './features/kbs/list_page';
import type { SearchParams } from './features/search/settings';
import { Loading } from './ui/loading';

type Raw = Record<string, unknown>;

const states = ['pending', 'parsing', 'chunking', 'indexing', 'ready', 'error'] as const;
const digits = ['0', '1'] as const;
const sorts = ['create_time', 'update_time', 'name', 'size', 'chunks', 'status'] as const;

interface ListSearch {
  q?: string;
}

interface DocumentsSearch {
  q?: string;
  status?: (typeof states)[number];
  type?: string;
  sort?: (typeof sorts)[number];
  desc?: '0' | '1';
  page?: number;
}

interface DocumentSearch {
  chunk?: number;
  page?: number;
  q?: string;
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const oneOf = <V extends string>(value: unknown, allowed: readonly V[]) => allowed.find((item) => item === value);

function positive(value: unknown): number | undefined {
  const number = Number(value);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  const number = Number(value);
  return value !== undefined && value !== '' && Number.isInteger(number) && number >= 0 ? number : undefined;
}

function share(value: unknown): number | undefined {
  const number = Number(value);
  return value !== undefined && value !== '' && number > 0 && number <= 1 ? number : undefined;
}

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: RouteError });

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: KnowledgeBasesPage,
  validateSearch: (raw: Raw): ListSearch => ({ q: text(raw.q) }),
});

const credentialsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/credentials',
  component: lazyRouteComponent(() => import('./features/credentials/page'), 'CredentialsPage'),
});

const keysRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./features/keys/page'), 'KeysPage'),
});

const usageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('./features/usage/page'), 'UsagePage'),
});

const operatorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator',
  component: lazyRouteComponent(() => import('./features/operator/page'), 'OperatorPage'),
});

const kbRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/kb/$kbId',
  component: lazyRouteComponent(() => import('./features/kbs/frame'), 'KnowledgeBaseFrame'),
});

const documentsRoute = createRoute({
  getParentRoute: () => kbRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./features/documents/page'), 'DocumentsPage'),
  validateSearch: (raw: Raw): DocumentsSearch => ({
    q: text(raw.q),
    status: oneOf(raw.status, states),
    type: text(raw.type),
    sort: oneOf(raw.sort, sorts),
    desc: oneOf(raw.desc, ['0', '1'] as const),
    page: positive(raw.page),
  }),
});

const searchRoute = createRoute({
  getParentRoute: () => kbRoute,
  path: '/search',
  component: lazyRouteComponent(() => import('./features/search/page'), 'SearchPage'),
  validateSearch: (raw: Raw): SearchParams => ({
    q: text(raw.q),
    k: positive(raw.k),
    min: share(raw.min),
    mode: text(raw.mode),
    type: text(raw.type),
    rr: oneOf(raw.rr, digits),
    where: text(raw.where),
    doc: text(raw.doc),
    compare: oneOf(raw.compare, ['1'] as const),
    bq: text(raw.bq),
    bk: positive(raw.bk),
    bmin: share(raw.bmin),
    bmode: text(raw.bmode),
    btype: text(raw.btype),
    brr: oneOf(raw.brr, digits),
    bwhere: text(raw.bwhere),
  }),
});

const settingsRoute = createRoute({
  getParentRoute: () => kbRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./features/kbs/settings_page'), 'SettingsPage'),
});

const documentRoute = createRoute({
  getParentRoute: () => kbRoute,
  path: '/doc/$documentId',
  component: lazyRouteComponent(() => import('./features/viewer/page'), 'DocumentPage'),
  validateSearch: (raw: Raw): DocumentSearch => ({ chunk: wholeNumber(raw.chunk), page: positive(raw.page), q: text(raw.q) }),
});

export const routeTree = rootRoute.addChildren([
  listRoute,
  credentialsRoute,
  keysRoute,
  usageRoute,
  operatorRoute,
  kbRoute.addChildren([documentsRoute, searchRoute, settingsRoute, documentRoute]),
]);

/** Plain `name=value` in the address, so that links can be read and written by people. */
export const searchCodec = {
  parseSearch: (query: string): Raw => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: (values: Raw): string => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== null) query.set(name, String(value));
    const written = query.toString();
    return written ? `?${written}` : '';
  },
};

export const router = createRouter({
  routeTree,
  history: createHashHistory(),
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: RouteError,
  scrollRestoration: true,
  ...searchCodec,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
