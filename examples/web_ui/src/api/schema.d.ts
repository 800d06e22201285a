// Generated from the OpenAPI document of the service by "pnpm api:types". Do not edit.

export interface paths {
    "/agent/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
        get: operations["get_api_keys_api_keys__get"];
        put?: never;
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
        post: operations["post_rotation_api_keys__api_key_id__rotate_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit_log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_audit_log_audit_log_get"];
        put?: never;
        post?: never;
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
        get: operations["get_credentials_credential__get"];
        put?: never;
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
        delete: operations["remove_credential_credential__credential_id__delete"];
        options?: never;
        head?: never;
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
        get: operations["get_models_embedding_model__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_events_events_get"];
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
        get: operations["get_health_health_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_live_health_live_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/identity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_identity_identity_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/integrations/dify/retrieval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_retrieval_integrations_dify_retrieval_post"];
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
        get: operations["get_knowledge_bases_knowledge_bases__get"];
        put?: never;
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
        get: operations["get_one_knowledge_base_knowledge_bases__knowledge_base_id__get"];
        put?: never;
        post?: never;
        delete: operations["remove_knowledge_base_knowledge_bases__knowledge_base_id__delete"];
        options?: never;
        head?: never;
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
        get: operations["get_documents_knowledge_bases__knowledge_base_id__documents_get"];
        put?: never;
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
        get: operations["get_original_knowledge_bases__knowledge_base_id__documents__document_id__get"];
        put?: never;
        post?: never;
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
        get: operations["get_chunks_knowledge_bases__knowledge_base_id__documents__document_id__chunks_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}/chunks/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_document_preview_knowledge_bases__knowledge_base_id__documents__document_id__chunks_preview_post"];
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
        get: operations["get_status_knowledge_bases__knowledge_base_id__documents_status_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_knowledge_base_events_knowledge_bases__knowledge_base_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_export_knowledge_bases__knowledge_base_id__export_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/migration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_migration_knowledge_bases__knowledge_base_id__migration_get"];
        put?: never;
        post: operations["post_migration_knowledge_bases__knowledge_base_id__migration_post"];
        delete: operations["delete_migration_knowledge_bases__knowledge_base_id__migration_delete"];
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
        post: operations["post_search_knowledge_bases__knowledge_base_id__search_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_shares_knowledge_bases__knowledge_base_id__shares_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/{knowledge_base_id}/shares/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["put_share_knowledge_bases__knowledge_base_id__shares__user_id__put"];
        post?: never;
        delete: operations["remove_share_knowledge_bases__knowledge_base_id__shares__user_id__delete"];
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
        get: operations["get_chunkers_knowledge_bases_chunkers_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/chunkers/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_text_preview_knowledge_bases_chunkers_preview_post"];
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
        get: operations["get_embedding_models_knowledge_bases_embedding_models_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_import_knowledge_bases_import_post"];
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
        get: operations["get_parameters_schema_knowledge_bases_middleware_parameters_schema_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge_bases/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_search_across_knowledge_bases_search_post"];
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
        get: operations["get_supported_content_types_knowledge_bases_supported_content_types_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_limits_limits_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_metrics_metrics_get"];
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
        post: operations["post_audit_operator_audit_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_overview_operator_overview_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_pause_operator_pause_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_resume_operator_resume_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_retry_operator_retry_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/rotate_secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_rotate_secrets_operator_rotate_secrets_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{knowledge_base_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_vector_store_v1_vector_stores__knowledge_base_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{knowledge_base_id}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_vector_store_search_v1_vector_stores__knowledge_base_id__search_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_webhooks_webhooks__get"];
        put?: never;
        post: operations["post_webhook_webhooks__post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_webhook_webhooks__webhook_id__get"];
        put?: never;
        post?: never;
        delete: operations["remove_webhook_webhooks__webhook_id__delete"];
        options?: never;
        head?: never;
        patch: operations["patch_webhook_webhooks__webhook_id__patch"];
        trace?: never;
    };
    "/webhooks/{webhook_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_replay_webhooks__webhook_id__replay_post"];
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
        ApiKeyView: {
            capability: "read" | "write" | "admin";
            created_at: string;
            expires_at: string | null;
            id: string;
            knowledge_base_ids: string[] | null;
            last_used_at: string | null;
            name: string;
        };
        AuditEntryView: {
            action: string;
            actor: string;
            at: string;
            id: string;
            identified_by: string;
            resources: {
                [key: string]: string;
            };
            status: number;
        };
        AuditLogResponse: {
            entries: components["schemas"]["AuditEntryView"][];
            next: string | null;
        };
        AuditResponse: {
            clean: boolean;
            counts: {
                [key: string]: number;
            };
            findings: components["schemas"]["FindingView"][];
            repaired: string[];
            total: number;
            unfinished: {
                [key: string]: number;
            };
            waiting: number;
        };
        Base64Source: {
            data: string;
            media_type: string;
            type: "base64";
        };
        BeginMigrationRequest: {
            embedding_model_config?: components["schemas"]["EmbeddingModelConfigBody"] | null;
        };
        CallerView: {
            capability: "read" | "write" | "admin";
            knowledge_base_ids: string[] | null;
            method: string;
            user_id: string;
        };
        Chunk: {
            chunk_index: number;
            content: components["schemas"]["TextBlock"] | components["schemas"]["DataBlock"];
            metadata?: {
                [key: string]: unknown;
            };
            source: string;
            total_chunks: number;
        };
        ChunkerConfigBody: {
            parameters?: {
                [key: string]: unknown;
            };
            type: string;
        };
        ChunkerInfo: {
            parameter_schema: {
                [key: string]: unknown;
            };
            type: string;
        };
        CreateApiKeyRequest: {
            capability: "read" | "write" | "admin";
            expires_in_seconds?: number | null;
            knowledge_base_ids?: string[] | null;
            name: string;
        };
        CreateCredentialResponse: {
            credential_id: string;
        };
        CreateKnowledgeBaseRequest: {
            chunker_config?: components["schemas"]["ChunkerConfigBody"] | null;
            description: string;
            embedding_model_config: components["schemas"]["EmbeddingModelConfigBody"];
            name: string;
            search_mode?: ("vector" | "keyword" | "hybrid") | null;
        };
        CreateKnowledgeBaseResponse: {
            knowledge_base_id: string;
        };
        CreateUserApiKeyRequest: {
            capability: "read" | "write" | "admin";
            expires_in_seconds?: number | null;
            knowledge_base_ids?: string[] | null;
            name: string;
            user_id: string;
        };
        CreateWebhookRequest: {
            enabled: boolean;
            event_types?: string[];
            knowledge_base_id?: string | null;
            url: string;
        };
        CredentialPayloadRequest: {
            data: {
                [key: string]: unknown;
            };
        };
        CredentialUse: {
            id: string;
            name: string;
        };
        CredentialView: {
            created_at: string;
            data: {
                [key: string]: unknown;
            };
            editable: boolean;
            id: string;
            updated_at: string;
            used_by?: components["schemas"]["CredentialUse"][];
            user_id: string;
        };
        DataBlock: {
            created_at?: string;
            finished_at?: string | null;
            id?: string;
            name?: string | null;
            source: components["schemas"]["Base64Source"] | components["schemas"]["URLSource"];
            type: "data";
        };
        DimensionPolicyKind: "any" | "fixed" | "locked_by_existing";
        DimensionPolicyView: {
            dimension: number | null;
            kind: components["schemas"]["DimensionPolicyKind"];
        };
        DocumentDownloadTokenResponse: {
            expires_at: number;
            token: string;
        };
        EmbeddingModelCard: {
            context_size?: number | null;
            dimensions: number;
            input_types?: string[];
            label: string;
            name: string;
            output_types?: string[];
            parameter_overrides?: {
                [key: string]: unknown;
            };
            parameter_schema?: {
                [key: string]: unknown;
            };
            status: "active" | "deprecated" | "sunset";
            supported_dimensions?: number[] | null;
            type: "embedding_model";
        };
        EmbeddingModelConfigBody: {
            credential_id: string;
            dimensions: number;
            model: string;
            parameters?: {
                [key: string]: unknown;
            };
            type: string;
        };
        ErrorBody: {
            code: string;
            detail: string | components["schemas"]["Problem"][];
            details?: {
                [key: string]: unknown;
            } | null;
        };
        ErrorDetail: {
            attempt: number;
            code: string;
            message: string;
            retryable: boolean;
            stage: string;
        };
        FailuresView: {
            by_code: {
                [key: string]: number;
            };
            complete: boolean;
            total: number;
        };
        FileCounts: {
            cancelled: number;
            completed: number;
            failed: number;
            in_progress: number;
            total: number;
        };
        FindingView: {
            invariant: string;
            message: string;
            repairable: boolean;
            subject: {
                [key: string]: unknown;
            };
        };
        HealthResponse: {
            components: {
                [key: string]: "ok" | "not_ready" | "disabled";
            };
            status: "ok" | "not_ready";
            version: string;
        };
        IdentityResponse: {
            caller: components["schemas"]["CallerView"] | null;
            oidc: components["schemas"]["OidcView"] | null;
            ways: ("header" | "api_key" | "oidc")[];
        };
        ImportedDocuments: {
            carried: number;
            present: number;
            queued: number;
        };
        ImportKnowledgeBaseResponse: {
            continued: boolean;
            documents: components["schemas"]["ImportedDocuments"];
            knowledge_base_id: string;
            name: string;
            not_exported: components["schemas"]["NotExported"][];
            notes: string[];
            vectors_carried: boolean;
        };
        KbEmbeddingProvider: {
            credential: components["schemas"]["CredentialView"];
            models: components["schemas"]["EmbeddingModelCard"][];
        };
        KnowledgeBaseView: {
            chunk_count: number;
            chunker_config: components["schemas"]["ChunkerConfigBody"] | null;
            created_at: string;
            credential_name: string | null;
            description: string;
            document_count: number;
            editable: boolean;
            embedding_model_config: components["schemas"]["EmbeddingModelConfigBody"];
            generation: number;
            id: string;
            migration: components["schemas"]["MigrationView"] | null;
            name: string;
            paused_reason: string | null;
            permission: "owner" | "edit" | "read";
            search_mode: "vector" | "keyword" | "hybrid";
            size_bytes: number;
            status_counts: components["schemas"]["StatusCounts"];
            updated_at: string;
        };
        KnowledgeDocumentInfo: {
            chunk_count: number;
            content_sha256: string | null;
            content_type: string | null;
            created_at: string;
            duplicate_of: string | null;
            encoding: string | null;
            error: string | null;
            error_detail: components["schemas"]["ErrorDetail"] | null;
            filename: string;
            id: string;
            knowledge_base_id: string;
            metadata: {
                [key: string]: unknown;
            };
            next_attempt_at: string | null;
            paused_reason: string | null;
            progress: components["schemas"]["ProgressView"];
            report: {
                [key: string]: unknown;
            };
            searchable: boolean;
            size: number;
            status: "pending" | "parsing" | "chunking" | "indexing" | "ready" | "error";
            updated_at: string;
            warnings: string[];
        };
        KnowledgeDocumentView: {
            chunk_count: number;
            content_sha256: string | null;
            content_type: string | null;
            created_at: string;
            duplicate_of: string | null;
            error: string | null;
            error_detail: components["schemas"]["ErrorDetail"] | null;
            filename: string;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            paused_reason: string | null;
            progress: components["schemas"]["ProgressView"];
            searchable: boolean;
            size: number;
            status: "pending" | "parsing" | "chunking" | "indexing" | "ready" | "error";
            updated_at: string;
            warnings: string[];
        };
        LegScore: {
            rank: number;
            score: number;
        };
        LimitsResponse: {
            quotas: components["schemas"]["QuotasView"];
            rates: components["schemas"]["RatesView"];
        };
        ListAgentsResponse: {
            agents: {
                [key: string]: unknown;
            }[];
            total: number;
        };
        ListApiKeysResponse: {
            api_keys: components["schemas"]["ApiKeyView"][];
            total: number;
        };
        ListChunkersResponse: {
            chunkers: components["schemas"]["ChunkerInfo"][];
        };
        ListCredentialSchemasResponse: {
            schemas: {
                [key: string]: unknown;
            }[];
        };
        ListCredentialsResponse: {
            credentials: components["schemas"]["CredentialView"][];
            total: number;
        };
        ListDocumentChunksResponse: {
            chunks: components["schemas"]["Chunk"][];
            page: number;
            page_size: number;
            total: number;
        };
        ListEmbeddingModelsResponse: {
            models: components["schemas"]["EmbeddingModelCard"][];
            total: number;
        };
        ListKbEmbeddingModelsResponse: {
            policy: components["schemas"]["DimensionPolicyView"];
            providers: components["schemas"]["KbEmbeddingProvider"][];
        };
        ListKnowledgeBasesResponse: {
            knowledge_bases: components["schemas"]["KnowledgeBaseView"][];
            page: number;
            page_size: number;
            total: number;
        };
        ListKnowledgeDocumentsResponse: {
            documents: components["schemas"]["KnowledgeDocumentView"][];
            page: number;
            page_size: number;
            total: number;
        };
        ListKnowledgeDocumentStatusResponse: {
            items: components["schemas"]["KnowledgeDocumentView"][];
        };
        ListSharesResponse: {
            shares: components["schemas"]["ShareView"][];
            total: number;
        };
        ListWebhooksResponse: {
            total: number;
            webhooks: components["schemas"]["WebhookView"][];
        };
        LiveResponse: {
            status: string;
        };
        MetadataCondition: {
            comparison_operator: string;
            name: string | string[];
            value?: string | boolean | number | (string | boolean | number)[] | null;
        };
        MetadataConditions: {
            conditions?: components["schemas"]["MetadataCondition"][];
            logical_operator: "and" | "or";
        };
        MigrationProblem: {
            code: string;
            message: string;
            retryable: boolean;
        };
        MigrationProgress: {
            done: number;
            stage: "copying" | "closing" | "stopped";
            total: number;
            unit: "document";
        };
        MigrationStateView: {
            embedding_model_config: components["schemas"]["EmbeddingModelConfigBody"];
            generation: number;
            knowledge_base_id: string;
            migration: components["schemas"]["MigrationView"] | null;
            model_changed: boolean | null;
        };
        MigrationView: {
            embedding_model_config: components["schemas"]["EmbeddingModelConfigBody"];
            error: components["schemas"]["MigrationProblem"] | null;
            generation: number;
            next_attempt_at: string | null;
            progress: components["schemas"]["MigrationProgress"];
            started_at: string;
        };
        NewApiKeyView: {
            capability: "read" | "write" | "admin";
            created_at: string;
            expires_at: string | null;
            id: string;
            key: string;
            knowledge_base_ids: string[] | null;
            last_used_at: string | null;
            name: string;
        };
        NewWebhookView: {
            created_at: string;
            delivered_at: string | null;
            enabled: boolean;
            event_types: string[];
            failures: number;
            id: string;
            knowledge_base_id: string | null;
            last_error: string | null;
            next_try_at: string | null;
            secret: string;
            sequence: number;
            url: string;
        };
        NotExported: {
            filename: string;
            id: string;
            reason: string;
        };
        OidcView: {
            client_id: string;
            issuer: string;
            token: "access_token" | "id_token";
        };
        OverviewResponse: {
            at: string;
            failures: components["schemas"]["FailuresView"];
            paused: components["schemas"]["PauseView"][];
            queue: components["schemas"]["QueueView"];
            workers: components["schemas"]["WorkerView"][];
        };
        ParametersSchemaResponse: {
            parameter_schema: {
                [key: string]: unknown;
            };
        };
        PauseRequest: {
            knowledge_base_id?: string | null;
            reason: string;
            user_id?: string | null;
        };
        PauseView: {
            at: string;
            id: string;
            kind: "tenant" | "knowledge_base";
            reason: string;
        };
        PreviewDocumentRequest: {
            chunker_config?: components["schemas"]["ChunkerConfigBody"] | null;
        };
        PreviewResponse: {
            chunks: components["schemas"]["Chunk"][];
            media_type: string;
            total: number;
            warnings?: string[];
        };
        PreviewTextRequest: {
            chunker_config?: components["schemas"]["ChunkerConfigBody"] | null;
            content_type?: string | null;
            filename: string;
            text: string;
        };
        Problem: {
            ctx?: {
                [key: string]: unknown;
            } | null;
            input?: unknown;
            loc: (string | number)[];
            msg: string;
            type: string;
        };
        ProgressView: {
            done: number;
            stage: string;
            total: number;
            unit: string;
        };
        QueueView: {
            classes: components["schemas"]["TenantClassView"][];
            complete: boolean;
            documents: number;
            oldest_due_seconds: number;
            running: number;
            tenants: number;
            top: components["schemas"]["TenantView"][];
        };
        QuotasView: {
            documents: components["schemas"]["QuotaView"];
            knowledge_bases: components["schemas"]["QuotaView"];
            pending: components["schemas"]["QuotaView"];
            stored_bytes: components["schemas"]["QuotaView"];
        };
        QuotaView: {
            limit: number | null;
            used: number | null;
        };
        RankingOptions: {
            ranker?: string | null;
            score_threshold?: number | null;
        };
        RatesView: {
            requests_per_minute: number | null;
            searches_at_once: number | null;
            searches_per_minute: number | null;
        };
        ReindexFailedResponse: {
            queued: number;
        };
        ReplayRequest: {
            after: number;
        };
        RetrievalRecord: {
            content: string;
            metadata: {
                [key: string]: unknown;
            };
            score: number;
            title: string;
        };
        RetrievalRequest: {
            knowledge_id: string;
            metadata_condition?: components["schemas"]["MetadataConditions"] | null;
            query: string;
            retrieval_setting?: components["schemas"]["RetrievalSetting"];
        };
        RetrievalResponse: {
            records: components["schemas"]["RetrievalRecord"][];
        };
        RetrievalSetting: {
            score_threshold: number;
            top_k: number;
        };
        RetryRequest: {
            after: string;
            code?: string | null;
            knowledge_base_id?: string | null;
            limit: number;
            user_id?: string | null;
        };
        RetryResponse: {
            looked_at: number;
            next: string | null;
            retried: number;
        };
        RotationResponse: {
            checked: number;
            key_id: string;
            resealed: number;
            unreadable: number;
        };
        SearchHit: {
            after?: components["schemas"]["Chunk"][];
            before?: components["schemas"]["Chunk"][];
            chunk: components["schemas"]["Chunk"];
            document_id: string;
            highlights?: [
                number,
                number
            ][];
            keyword?: components["schemas"]["LegScore"] | null;
            knowledge_base_id: string;
            rerank?: components["schemas"]["LegScore"] | null;
            score: number;
            vector?: components["schemas"]["LegScore"] | null;
        };
        SearchKnowledgeBaseRequest: {
            content_types?: string[] | null;
            document_ids?: string[] | null;
            metadata_filter?: {
                [key: string]: unknown;
            } | null;
            mode?: ("vector" | "keyword" | "hybrid") | null;
            neighbours: number;
            query: string | string[];
            rerank?: boolean | null;
            score_threshold?: number | null;
            top_k: number;
        };
        SearchKnowledgeBaseResponse: {
            mode: "vector" | "keyword" | "hybrid";
            results: components["schemas"]["SearchHit"][];
            took_ms: number;
            total: number;
            warnings?: string[];
        };
        SearchKnowledgeBasesRequest: {
            content_types?: string[] | null;
            document_ids?: string[] | null;
            knowledge_base_ids: string[];
            metadata_filter?: {
                [key: string]: unknown;
            } | null;
            mode?: ("vector" | "keyword" | "hybrid") | null;
            neighbours: number;
            query: string | string[];
            rerank?: boolean | null;
            score_threshold?: number | null;
            top_k: number;
        };
        SearchKnowledgeBasesResponse: {
            results: components["schemas"]["SearchHit"][];
            took_ms: number;
            total: number;
            warnings?: string[];
        };
        ShareRequest: {
            permission: "read" | "edit";
        };
        ShareView: {
            created_at: string;
            permission: "read" | "edit";
            updated_at: string;
            user_id: string;
        };
        StatusCounts: {
            chunking: number;
            error: number;
            indexing: number;
            parsing: number;
            pending: number;
            ready: number;
        };
        SupportedContentTypesResponse: {
            extensions: string[];
            limits?: {
                [key: string]: number;
            };
            media_types: string[];
        };
        Target: {
            knowledge_base_id?: string | null;
            user_id?: string | null;
        };
        TenantClassView: {
            documents: number;
            name: "small" | "large" | "paused";
            oldest_due_seconds: number;
            running: number;
            tenants: number;
        };
        TenantView: {
            documents: number;
            oldest_due_seconds: number;
            running: number;
            user_id: string;
        };
        TextBlock: {
            created_at?: string;
            finished_at?: string | null;
            id?: string;
            text: string;
            type: "text";
        };
        TryCredentialRequest: {
            data?: {
                [key: string]: unknown;
            } | null;
        };
        TryCredentialResponse: {
            code?: string | null;
            detail?: string | null;
            ok: boolean;
        };
        UpdateKnowledgeBaseRequest: {
            chunker_config?: {
                [key: string]: unknown;
            } | null;
            description?: string | null;
            embedding_model_config?: {
                [key: string]: unknown;
            } | null;
            name?: string | null;
            search_mode?: ("vector" | "keyword" | "hybrid") | null;
        };
        UpdateWebhookRequest: {
            enabled?: boolean | null;
            event_types?: string[] | null;
            url?: string | null;
        };
        UploadKnowledgeDocumentResponse: {
            document_id: string;
            duplicate_of?: string | null;
            filename: string;
            status: "pending" | "parsing" | "chunking" | "indexing" | "ready" | "error";
            stored: boolean;
        };
        URLSource: {
            media_type: string;
            type: "url";
            url: string;
        };
        VectorStoreContent: {
            text: string;
            type: "text";
        };
        VectorStoreResult: {
            attributes: {
                [key: string]: string | boolean | number;
            };
            content: components["schemas"]["VectorStoreContent"][];
            file_id: string;
            filename: string;
            score: number;
        };
        VectorStoreSearchRequest: {
            filters?: {
                [key: string]: unknown;
            } | null;
            max_num_results: number;
            query: string | string[];
            ranking_options?: components["schemas"]["RankingOptions"] | null;
            rewrite_query: boolean;
        };
        VectorStoreSearchResponse: {
            data: components["schemas"]["VectorStoreResult"][];
            has_more: boolean;
            next_page: string | null;
            object: "vector_store.search_results.page";
            search_query: string[];
        };
        VectorStoreView: {
            created_at: number;
            file_counts: components["schemas"]["FileCounts"];
            id: string;
            last_active_at: number | null;
            metadata: {
                [key: string]: string;
            };
            name: string;
            object: "vector_store";
            status: "completed" | "in_progress";
            usage_bytes: number;
        };
        WebhookView: {
            created_at: string;
            delivered_at: string | null;
            enabled: boolean;
            event_types: string[];
            failures: number;
            id: string;
            knowledge_base_id: string | null;
            last_error: string | null;
            next_try_at: string | null;
            sequence: number;
            url: string;
        };
        WorkerView: {
            host: string | null;
            node_id: string;
            running: number;
            seen_at: string | null;
            slots: number;
            started_at: string | null;
            state: string;
            version: string | null;
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
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                "x-user-id": string;
            };
            path: {
                api_key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                "x-user-id": string;
            };
            path: {
                api_key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    get_audit_log_audit_log_get: {
        parameters: {
            query?: {
                after?: string;
                format?: "json" | "jsonl";
                limit?: number;
            };
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditLogResponse"];
                    "application/x-ndjson": string;
                };
            };
        };
    };
    get_credentials_credential__get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                only_if_unused?: boolean;
            };
            header: {
                "x-user-id": string;
            };
            path: {
                credential_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                provider: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    get_events_events_get: {
        parameters: {
            query?: {
                after?: number | null;
                seconds?: number;
            };
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthResponse"];
                };
            };
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
    get_live_health_live_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LiveResponse"];
                };
            };
        };
    };
    get_identity_identity_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityResponse"];
                };
            };
        };
    };
    post_retrieval_integrations_dify_retrieval_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetrievalRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetrievalResponse"];
                };
            };
        };
    };
    get_knowledge_bases_knowledge_bases__get: {
        parameters: {
            query?: {
                desc?: boolean;
                id?: string | null;
                name?: string | null;
                orderby?: string;
                page?: number;
                page_size?: number;
            };
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                keywords?: string | null;
                orderby?: string;
                page?: number;
                page_size?: number;
                status?: string | null;
            };
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                    content_type?: string;
                    encoding?: string;
                    file: string;
                    metadata?: string;
                    on_duplicate?: "keep" | "skip" | "replace" | "reject";
                    on_same_name?: "keep" | "replace" | "reject";
                };
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                download?: boolean;
                token?: string | null;
            };
            header?: {
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    post_document_preview_knowledge_bases__knowledge_base_id__documents__document_id__chunks_preview_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                document_id: string;
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewDocumentRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewResponse"];
                };
            };
        };
    };
    post_download_token_knowledge_bases__knowledge_base_id__documents__document_id__download_token_post: {
        parameters: {
            query?: never;
            header: {
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
                ids: string;
            };
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    get_knowledge_base_events_knowledge_bases__knowledge_base_id__events_get: {
        parameters: {
            query?: {
                after?: number | null;
                seconds?: number;
            };
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    get_export_knowledge_bases__knowledge_base_id__export_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-tar": string;
                };
            };
        };
    };
    get_migration_knowledge_bases__knowledge_base_id__migration_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MigrationStateView"];
                };
            };
        };
    };
    post_migration_knowledge_bases__knowledge_base_id__migration_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginMigrationRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MigrationStateView"];
                };
            };
        };
    };
    delete_migration_knowledge_bases__knowledge_base_id__migration_delete: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_search_knowledge_bases__knowledge_base_id__search_post: {
        parameters: {
            query?: never;
            header: {
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    get_shares_knowledge_bases__knowledge_base_id__shares_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSharesResponse"];
                };
            };
        };
    };
    put_share_knowledge_bases__knowledge_base_id__shares__user_id__put: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareView"];
                };
            };
        };
    };
    remove_share_knowledge_bases__knowledge_base_id__shares__user_id__delete: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_chunkers_knowledge_bases_chunkers_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    post_text_preview_knowledge_bases_chunkers_preview_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewTextRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewResponse"];
                };
            };
        };
    };
    get_embedding_models_knowledge_bases_embedding_models_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    post_import_knowledge_bases_import_post: {
        parameters: {
            query?: {
                copy_again?: boolean;
                credential_id?: string | null;
                dimensions?: number | null;
                model?: string | null;
                name?: string | null;
            };
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-tar": string;
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportKnowledgeBaseResponse"];
                };
            };
        };
    };
    get_parameters_schema_knowledge_bases_middleware_parameters_schema_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    post_search_across_knowledge_bases_search_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchKnowledgeBasesRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchKnowledgeBasesResponse"];
                };
            };
        };
    };
    get_supported_content_types_knowledge_bases_supported_content_types_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    get_limits_limits_get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitsResponse"];
                };
            };
        };
    };
    get_metrics_metrics_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
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
    get_overview_operator_overview_get: {
        parameters: {
            query?: {
                top?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OverviewResponse"];
                };
            };
        };
    };
    post_pause_operator_pause_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PauseRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PauseView"];
                };
            };
        };
    };
    post_resume_operator_resume_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Target"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_retry_operator_retry_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryResponse"];
                };
            };
        };
    };
    post_rotate_secrets_operator_rotate_secrets_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotationResponse"];
                };
            };
        };
    };
    get_vector_store_v1_vector_stores__knowledge_base_id__get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreView"];
                };
            };
        };
    };
    post_vector_store_search_v1_vector_stores__knowledge_base_id__search_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                knowledge_base_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VectorStoreSearchRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreSearchResponse"];
                };
            };
        };
    };
    get_webhooks_webhooks__get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWebhooksResponse"];
                };
            };
        };
    };
    post_webhook_webhooks__post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhookView"];
                };
            };
        };
    };
    get_webhook_webhooks__webhook_id__get: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookView"];
                };
            };
        };
    };
    remove_webhook_webhooks__webhook_id__delete: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_webhook_webhooks__webhook_id__patch: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookView"];
                };
            };
        };
    };
    post_replay_webhooks__webhook_id__replay_post: {
        parameters: {
            query?: never;
            header: {
                "x-user-id": string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookView"];
                };
            };
        };
    };
}
