"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    WebhookFilterParam,
)
from ...types import (
    CreatedWebhook,
    DeliveryItem,
    DeliveryState,
    ListDeliveriesResponse,
    ListWebhooksResponse,
    RedeliverResponse,
    RotateSecretResponse,
    WebhookEventType,
    WebhookItem,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncWebhooks(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncWebhooksWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncWebhooksWithRawResponse(AsyncWebhooks(self._client, _raw=True))

    async def create(
        self,
        *,
        url: str,
        name: Union[Optional[str], NotGiven] = NOT_GIVEN,
        format: Union[Optional[Literal["json", "slack"]], NotGiven] = NOT_GIVEN,
        event_types: Union[Optional[Sequence[WebhookEventType]], NotGiven] = NOT_GIVEN,
        filter: Union[Optional[WebhookFilterParam], NotGiven] = NOT_GIVEN,
        enabled: Union[Optional[bool], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CreatedWebhook:
        """Creates a webhook, which receives events of the team's runs.

        The response contains the signing secret, which is never shown again. Events of personal runs are not
        delivered. A team can have at most 10 webhooks. Requires the role `admin`.

        `POST /agent/webhooks`

        Args:
            url: Where deliveries are sent. Its host must be on the internet. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment.
            name: A name for people.
            format: What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`).
            event_types: The types of events that are delivered. `[]` stands for all.
            filter: Selects the runs whose events are delivered. All runs of the team by default, and with `{}`.
            enabled: Whether events are delivered. True for a new webhook.
        """
        return await self._call(
            "POST",
            "/agent/webhooks",
            cast_to=CreatedWebhook,
            body={
                "name": name,
                "url": url,
                "format": format,
                "event_types": event_types,
                "filter": filter,
                "enabled": enabled,
            },
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[WebhookItem]:
        """Lists a team's webhooks, oldest first.

        Requires the role `admin`.

        `GET /agent/webhooks`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/webhooks",
            cast_to=ListWebhooksResponse,
            items=lambda response: response.webhooks,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, webhook_uid: str, **options: Unpack[RequestOptions]) -> WebhookItem:
        """Returns a webhook, without its signing secret.

        Requires the role `admin`.

        `GET /agent/webhooks/{webhookUid}`

        Args:
            webhook_uid: The webhook's id.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/webhooks/{webhook_uid}", webhook_uid=webhook_uid),
            cast_to=WebhookItem,
            options=options,
        )

    async def update(
        self,
        webhook_uid: str,
        *,
        name: Union[Optional[Union[str, Literal[""]]], NotGiven] = NOT_GIVEN,
        url: Union[Optional[str], NotGiven] = NOT_GIVEN,
        format: Union[Optional[Literal["json", "slack"]], NotGiven] = NOT_GIVEN,
        event_types: Union[Optional[Sequence[WebhookEventType]], NotGiven] = NOT_GIVEN,
        filter: Union[Optional[WebhookFilterParam], NotGiven] = NOT_GIVEN,
        enabled: Union[Optional[bool], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> WebhookItem:
        """Updates a webhook.

        Members that are absent or null keep their values; an empty value (`""`, `[]` or `{}`) clears one. Events
        that occur while a webhook is disabled are not delivered to it. Requires the role `admin`.

        `PUT /agent/webhooks/{webhookUid}`

        Args:
            webhook_uid: The webhook's id.
            name: A name for people. `""` clears it.
            url: Where deliveries are sent. Its host must be on the internet.
            format: What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`).
            event_types: The types of events that are delivered. `[]` stands for all.
            filter: Selects the runs whose events are delivered. All runs of the team by default, and with `{}`.
            enabled: Whether events are delivered. True for a new webhook.
        """
        return await self._call(
            "PUT",
            _wire.path("/agent/webhooks/{webhook_uid}", webhook_uid=webhook_uid),
            cast_to=WebhookItem,
            body={
                "name": name,
                "url": url,
                "format": format,
                "event_types": event_types,
                "filter": filter,
                "enabled": enabled,
            },
            options=options,
        )

    async def delete(self, webhook_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a webhook with its signing secret.

        Pending deliveries are not attempted again. Requires the role `admin`.

        `DELETE /agent/webhooks/{webhookUid}`

        Args:
            webhook_uid: The webhook's id.
        """
        return await self._call(
            "DELETE",
            _wire.path("/agent/webhooks/{webhook_uid}", webhook_uid=webhook_uid),
            cast_to=type(None),
            options=options,
        )

    async def rotate_secret(self, webhook_uid: str, **options: Unpack[RequestOptions]) -> RotateSecretResponse:
        """Replaces the signing secret of a webhook.

        The response contains the new secret, which is never shown again. Deliveries are signed with both secrets
        for 24 hours; rotating again ends the older one at once. Requires the role `admin`.

        `POST /agent/webhooks/{webhookUid}/rotate-secret`

        Args:
            webhook_uid: The webhook's id.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/webhooks/{webhook_uid}/rotate-secret", webhook_uid=webhook_uid),
            cast_to=RotateSecretResponse,
            options=options,
        )

    def deliveries(
        self,
        webhook_uid: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        state: Union[DeliveryState, NotGiven] = NOT_GIVEN,
        sort_order: Union[Literal["asc", "desc"], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[DeliveryItem]:
        """Lists the deliveries of a webhook with their attempts.

        The newest come first, unless `sort_order` says otherwise. Deliveries are kept for seven days. Requires
        the role `admin`.

        `GET /agent/webhooks/{webhookUid}/deliveries`

        Args:
            webhook_uid: The webhook's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
            state: Selects deliveries in this state. A page may then be short and not the last.
            sort_order: The direction of the deliveries' numbers: `asc` lists the oldest first.
        """
        return self._list(
            _wire.path("/agent/webhooks/{webhook_uid}/deliveries", webhook_uid=webhook_uid),
            cast_to=ListDeliveriesResponse,
            items=lambda response: response.deliveries,
            query={"limit": limit, "cursor": cursor, "state": state, "sort_order": sort_order},
            options=options,
        )

    async def redeliver(
        self, webhook_uid: str, *, from_sequence: int, **options: Unpack[RequestOptions]
    ) -> RedeliverResponse:
        """Sends the deliveries from `from_sequence` on again, within a minute.

        One request takes 500 deliveries; repeat it with the returned `next_sequence`. Requires the role `admin`.

        `POST /agent/webhooks/{webhookUid}/redeliver`

        Args:
            webhook_uid: The webhook's id.
            from_sequence: The number of the first delivery to send again. Required.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/webhooks/{webhook_uid}/redeliver", webhook_uid=webhook_uid),
            cast_to=RedeliverResponse,
            query={"from_sequence": from_sequence},
            options=options,
        )


class AsyncWebhooksWithRawResponse:
    def __init__(self, raw: AsyncWebhooks) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
        self.rotate_secret = to_raw(raw.rotate_secret)
        self.deliveries = to_raw(raw.deliveries)
        self.redeliver = to_raw(raw.redeliver)
