"""Provider credentials: one file per provider, a factory, and (in `sealing`) encryption at rest."""

from agentscope.credential.anthropic import AnthropicCredential
from agentscope.credential.base import CredentialBase
from agentscope.credential.dashscope import DashScopeCredential
from agentscope.credential.deepseek import DeepSeekCredential
from agentscope.credential.factory import CredentialFactory
from agentscope.credential.gemini import GeminiCredential
from agentscope.credential.local import LocalCredential
from agentscope.credential.minimax import MiniMaxCredential
from agentscope.credential.moonshot import MoonshotCredential
from agentscope.credential.ollama import OllamaCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.credential.volcengine import VolcengineCredential
from agentscope.credential.xai import XAICredential

__all__ = [
    "AnthropicCredential",
    "CredentialBase",
    "CredentialFactory",
    "DashScopeCredential",
    "DeepSeekCredential",
    "GeminiCredential",
    "LocalCredential",
    "MiniMaxCredential",
    "MoonshotCredential",
    "OllamaCredential",
    "OpenAICredential",
    "VolcengineCredential",
    "XAICredential",
]
