"""Multi-tenant RAG: a library (`agentscope.rag`) and a service (`agentscope.app`)."""
