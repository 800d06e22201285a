import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { documents } from '@/api/calls';
import { keys } from '@/api/queries';
import type { DocumentStatus } from '@/api/types';

export const pageSize = 50;

export interface ListParams {
  q?: string;
  status?: DocumentStatus;
  type?: string;
  sort?: 'create_time' | 'update_time' | 'name' | 'size' | 'chunks' | 'status';
  desc?: '0' | '1';
  page?: number;
}

export function wireQuery({ q, status, type, sort = 'create_time', desc = '1' }: ListParams) {
  return { keywords: q, status, content_type: type, orderby: sort, desc: desc === '1' };
}

export const documentsQuery = (kbId: string, params: ListParams) =>
  queryOptions({
    queryKey: [...keys.documents(kbId), params],
    queryFn: () => documents.list(kbId, { ...wireQuery(params), page: params.page ?? 1, page_size: pageSize }),
    placeholderData: keepPreviousData,
  });
