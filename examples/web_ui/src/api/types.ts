// The shapes the pages work with. Fields marked optional are additive: a service may leave them out.

export type DocumentStatus = 'pending' | 'parsing' | 'chunking' | 'indexing' | 'ready' | 'error';
export type StatusCounts = Record<DocumentStatus, number>;

export interface EmbeddingModelConfig {
  type: string;
  credential_id: string;
  model: string;
  dimensions: number;
  parameters?: Record<string, unknown>;
}

export interface ChunkerConfig {
  type: string;
  parameters?: Record<string, unknown>;
}

export interface KnowledgeBase {
  id: string;
  name: string;
  description: string;
  embedding_model_config: EmbeddingModelConfig;
  chunker_config: ChunkerConfig | null;
  created_at: string;
  updated_at: string;
  editable: boolean;
  document_count: number;
  chunk_count: number;
  credential_name: string | null;
  status_counts: StatusCounts;
  search_mode?: string;
  /** What this user may do with it; without it, all. */
  permission?: 'owner' | 'edit' | 'read';
  /** Why the operator holds its documents back. */
  paused_reason?: string | null;
  migration?: Migration | null;
}

export interface Migration {
  embedding_model_config: EmbeddingModelConfig;
  progress: { stage: 'copying' | 'closing' | 'stopped'; done: number; total: number };
  error: { code: string; message: string; retryable: boolean } | null;
  started_at: string;
  next_attempt_at: string | null;
}

export interface MigrationState {
  embedding_model_config: EmbeddingModelConfig;
  /** Null: it could not be found out. */
  model_changed: boolean | null;
  migration: Migration | null;
}

export interface Share {
  user_id: string;
  permission: 'read' | 'edit';
  created_at: string;
}

export interface Quota {
  used: number | null;
  limit: number | null;
}

export interface Limits {
  quotas: Record<'knowledge_bases' | 'documents' | 'stored_bytes' | 'pending', Quota>;
  rates: Record<'requests_per_minute' | 'searches_per_minute' | 'searches_at_once', number | null>;
}

export interface Imported {
  knowledge_base_id: string;
  name: string;
  continued: boolean;
  vectors_carried: boolean;
  documents: { carried: number; queued: number; present: number };
  not_exported: { id: string; filename: string; reason: string }[];
  notes: string[];
}

export interface PauseTarget {
  user_id?: string;
  knowledge_base_id?: string;
}

export interface Pause {
  kind: 'tenant' | 'knowledge_base';
  id: string;
  reason: string;
  at: string;
}

export interface Overview {
  at: string;
  queue: {
    tenants: number;
    documents: number;
    running: number;
    oldest_due_seconds: number;
    top: { user_id: string; documents: number; running: number; oldest_due_seconds: number }[];
  };
  workers: {
    node_id: string;
    host: string | null;
    version: string | null;
    state: string;
    slots: number;
    running: number;
    seen_at: string | null;
  }[];
  failures: { total: number; by_code: Record<string, number>; complete: boolean };
  paused: Pause[];
}

export interface DocumentProgress {
  stage: string;
  done: number;
  total: number | null;
  unit: string;
}

export interface ErrorDetail {
  code: string;
  message?: string;
  stage?: string | null;
  retryable?: boolean;
  attempt?: number | null;
}

export type Warning = string | { code?: string; message?: string; pages?: number[] };

export interface KnowledgeDocument {
  id: string;
  filename: string;
  size: number;
  content_type: string | null;
  status: DocumentStatus;
  error: string | null;
  error_detail?: ErrorDetail | null;
  progress?: DocumentProgress | null;
  warnings?: Warning[];
  content_sha256?: string | null;
  duplicate_of?: string | null;
  searchable?: boolean;
  chunk_count: number;
  metadata?: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

export interface TextContent {
  type: 'text';
  text: string;
}

export interface DataContent {
  type: 'data';
  name?: string | null;
  source: { type: 'base64'; data: string; media_type: string } | { type: 'url'; url: string; media_type: string };
}

export interface Chunk {
  content: TextContent | DataContent;
  source: string;
  chunk_index: number;
  total_chunks: number;
  metadata: Record<string, unknown>;
}

export interface LegScore {
  score: number;
  rank: number;
}

export interface SearchHit {
  score: number;
  document_id: string;
  chunk: Chunk;
  vector?: LegScore | null;
  keyword?: LegScore | null;
  rerank?: LegScore | null;
  highlights?: [number, number][] | null;
}

export interface SearchAnswer {
  results: SearchHit[];
  total: number;
  took_ms?: number | null;
  mode?: string | null;
  warnings?: Warning[];
}

export interface SearchRequest {
  query: string;
  top_k: number;
  mode?: string;
  score_threshold?: number;
  rerank?: boolean;
  metadata_filter?: Record<string, unknown>;
  document_ids?: string[];
  content_types?: string[];
}

export interface EmbeddingModelCard {
  name: string;
  label: string;
  status?: string;
  dimensions: number;
  supported_dimensions: number[] | null;
  context_size?: number | null;
}

export interface Credential {
  id: string;
  data: { type: string; name?: string; [field: string]: unknown };
  editable: boolean;
  created_at?: string;
  updated_at?: string;
}

export interface EmbeddingProvider {
  credential: Credential;
  models: EmbeddingModelCard[];
}

export interface EmbeddingModels {
  providers: EmbeddingProvider[];
  policy: { kind: 'any' | 'fixed' | 'locked_by_existing'; dimension: number | null };
}

export interface SchemaProperty {
  title?: string;
  description?: string;
  type?: string;
  anyOf?: { type?: string }[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  writeOnly?: boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
}

export interface ObjectSchema {
  title?: string;
  description?: string;
  properties?: Record<string, SchemaProperty>;
  required?: string[];
}

export interface Chunker {
  type: string;
  parameter_schema: ObjectSchema;
}

export interface SupportedTypes {
  media_types: string[];
  extensions: string[];
  limits?: Record<string, number | null>;
  search_modes?: string[];
}

export interface Page {
  total: number;
  page: number;
  page_size: number;
}

export type OnDuplicate = 'keep' | 'skip' | 'replace' | 'reject';

export interface UploadAnswer {
  document_id: string;
  filename: string;
  status: DocumentStatus;
  duplicate_of?: string | null;
  /** False: the same content was there already and nothing was stored. */
  stored?: boolean;
}

export type Capability = 'read' | 'write' | 'admin';

/** An OpenID provider, and the kind of its tokens that the service takes. */
export interface Provider {
  issuer: string;
  client_id: string;
  token: 'access_token' | 'id_token';
}

export interface Who {
  ways: ('header' | 'api_key' | 'oidc')[];
  oidc: Provider | null;
  caller: { user_id: string; method: string; capability: Capability; knowledge_base_ids: string[] | null } | null;
}

export interface ApiKey {
  id: string;
  name: string;
  capability: Capability;
  knowledge_base_ids: string[] | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

export interface NewApiKey {
  name: string;
  capability: Capability;
  knowledge_base_ids: string[] | null;
  expires_in_seconds: number | null;
}

export const MOVING_STATES: readonly DocumentStatus[] = ['pending', 'parsing', 'chunking', 'indexing'];

export function isMoving(status: DocumentStatus): boolean {
  return MOVING_STATES.includes(status);
}

/** How many documents of a knowledge base are still on their way. */
export function movingCount(counts: StatusCounts): number {
  return MOVING_STATES.reduce((sum, state) => sum + counts[state], 0);
}
