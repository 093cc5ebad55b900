"""The official client of Runyard, the HTTP API that runs cloud agents in your own AWS account.

from runyard import Runyard

with Runyard() as client:
    run = client.runs.create_and_wait(prompt="Find out why the checkout test is flaky, and fix it.")
    print(run.state)
"""

from . import params, types
from ._artifact_files import ArtifactFile
from ._async._client import AsyncRunyard
from ._async._download import AsyncDownload
from ._async._io import AsyncPaginator
from ._async._pagination import AsyncPage
from ._identity_token import IdentityTokenError, verify_identity_token
from ._models import BaseModel
from ._options import NOT_GIVEN, NotGiven, RequestOptions
from ._response import APIResponse
from ._stream import RunStreamEvent, RunStreamItem, RunStreamOutput
from ._sync._client import Runyard
from ._sync._download import Download
from ._sync._pagination import Page
from ._version import __version__
from ._webhook import WebhookVerificationError, verify_webhook
from .errors import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    FieldError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RunTimeoutError,
    RunyardError,
    UnprocessableEntityError,
)

__all__ = [
    "NOT_GIVEN",
    "APIConnectionError",
    "APIError",
    "APIResponse",
    "APIStatusError",
    "APITimeoutError",
    "ArtifactFile",
    "AsyncDownload",
    "AsyncPage",
    "AsyncPaginator",
    "AsyncRunyard",
    "AuthenticationError",
    "BadRequestError",
    "BaseModel",
    "ConflictError",
    "Download",
    "FieldError",
    "IdentityTokenError",
    "InternalServerError",
    "NotFoundError",
    "NotGiven",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestOptions",
    "RunStreamEvent",
    "RunStreamItem",
    "RunStreamOutput",
    "RunTimeoutError",
    "Runyard",
    "RunyardError",
    "UnprocessableEntityError",
    "WebhookVerificationError",
    "__version__",
    "params",
    "types",
    "verify_identity_token",
    "verify_webhook",
]
