"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    ListTrustRulesResponse,
    Scope,
    TrustRuleItem,
)
from .._io import Page
from .._resource import Resource, to_raw


class IdentityTrustRules(Resource):
    @cached_property
    def with_raw_response(self) -> IdentityTrustRulesWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return IdentityTrustRulesWithRawResponse(IdentityTrustRules(self._client, _raw=True))

    def create(
        self,
        identity_uid: str,
        *,
        issuer: str,
        audience: str,
        subject_pattern: str,
        max_budget_usd: Union[Optional[float], NotGiven] = NOT_GIVEN,
        ttl_seconds: Union[Optional[int], NotGiven] = NOT_GIVEN,
        scopes: Union[Optional[Sequence[Scope]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TrustRuleItem:
        """Creates a trust rule of an identity.

        Tokens of the issuer that match the rule can be exchanged for API keys of the identity. An identity can
        have at most 20 trust rules. Requires a personal key.

        `POST /agent/identities/{identityUid}/trust-rules`

        Args:
            identity_uid: The identity's id.
            issuer: The issuer of the tokens, exactly as in their `iss` claim. At most 512 bytes in UTF-8. Must be an https URL without query, fragment and credentials.
            audience: A value that the `aud` claim of the tokens must have. At most 512 bytes in UTF-8.
            subject_pattern: The `sub` claim of the tokens. Each `*` stands for any text. At most 512 bytes in UTF-8. Must have more than asterisks, since every subject would match.
            max_budget_usd: The maximum budget of each run that a key of this rule creates. By default the runs are not limited.
            ttl_seconds: Seconds for which the keys are valid, 60 to 3,600. Defaults to 3,600.
            scopes: What the keys may be used for. By default they have all scopes of the request's own credential, which has to have each of them.
        """
        return self._call(
            "POST",
            _wire.path("/agent/identities/{identity_uid}/trust-rules", identity_uid=identity_uid),
            cast_to=TrustRuleItem,
            body={
                "issuer": issuer,
                "audience": audience,
                "subject_pattern": subject_pattern,
                "max_budget_usd": max_budget_usd,
                "ttl_seconds": ttl_seconds,
                "scopes": scopes,
            },
            options=options,
        )

    def list(
        self,
        identity_uid: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[TrustRuleItem]:
        """Lists the trust rules of an identity, oldest first.

        `GET /agent/identities/{identityUid}/trust-rules`

        Args:
            identity_uid: The identity's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/identities/{identity_uid}/trust-rules", identity_uid=identity_uid),
            cast_to=ListTrustRulesResponse,
            items=lambda response: response.trust_rules,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, identity_uid: str, rule_uid: str, **options: Unpack[RequestOptions]) -> TrustRuleItem:
        """Returns a trust rule.

        `GET /agent/identities/{identityUid}/trust-rules/{ruleUid}`

        Args:
            identity_uid: The identity's id.
            rule_uid: The trust rule's id.
        """
        return self._call(
            "GET",
            _wire.path(
                "/agent/identities/{identity_uid}/trust-rules/{rule_uid}", identity_uid=identity_uid, rule_uid=rule_uid
            ),
            cast_to=TrustRuleItem,
            options=options,
        )

    def update(
        self,
        identity_uid: str,
        rule_uid: str,
        *,
        issuer: str,
        audience: str,
        subject_pattern: str,
        max_budget_usd: Union[Optional[float], NotGiven] = NOT_GIVEN,
        ttl_seconds: Union[Optional[int], NotGiven] = NOT_GIVEN,
        scopes: Union[Optional[Sequence[Scope]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TrustRuleItem:
        """Replaces a trust rule.

        Optional members that are absent get their defaults. Keys that the rule gave before are valid until they
        expire. Requires a personal key.

        `PUT /agent/identities/{identityUid}/trust-rules/{ruleUid}`

        Args:
            identity_uid: The identity's id.
            rule_uid: The trust rule's id.
            issuer: The issuer of the tokens, exactly as in their `iss` claim. At most 512 bytes in UTF-8. Must be an https URL without query, fragment and credentials.
            audience: A value that the `aud` claim of the tokens must have. At most 512 bytes in UTF-8.
            subject_pattern: The `sub` claim of the tokens. Each `*` stands for any text. At most 512 bytes in UTF-8. Must have more than asterisks, since every subject would match.
            max_budget_usd: The maximum budget of each run that a key of this rule creates. By default the runs are not limited.
            ttl_seconds: Seconds for which the keys are valid, 60 to 3,600. Defaults to 3,600.
            scopes: What the keys may be used for. By default they have all scopes of the request's own credential, which has to have each of them.
        """
        return self._call(
            "PUT",
            _wire.path(
                "/agent/identities/{identity_uid}/trust-rules/{rule_uid}", identity_uid=identity_uid, rule_uid=rule_uid
            ),
            cast_to=TrustRuleItem,
            body={
                "issuer": issuer,
                "audience": audience,
                "subject_pattern": subject_pattern,
                "max_budget_usd": max_budget_usd,
                "ttl_seconds": ttl_seconds,
                "scopes": scopes,
            },
            options=options,
        )

    def delete(self, identity_uid: str, rule_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a trust rule.

        The keys that it gave are refused from the next request. Requires a personal key.

        `DELETE /agent/identities/{identityUid}/trust-rules/{ruleUid}`

        Args:
            identity_uid: The identity's id.
            rule_uid: The trust rule's id.
        """
        return self._call(
            "DELETE",
            _wire.path(
                "/agent/identities/{identity_uid}/trust-rules/{rule_uid}", identity_uid=identity_uid, rule_uid=rule_uid
            ),
            cast_to=type(None),
            options=options,
        )


class IdentityTrustRulesWithRawResponse:
    def __init__(self, raw: IdentityTrustRules) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
