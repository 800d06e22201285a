// Generated from the OpenAPI document of the service by "pnpm api:types". Do not edit.

export interface paths {
    "/agent/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Agents
         * @description List the agents: there are none here.
         */
        get: operations["get_agents_agent__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api_keys/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Api Keys
         * @description List the caller's keys.
         */
        get: operations["get_api_keys_api_keys__get"];
        put?: never;
        /**
         * Post Api Key
         * @description Make a key of the caller; its text is in this answer and nowhere else.
         */
        post: operations["post_api_key_api_keys__post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api_keys/{api_key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Api Key
         * @description Revoke a key; it opens nothing from now on.
         */
        delete: operations["remove_api_key_api_keys__api_key_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api_keys/{api_key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Rotation
         * @description Give a key a new secret; the old one opens nothing from now on.
         */
        post: operations["post_rotation_api_keys__api_key_id__rotate_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credential/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Credentials
         * @description List the caller's credentials, secrets masked.
         */
        get: operations["get_credentials_credential__get"];
        put?: never;
        /**
         * Post Credential
         * @description Store a credential; its secrets are encrypted.
         */
        post: operations["post_credential_credential__post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credential/{credential_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Credential
         * @description Delete a credential.
         */
        delete: operations["remove_credential_credential__credential_id__delete"];
        options?: never;
        head?: never;
        /**
         * Patch Credential
         * @description Replace a credential; a masked or absent secret keeps its stored value.
         */
        patch: operations["patch_credential_credential__credential_id__patch"];
        trace?: never;
    };
    "/credential/{credential_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Stored Test
         * @description Try a stored credential, or a change of it; masked secrets stand for the stored ones.
         */
        post: operations["post_stored_test_credential__credential_id__test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credential/schemas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Schemas
         * @description Return the form of every credential type.
         */
        get: operations["get_schemas_credential_schemas_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credential/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Test
         * @description Try a credential that is not stored yet.
         */
        post: operations["post_test_credential_test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/embedding-model/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Models
         * @description List the embedding models of a provider.
         */
        get: operations["get_models_embedding_model__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Health
         * @description Ask every part; 503 with the same body if one of them does not answer.
         */
        get: operations["get_health_health_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Knowledge Bases
         * @description List knowledge bases.
         */
        get: operations["get_knowledge_bases_knowledge_bases__get"];
        put?: never;
        /**
         * Post Knowledge Base
         * @description Create a knowledge base.
         */
        post: operations["post_knowledge_base_knowledge_bases__post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get One Knowledge Base
         * @description Read one knowledge base.
         */
        get: operations["get_one_knowledge_base_knowledge_bases__knowledge_base_id__get"];
        put?: never;
        post?: never;
        /**
         * Remove Knowledge Base
         * @description Delete a knowledge base with all its documents.
         */
        delete: operations["remove_knowledge_base_knowledge_bases__knowledge_base_id__delete"];
        options?: never;
        head?: never;
        /**
         * Patch Knowledge Base
         * @description Rename a knowledge base or change how it is searched.
         */
        patch: operations["patch_knowledge_base_knowledge_bases__knowledge_base_id__patch"];
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Documents
         * @description List the documents of a knowledge base.
         */
        get: operations["get_documents_knowledge_bases__knowledge_base_id__documents_get"];
        put?: never;
        /**
         * Post Document
         * @description Upload a file; it is indexed in the background.
         */
        post: operations["post_document_knowledge_bases__knowledge_base_id__documents_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Original
         * @description Download the original file of a document.
         */
        get: operations["get_original_knowledge_bases__knowledge_base_id__documents__document_id__get"];
        put?: never;
        post?: never;
        /**
         * Remove Document
         * @description Delete a document; it is invisible from this moment.
         */
        delete: operations["remove_document_knowledge_bases__knowledge_base_id__documents__document_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}/chunks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Chunks
         * @description List the chunks of a document in their order.
         */
        get: operations["get_chunks_knowledge_bases__knowledge_base_id__documents__document_id__chunks_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}/download_token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Download Token
         * @description Make a token that opens the original of this document for ten minutes.
         */
        post: operations["post_download_token_knowledge_bases__knowledge_base_id__documents__document_id__download_token_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Info
         * @description Read one document's data, with what its last run found out.
         */
        get: operations["get_info_knowledge_bases__knowledge_base_id__documents__document_id__info_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}/reindex": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Reindex
         * @description Index a document again; what is searchable stays so meanwhile.
         */
        post: operations["post_reindex_knowledge_bases__knowledge_base_id__documents__document_id__reindex_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/reindex": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Reindex Failed
         * @description Index every failed document of the knowledge base again.
         */
        post: operations["post_reindex_failed_knowledge_bases__knowledge_base_id__documents_reindex_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Status
         * @description Return the state of many documents at once.
         */
        get: operations["get_status_knowledge_bases__knowledge_base_id__documents_status_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Search
         * @description Search the documents of a knowledge base.
         */
        post: operations["post_search_knowledge_bases__knowledge_base_id__search_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/chunkers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Chunkers
         * @description List the chunkers that a new knowledge base can use, the default first.
         */
        get: operations["get_chunkers_knowledge_bases_chunkers_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/embedding_models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Embedding Models
         * @description List the embedding models that a new knowledge base can use.
         */
        get: operations["get_embedding_models_knowledge_bases_embedding_models_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/middleware/parameters_schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Parameters Schema
         * @description Return the form of the parameters of the middleware for agents.
         */
        get: operations["get_parameters_schema_knowledge_bases_middleware_parameters_schema_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/supported_content_types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Supported Content Types
         * @description List the file types that can be read here, and the limits.
         */
        get: operations["get_supported_content_types_knowledge_bases_supported_content_types_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/api_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post User Api Key
         * @description Make a key of any user: the way to the first one.
         */
        post: operations["post_user_api_key_operator_api_keys_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post Audit
         * @description Compare records, vectors and files, and mend what is certain if asked to.
         */
        post: operations["post_audit_operator_audit_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * ApiKeyView
         * @description What is known of a key; its secret is not.
         */
        ApiKeyView: {
            /**
             * Capability
             * @enum {string}
             */
            capability: "read" | "write" | "admin";
            /** Created At */
            created_at: string;
            /** Expires At */
            expires_at: string | null;
            /** Id */
            id: string;
            /** Knowledge Base Ids */
            knowledge_base_ids: string[] | null;
            /** Last Used At */
            last_used_at: string | null;
            /** Name */
            name: string;
        };
        /**
         * AuditResponse
         * @description Faults apart from what is merely unfinished.
         */
        AuditResponse: {
            /** Clean */
            clean: boolean;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Findings */
            findings: components["schemas"]["FindingView"][];
            /** Repaired */
            repaired: string[];
            /** Total */
            total: number;
            /** Unfinished */
            unfinished: {
                [key: string]: number;
            };
            /** Waiting */
            waiting: number;
        };
        /**
         * Base64Source
         * @description Data given inline, base64 encoded.
         */
        Base64Source: {
            /** Data */
            data: string;
            /** Media Type */
            media_type: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "base64";
        };
        /**
         * Chunk
         * @description The unit that is embedded and found.
         *
         *     `chunk_index` counts from 0 over the whole document. A text chunk that was cut from a
         *     section has `char_start` and `char_end` in `metadata`: code points into that section's text,
         *     and `section_index`, which counts sections from 0.
         */
        Chunk: {
            /** Chunk Index */
            chunk_index: number;
            /** Content */
            content: components["schemas"]["TextBlock"] | components["schemas"]["DataBlock"];
            /** Metadata */
            metadata?: {
                [key: string]: unknown;
            };
            /** Source */
            source: string;
            /** Total Chunks */
            total_chunks: number;
        };
        /**
         * ChunkerConfigBody
         * @description Which chunker a knowledge base cuts with.
         */
        ChunkerConfigBody: {
            /** Parameters */
            parameters?: {
                [key: string]: unknown;
            };
            /** Type */
            type: string;
        };
        /**
         * ChunkerInfo
         * @description One chunker and the form of its parameters.
         */
        ChunkerInfo: {
            /** Parameter Schema */
            parameter_schema: {
                [key: string]: unknown;
            };
            /** Type */
            type: string;
        };
        /**
         * CreateApiKeyRequest
         * @description A new key; without `expires_in_seconds` it is good until it is revoked.
         */
        CreateApiKeyRequest: {
            /**
             * Capability
             * @default write
             * @enum {string}
             */
            capability: "read" | "write" | "admin";
            /** Expires In Seconds */
            expires_in_seconds?: number | null;
            /** Knowledge Base Ids */
            knowledge_base_ids?: string[] | null;
            /** Name */
            name: string;
        };
        /**
         * CreateCredentialResponse
         * @description The id of the new credential.
         */
        CreateCredentialResponse: {
            /** Credential Id */
            credential_id: string;
        };
        /**
         * CreateKnowledgeBaseRequest
         * @description A new knowledge base; model and chunker are pinned for its life.
         */
        CreateKnowledgeBaseRequest: {
            chunker_config?: components["schemas"]["ChunkerConfigBody"] | null;
            /**
             * Description
             * @default
             */
            description: string;
            embedding_model_config: components["schemas"]["EmbeddingModelConfigBody"];
            /** Name */
            name: string;
            /** Search Mode */
            search_mode?: ("vector" | "keyword" | "hybrid") | null;
        };
        /**
         * CreateKnowledgeBaseResponse
         * @description The id of the new knowledge base.
         */
        CreateKnowledgeBaseResponse: {
            /** Knowledge Base Id */
            knowledge_base_id: string;
        };
        /**
         * CreateUserApiKeyRequest
         * @description A new key for any user.
         */
        CreateUserApiKeyRequest: {
            /**
             * Capability
             * @default write
             * @enum {string}
             */
            capability: "read" | "write" | "admin";
            /** Expires In Seconds */
            expires_in_seconds?: number | null;
            /** Knowledge Base Ids */
            knowledge_base_ids?: string[] | null;
            /** Name */
            name: string;
            /** User Id */
            user_id: string;
        };
        /**
         * CredentialPayloadRequest
         * @description A provider credential; `data.type` says which, see `GET /credential/schemas`.
         */
        CredentialPayloadRequest: {
            /** Data */
            data: {
                [key: string]: unknown;
            };
        };
        /**
         * CredentialUse
         * @description A knowledge base that embeds with the credential.
         */
        CredentialUse: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * CredentialView
         * @description One credential.
         */
        CredentialView: {
            /** Created At */
            created_at: string;
            /** Data */
            data: {
                [key: string]: unknown;
            };
            /** Editable */
            editable: boolean;
            /** Id */
            id: string;
            /** Updated At */
            updated_at: string;
            /** Used By */
            used_by?: components["schemas"]["CredentialUse"][];
            /** User Id */
            user_id: string;
        };
        /**
         * DataBlock
         * @description An image or other binary content.
         */
        DataBlock: {
            /** Created At */
            created_at?: string;
            /** Finished At */
            finished_at?: string | null;
            /** Id */
            id?: string;
            /** Name */
            name?: string | null;
            /** Source */
            source: components["schemas"]["Base64Source"] | components["schemas"]["URLSource"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "data";
        };
        /**
         * DimensionPolicyKind
         * @description How free the choice is.
         * @enum {string}
         */
        DimensionPolicyKind: "any" | "fixed" | "locked_by_existing";
        /**
         * DimensionPolicyView
         * @description Which dimensions a new knowledge base may have.
         */
        DimensionPolicyView: {
            /** Dimension */
            dimension: number | null;
            kind: components["schemas"]["DimensionPolicyKind"];
        };
        /**
         * DocumentDownloadTokenResponse
         * @description A token for one document; `expires_at` is in Unix seconds.
         */
        DocumentDownloadTokenResponse: {
            /** Expires At */
            expires_at: number;
            /** Token */
            token: string;
        };
        /**
         * EmbeddingModelCard
         * @description What a user may choose; `supported_dimensions` None means that `dimensions` is fixed.
         */
        EmbeddingModelCard: {
            /** Context Size */
            context_size?: number | null;
            /** Dimensions */
            dimensions: number;
            /** Input Types */
            input_types?: string[];
            /** Label */
            label: string;
            /** Name */
            name: string;
            /** Output Types */
            output_types?: string[];
            /** Parameter Overrides */
            parameter_overrides?: {
                [key: string]: unknown;
            };
            /** Parameter Schema */
            parameter_schema?: {
                [key: string]: unknown;
            };
            /**
             * Status
             * @default active
             * @enum {string}
             */
            status: "active" | "deprecated" | "sunset";
            /** Supported Dimensions */
            supported_dimensions?: number[] | null;
            /**
             * Type
             * @default embedding_model
             * @constant
             */
            type: "embedding_model";
        };
        /**
         * EmbeddingModelConfigBody
         * @description Which model a knowledge base embeds with.
         */
        EmbeddingModelConfigBody: {
            /** Credential Id */
            credential_id: string;
            /** Dimensions */
            dimensions: number;
            /** Model */
            model: string;
            /** Parameters */
            parameters?: {
                [key: string]: unknown;
            };
            /** Type */
            type: string;
        };
        /**
         * ErrorBody
         * @description Any answer that is not a success; `code` is stable, `detail` is for people.
         */
        ErrorBody: {
            /** Code */
            code: string;
            /** Detail */
            detail: string | components["schemas"]["Problem"][];
        };
        /**
         * ErrorDetail
         * @description Why the last run did not end in `ready`.
         */
        ErrorDetail: {
            /** Attempt */
            attempt: number;
            /** Code */
            code: string;
            /** Message */
            message: string;
            /** Retryable */
            retryable: boolean;
            /** Stage */
            stage: string;
        };
        /**
         * FindingView
         * @description An invariant that does not hold.
         */
        FindingView: {
            /** Invariant */
            invariant: string;
            /** Message */
            message: string;
            /** Repairable */
            repairable: boolean;
            /** Subject */
            subject: {
                [key: string]: unknown;
            };
        };
        /**
         * HealthResponse
         * @description Whether the service and each of its parts can do its work now.
         */
        HealthResponse: {
            /** Components */
            components: {
                [key: string]: "ok" | "not_ready" | "disabled";
            };
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "not_ready";
            /** Version */
            version: string;
        };
        /**
         * KbEmbeddingProvider
         * @description A credential and the models it opens.
         */
        KbEmbeddingProvider: {
            credential: components["schemas"]["CredentialView"];
            /** Models */
            models: components["schemas"]["EmbeddingModelCard"][];
        };
        /**
         * KnowledgeBaseView
         * @description One knowledge base.
         */
        KnowledgeBaseView: {
            /** Chunk Count */
            chunk_count: number;
            chunker_config: components["schemas"]["ChunkerConfigBody"] | null;
            /** Created At */
            created_at: string;
            /** Credential Name */
            credential_name: string | null;
            /** Description */
            description: string;
            /** Document Count */
            document_count: number;
            /** Editable */
            editable: boolean;
            embedding_model_config: components["schemas"]["EmbeddingModelConfigBody"];
            /** Generation */
            generation: number;
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * Search Mode
             * @enum {string}
             */
            search_mode: "vector" | "keyword" | "hybrid";
            /** Size Bytes */
            size_bytes: number;
            status_counts: components["schemas"]["StatusCounts"];
            /** Updated At */
            updated_at: string;
        };
        /**
         * KnowledgeDocumentInfo
         * @description One document with what its last run found out.
         */
        KnowledgeDocumentInfo: {
            /** Chunk Count */
            chunk_count: number;
            /** Content Sha256 */
            content_sha256: string | null;
            /** Content Type */
            content_type: string | null;
            /** Created At */
            created_at: string;
            /** Duplicate Of */
            duplicate_of: string | null;
            /** Encoding */
            encoding: string | null;
            /** Error */
            error: string | null;
            error_detail: components["schemas"]["ErrorDetail"] | null;
            /** Filename */
            filename: string;
            /** Id */
            id: string;
            /** Knowledge Base Id */
            knowledge_base_id: string;
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Next Attempt At */
            next_attempt_at: string | null;
            progress: components["schemas"]["ProgressView"];
            /** Report */
            report: {
                [key: string]: unknown;
            };
            /** Searchable */
            searchable: boolean;
            /** Size */
            size: number;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "parsing" | "chunking" | "indexing" | "ready" | "error";
            /** Updated At */
            updated_at: string;
            /** Warnings */
            warnings: string[];
        };
        /**
         * KnowledgeDocumentView
         * @description One document.
         */
        KnowledgeDocumentView: {
            /** Chunk Count */
            chunk_count: number;
            /** Content Sha256 */
            content_sha256: string | null;
            /** Content Type */
            content_type: string | null;
            /** Created At */
            created_at: string;
            /** Duplicate Of */
            duplicate_of: string | null;
            /** Error */
            error: string | null;
            error_detail: components["schemas"]["ErrorDetail"] | null;
            /** Filename */
            filename: string;
            /** Id */
            id: string;
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            progress: components["schemas"]["ProgressView"];
            /** Searchable */
            searchable: boolean;
            /** Size */
            size: number;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "parsing" | "chunking" | "indexing" | "ready" | "error";
            /** Updated At */
            updated_at: string;
            /** Warnings */
            warnings: string[];
        };
        /**
         * LegScore
         * @description Where one search leg put a hit: its raw score and its rank from 1.
         */
        LegScore: {
            /** Rank */
            rank: number;
            /** Score */
            score: number;
        };
        /**
         * ListAgentsResponse
         * @description No agents: they live in another product.
         */
        ListAgentsResponse: {
            /** Agents */
            agents: {
                [key: string]: unknown;
            }[];
            /** Total */
            total: number;
        };
        /**
         * ListApiKeysResponse
         * @description The caller's keys, oldest first.
         */
        ListApiKeysResponse: {
            /** Api Keys */
            api_keys: components["schemas"]["ApiKeyView"][];
            /** Total */
            total: number;
        };
        /**
         * ListChunkersResponse
         * @description The chunkers a knowledge base can be created with; the first is the default.
         */
        ListChunkersResponse: {
            /** Chunkers */
            chunkers: components["schemas"]["ChunkerInfo"][];
        };
        /**
         * ListCredentialSchemasResponse
         * @description One JSON schema per provider type.
         */
        ListCredentialSchemasResponse: {
            /** Schemas */
            schemas: {
                [key: string]: unknown;
            }[];
        };
        /**
         * ListCredentialsResponse
         * @description The user's credentials, oldest first.
         */
        ListCredentialsResponse: {
            /** Credentials */
            credentials: components["schemas"]["CredentialView"][];
            /** Total */
            total: number;
        };
        /**
         * ListDocumentChunksResponse
         * @description One page of chunks, in document order.
         */
        ListDocumentChunksResponse: {
            /** Chunks */
            chunks: components["schemas"]["Chunk"][];
            /** Page */
            page: number;
            /** Page Size */
            page_size: number;
            /** Total */
            total: number;
        };
        /**
         * ListEmbeddingModelsResponse
         * @description The models of one provider.
         */
        ListEmbeddingModelsResponse: {
            /** Models */
            models: components["schemas"]["EmbeddingModelCard"][];
            /** Total */
            total: number;
        };
        /**
         * ListKbEmbeddingModelsResponse
         * @description What a new knowledge base can embed with.
         */
        ListKbEmbeddingModelsResponse: {
            policy: components["schemas"]["DimensionPolicyView"];
            /** Providers */
            providers: components["schemas"]["KbEmbeddingProvider"][];
        };
        /**
         * ListKnowledgeBasesResponse
         * @description One page of knowledge bases.
         */
        ListKnowledgeBasesResponse: {
            /** Knowledge Bases */
            knowledge_bases: components["schemas"]["KnowledgeBaseView"][];
            /** Page */
            page: number;
            /** Page Size */
            page_size: number;
            /** Total */
            total: number;
        };
        /**
         * ListKnowledgeDocumentsResponse
         * @description One page of documents.
         */
        ListKnowledgeDocumentsResponse: {
            /** Documents */
            documents: components["schemas"]["KnowledgeDocumentView"][];
            /** Page */
            page: number;
            /** Page Size */
            page_size: number;
            /** Total */
            total: number;
        };
        /**
         * ListKnowledgeDocumentStatusResponse
         * @description The documents asked for, in the order asked for; unknown ones are left out.
         */
        ListKnowledgeDocumentStatusResponse: {
            /** Items */
            items: components["schemas"]["KnowledgeDocumentView"][];
        };
        /**
         * NewApiKeyView
         * @description A new key; `key` is shown this once.
         */
        NewApiKeyView: {
            /**
             * Capability
             * @enum {string}
             */
            capability: "read" | "write" | "admin";
            /** Created At */
            created_at: string;
            /** Expires At */
            expires_at: string | null;
            /** Id */
            id: string;
            /** Key */
            key: string;
            /** Knowledge Base Ids */
            knowledge_base_ids: string[] | null;
            /** Last Used At */
            last_used_at: string | null;
            /** Name */
            name: string;
        };
        /**
         * ParametersSchemaResponse
         * @description The form of the middleware's parameters.
         */
        ParametersSchemaResponse: {
            /** Parameter Schema */
            parameter_schema: {
                [key: string]: unknown;
            };
        };
        /**
         * Problem
         * @description One fault of a request that is not well-formed.
         */
        Problem: {
            /** Ctx */
            ctx?: {
                [key: string]: unknown;
            } | null;
            /** Input */
            input?: unknown;
            /** Loc */
            loc: (string | number)[];
            /** Msg */
            msg: string;
            /** Type */
            type: string;
        };
        /**
         * ProgressView
         * @description How far the document is; `total` is 0 while unknown.
         */
        ProgressView: {
            /** Done */
            done: number;
            /** Stage */
            stage: string;
            /** Total */
            total: number;
            /** Unit */
            unit: string;
        };
        /**
         * ReindexFailedResponse
         * @description How many documents were queued again.
         */
        ReindexFailedResponse: {
            /** Queued */
            queued: number;
        };
        /**
         * SearchHit
         * @description A hit of `KnowledgeBase.search` with what is needed to explain and show it.
         */
        SearchHit: {
            /** After */
            after?: components["schemas"]["Chunk"][];
            /** Before */
            before?: components["schemas"]["Chunk"][];
            chunk: components["schemas"]["Chunk"];
            /** Document Id */
            document_id: string;
            /** Highlights */
            highlights?: [
                number,
                number
            ][];
            keyword?: components["schemas"]["LegScore"] | null;
            /**
             * Knowledge Base Id
             * @default
             */
            knowledge_base_id: string;
            rerank?: components["schemas"]["LegScore"] | null;
            /** Score */
            score: number;
            vector?: components["schemas"]["LegScore"] | null;
        };
        /**
         * SearchKnowledgeBaseRequest
         * @description A question to a knowledge base; everything but `query` is optional.
         */
        SearchKnowledgeBaseRequest: {
            /** Content Types */
            content_types?: string[] | null;
            /** Document Ids */
            document_ids?: string[] | null;
            /** Metadata Filter */
            metadata_filter?: {
                [key: string]: unknown;
            } | null;
            /** Mode */
            mode?: ("vector" | "keyword" | "hybrid") | null;
            /**
             * Neighbours
             * @default 0
             */
            neighbours: number;
            /** Query */
            query: string;
            /** Score Threshold */
            score_threshold?: number | null;
            /**
             * Top K
             * @default 5
             */
            top_k: number;
        };
        /**
         * SearchKnowledgeBaseResponse
         * @description Hits, best first; `total` counts those returned.
         */
        SearchKnowledgeBaseResponse: {
            /**
             * Mode
             * @enum {string}
             */
            mode: "vector" | "keyword" | "hybrid";
            /** Results */
            results: components["schemas"]["SearchHit"][];
            /** Took Ms */
            took_ms: number;
            /** Total */
            total: number;
            /** Warnings */
            warnings?: string[];
        };
        /**
         * StatusCounts
         * @description How many documents are in each state.
         */
        StatusCounts: {
            /** Chunking */
            chunking: number;
            /** Error */
            error: number;
            /** Indexing */
            indexing: number;
            /** Parsing */
            parsing: number;
            /** Pending */
            pending: number;
            /** Ready */
            ready: number;
        };
        /**
         * SupportedContentTypesResponse
         * @description What can be uploaded.
         */
        SupportedContentTypesResponse: {
            /** Extensions */
            extensions: string[];
            /** Limits */
            limits?: {
                [key: string]: number;
            };
            /** Media Types */
            media_types: string[];
        };
        /**
         * TextBlock
         * @description A piece of text.
         */
        TextBlock: {
            /** Created At */
            created_at?: string;
            /** Finished At */
            finished_at?: string | null;
            /** Id */
            id?: string;
            /** Text */
            text: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
        };
        /**
         * TryCredentialRequest
         * @description A payload to try before it is stored; null tries the stored one.
         */
        TryCredentialRequest: {
            /** Data */
            data?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * TryCredentialResponse
         * @description Whether the provider accepted the credential; if not, why.
         */
        TryCredentialResponse: {
            /** Code */
            code?: string | null;
            /** Detail */
            detail?: string | null;
            /** Ok */
            ok: boolean;
        };
        /**
         * UpdateKnowledgeBaseRequest
         * @description What to change; null leaves a field as it is.
         */
        UpdateKnowledgeBaseRequest: {
            /** Description */
            description?: string | null;
            /** Name */
            name?: string | null;
            /** Search Mode */
            search_mode?: ("vector" | "keyword" | "hybrid") | null;
        };
        /**
         * UploadKnowledgeDocumentResponse
         * @description The accepted document; with `on_duplicate=skip` it may be one that was there before.
         */
        UploadKnowledgeDocumentResponse: {
            /** Document Id */
            document_id: string;
            /** Duplicate Of */
            duplicate_of?: string | null;
            /** Filename */
            filename: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "parsing" | "chunking" | "indexing" | "ready" | "error";
            /**
             * Stored
             * @default true
             */
            stored: boolean;
        };
        /**
         * URLSource
         * @description Data given by reference; this product never fetches it by itself.
         */
        URLSource: {
            /** Media Type */
            media_type: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "url";
            /** Url */
            url: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_agents_agent__get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAgentsResponse"];
                };
            };
        };
    };
    get_api_keys_api_keys__get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListApiKeysResponse"];
                };
            };
        };
    };
    post_api_key_api_keys__post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKeyView"];
                };
            };
        };
    };
    remove_api_key_api_keys__api_key_id__delete: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                api_key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_rotation_api_keys__api_key_id__rotate_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                api_key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKeyView"];
                };
            };
        };
    };
    get_credentials_credential__get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCredentialsResponse"];
                };
            };
        };
    };
    post_credential_credential__post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialPayloadRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateCredentialResponse"];
                };
            };
        };
    };
    remove_credential_credential__credential_id__delete: {
        parameters: {
            query?: {
                /** @description Refuse with 409 while a knowledge base uses it. */
                only_if_unused?: boolean;
            };
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                credential_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_credential_credential__credential_id__patch: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                credential_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialPayloadRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
        };
    };
    post_stored_test_credential__credential_id__test_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                credential_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TryCredentialRequest"] | null;
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TryCredentialResponse"];
                };
            };
        };
    };
    get_schemas_credential_schemas_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCredentialSchemasResponse"];
                };
            };
        };
    };
    post_test_credential_test_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialPayloadRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TryCredentialResponse"];
                };
            };
        };
    };
    get_models_embedding_model__get: {
        parameters: {
            query: {
                /** @description A credential type. */
                provider: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEmbeddingModelsResponse"];
                };
            };
        };
    };
    get_health_health_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthResponse"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthResponse"];
                };
            };
        };
    };
    get_knowledge_bases_knowledge_bases__get: {
        parameters: {
            query?: {
                desc?: boolean;
                id?: string | null;
                /** @description Part of the name, in any case. */
                name?: string | null;
                orderby?: string;
                page?: number;
                page_size?: number;
            };
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListKnowledgeBasesResponse"];
                };
            };
        };
    };
    post_knowledge_base_knowledge_bases__post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKnowledgeBaseRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateKnowledgeBaseResponse"];
                };
            };
        };
    };
    get_one_knowledge_base_knowledge_bases__knowledge_base_id__get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseView"];
                };
            };
        };
    };
    remove_knowledge_base_knowledge_bases__knowledge_base_id__delete: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_knowledge_base_knowledge_bases__knowledge_base_id__patch: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateKnowledgeBaseRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseView"];
                };
            };
        };
    };
    get_documents_knowledge_bases__knowledge_base_id__documents_get: {
        parameters: {
            query?: {
                content_type?: string | null;
                desc?: boolean;
                id?: string | null;
                /** @description Part of the file name, in any case. */
                keywords?: string | null;
                orderby?: string;
                page?: number;
                page_size?: number;
                status?: string | null;
            };
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListKnowledgeDocumentsResponse"];
                };
            };
        };
    };
    post_document_knowledge_bases__knowledge_base_id__documents_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @description Media type to read the file as. */
                    content_type?: string;
                    /** @description Text encoding, for text formats. */
                    encoding?: string;
                    /** Format: binary */
                    file: string;
                    /** @description A flat JSON object, for metadata filters. */
                    metadata?: string;
                    /**
                     * @default keep
                     * @enum {string}
                     */
                    on_duplicate?: "keep" | "skip" | "replace" | "reject";
                };
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadKnowledgeDocumentResponse"];
                };
            };
        };
    };
    get_original_knowledge_bases__knowledge_base_id__documents__document_id__get: {
        parameters: {
            query?: {
                /** @description Always as an attachment. */
                download?: boolean;
                /** @description Replaces the identity header. */
                token?: string | null;
            };
            header?: {
                /** @description The tenant of the request. */
                "x-user-id"?: string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The original file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description Part of the original file. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The range lies outside the file. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    remove_document_knowledge_bases__knowledge_base_id__documents__document_id__delete: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_chunks_knowledge_bases__knowledge_base_id__documents__document_id__chunks_get: {
        parameters: {
            query?: {
                page?: number;
                page_size?: number;
            };
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListDocumentChunksResponse"];
                };
            };
        };
    };
    post_download_token_knowledge_bases__knowledge_base_id__documents__document_id__download_token_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentDownloadTokenResponse"];
                };
            };
        };
    };
    get_info_knowledge_bases__knowledge_base_id__documents__document_id__info_get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeDocumentInfo"];
                };
            };
        };
    };
    post_reindex_knowledge_bases__knowledge_base_id__documents__document_id__reindex_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeDocumentView"];
                };
            };
        };
    };
    post_reindex_failed_knowledge_bases__knowledge_base_id__documents_reindex_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReindexFailedResponse"];
                };
            };
        };
    };
    get_status_knowledge_bases__knowledge_base_id__documents_status_get: {
        parameters: {
            query: {
                /** @description Document ids, separated by commas. */
                ids: string;
            };
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListKnowledgeDocumentStatusResponse"];
                };
            };
        };
    };
    post_search_knowledge_bases__knowledge_base_id__search_post: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchKnowledgeBaseRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchKnowledgeBaseResponse"];
                };
            };
        };
    };
    get_chunkers_knowledge_bases_chunkers_get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListChunkersResponse"];
                };
            };
        };
    };
    get_embedding_models_knowledge_bases_embedding_models_get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListKbEmbeddingModelsResponse"];
                };
            };
        };
    };
    get_parameters_schema_knowledge_bases_middleware_parameters_schema_get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParametersSchemaResponse"];
                };
            };
        };
    };
    get_supported_content_types_knowledge_bases_supported_content_types_get: {
        parameters: {
            query?: never;
            header: {
                /** @description The tenant of the request. */
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SupportedContentTypesResponse"];
                };
            };
        };
    };
    post_user_api_key_operator_api_keys_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUserApiKeyRequest"];
            };
        };
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKeyView"];
                };
            };
        };
    };
    post_audit_operator_audit_post: {
        parameters: {
            query?: {
                deep?: boolean;
                older_than_seconds?: number;
                repair?: boolean;
                wait_seconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was refused; `code` says why. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description The service or what it depends on failed. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditResponse"];
                };
            };
        };
    };
}
