"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    AmbientAgentConfigParam,
    TriggerAuthorsParam,
    TriggerReplyParam,
    TriggerVerificationParam,
)
from ...types import (
    CreatedTrigger,
    ListTriggerDeliveriesResponse,
    ListTriggersResponse,
    ReceivedDelivery,
    RotatedTrigger,
    RunMode,
    Scope,
    TestTriggerResponse,
    TriggerDelivery,
    TriggerDeliveryDetails,
    TriggerItem,
    TriggerOutcome,
)
from .._io import Page
from .._resource import Resource, to_raw


class Triggers(Resource):
    @cached_property
    def with_raw_response(self) -> TriggersWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return TriggersWithRawResponse(Triggers(self._client, _raw=True))

    def create(
        self,
        *,
        name: str,
        kind: Literal["github", "gitlab", "slack", "webhook"],
        preset: Union[Literal["linear", "jira", "sentry", "pagerduty"], NotGiven] = NOT_GIVEN,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        verification: Union[TriggerVerificationParam, NotGiven] = NOT_GIVEN,
        team: Union[bool, NotGiven] = NOT_GIVEN,
        scopes: Union[Sequence[Scope], NotGiven] = NOT_GIVEN,
        secret: Union[str, NotGiven] = NOT_GIVEN,
        events: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        agent_uid: Union[str, NotGiven] = NOT_GIVEN,
        agent_config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        budget_usd: Union[float, NotGiven] = NOT_GIVEN,
        filter: Union[str, NotGiven] = NOT_GIVEN,
        thread_key: Union[str, NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        followup_prompt: Union[str, NotGiven] = NOT_GIVEN,
        threads: Union[Literal["continue", "separate"], NotGiven] = NOT_GIVEN,
        busy: Union[Literal["enqueue", "interrupt", "skip"], NotGiven] = NOT_GIVEN,
        allow: Union[TriggerAuthorsParam, NotGiven] = NOT_GIVEN,
        credential: Union[str, Literal[""], NotGiven] = NOT_GIVEN,
        reply: Union[TriggerReplyParam, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        pause_after_failures: Union[int, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CreatedTrigger:
        """Creates a trigger, which turns events of another system into runs.

        The response contains the secret, which is never shown again, and the URL for the other system. A team or
        a person can have at most 50 triggers. Requires the role `admin`, unless the trigger is personal.

        `POST /agent/triggers`

        Args:
            name: A name for people, which is the title of the runs.
            kind: The system that sends the events. `webhook` stands for all others.
            preset: Fills verification and prompt of a trigger of the kind `webhook`.
            prompt: The template of the prompts, with values such as `{{ event.payload.title }}`. Required without a preset. At most 8192 bytes in UTF-8.
            verification: How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default.
            team: Whether the team owns the trigger. Defaults to true if the caller has a team.
            scopes: What its runs may use their keys for. By default all scopes of the request's credential, which has to have each of them.
            secret: The secret, if the other system generates it. By default Runyard generates it. At most 512 bytes in UTF-8.
            events: The types of events that start runs, such as `build` or `build.failed`. All by default.
            agent_uid: The identity that executes the runs. By default the trigger's creator does. At most 512 bytes in UTF-8.
            agent_config: The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none.
            budget_usd: The most that each run with its children and follow-ups may spend on models, in US dollars. A lower budget of the configuration stays.
            filter: The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. At most 2048 bytes in UTF-8.
            thread_key: The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. At most 2048 bytes in UTF-8.
            mode: The mode of the runs.
            followup_prompt: The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. At most 8192 bytes in UTF-8.
            threads: Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
            busy: What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
            allow: Who may start runs besides people with write access.
            credential: The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with write access may start runs then. `""` is none.
            reply: Whether runs reply to the events that start them. They do not by default.
            metadata: The labels of the runs, at most 18. Must have at most 18 keys.
            pause_after_failures: The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0 clears the limit.
            enabled: Whether events start runs. Defaults to true.
        """
        return self._call(
            "POST",
            "/agent/triggers",
            cast_to=CreatedTrigger,
            body={
                "name": name,
                "kind": kind,
                "preset": preset,
                "prompt": prompt,
                "verification": verification,
                "team": team,
                "scopes": scopes,
                "secret": secret,
                "events": events,
                "agent_uid": agent_uid,
                "agent_config": agent_config,
                "budget_usd": budget_usd,
                "filter": filter,
                "thread_key": thread_key,
                "mode": mode,
                "followup_prompt": followup_prompt,
                "threads": threads,
                "busy": busy,
                "allow": allow,
                "credential": credential,
                "reply": reply,
                "metadata": metadata,
                "pause_after_failures": pause_after_failures,
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
    ) -> Page[TriggerItem]:
        """Lists the triggers that the caller manages, oldest first.

        These are the triggers of teams, for which the role `admin` is required, and then the personal ones.

        `GET /agent/triggers`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/triggers",
            cast_to=ListTriggersResponse,
            items=lambda response: response.triggers,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, trigger_uid: str, **options: Unpack[RequestOptions]) -> TriggerItem:
        """Returns a trigger with its outcomes of a day.

        Requires the role `admin`, unless the trigger is personal.

        `GET /agent/triggers/{triggerUid}`

        Args:
            trigger_uid: The trigger's id.
        """
        return self._call(
            "GET",
            _wire.path("/agent/triggers/{trigger_uid}", trigger_uid=trigger_uid),
            cast_to=TriggerItem,
            options=options,
        )

    def update(
        self,
        trigger_uid: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        events: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        agent_uid: Union[str, Literal[""], NotGiven] = NOT_GIVEN,
        agent_config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        budget_usd: Union[Optional[float], NotGiven] = NOT_GIVEN,
        filter: Union[str, NotGiven] = NOT_GIVEN,
        thread_key: Union[str, NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        followup_prompt: Union[str, Literal[""], NotGiven] = NOT_GIVEN,
        threads: Union[Literal["continue", "separate"], NotGiven] = NOT_GIVEN,
        busy: Union[Literal["enqueue", "interrupt", "skip"], NotGiven] = NOT_GIVEN,
        allow: Union[TriggerAuthorsParam, NotGiven] = NOT_GIVEN,
        credential: Union[str, Literal[""], NotGiven] = NOT_GIVEN,
        reply: Union[TriggerReplyParam, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        pause_after_failures: Union[int, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        scopes: Union[Sequence[Scope], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TriggerItem:
        """Updates a trigger.

        Absent members keep their values; an empty value (`""`, `[]` or `{}`) clears one. Deliveries to a
        disabled trigger are recorded and start no run. Requires the role `admin`, unless the trigger is
        personal.

        `PUT /agent/triggers/{triggerUid}`

        Args:
            trigger_uid: The trigger's id.
            name: A name for people, which is the title of the runs.
            prompt: The template of the prompts, at most 8 KiB. A preset has one. At most 8192 bytes in UTF-8.
            events: The types of events that start runs, such as `build` or `build.failed`. All by default.
            agent_uid: The identity that executes the runs. `""` clears it: the trigger's creator executes them.
            agent_config: The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none.
            budget_usd: The most that each run with its children and follow-ups may spend on models, in US dollars. `null` clears it.
            filter: The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. At most 2048 bytes in UTF-8.
            thread_key: The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. At most 2048 bytes in UTF-8.
            mode: The mode of the runs.
            followup_prompt: The template of the follow-ups that later events of a thread send. `""` restores `{{ event.text }}`.
            threads: Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
            busy: What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
            allow: Who may start runs besides people with write access.
            credential: The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with write access may start runs then. `""` is none.
            reply: Whether runs reply to the events that start them. They do not by default.
            metadata: The labels of the runs, at most 18. Must have at most 18 keys.
            pause_after_failures: The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0 clears the limit.
            enabled: Whether events start runs. Defaults to true.
            scopes: What its runs may use their keys for. `[]` stands for all scopes of the request's credential.
        """
        return self._call(
            "PUT",
            _wire.path("/agent/triggers/{trigger_uid}", trigger_uid=trigger_uid),
            cast_to=TriggerItem,
            body={
                "name": name,
                "prompt": prompt,
                "events": events,
                "agent_uid": agent_uid,
                "agent_config": agent_config,
                "budget_usd": budget_usd,
                "filter": filter,
                "thread_key": thread_key,
                "mode": mode,
                "followup_prompt": followup_prompt,
                "threads": threads,
                "busy": busy,
                "allow": allow,
                "credential": credential,
                "reply": reply,
                "metadata": metadata,
                "pause_after_failures": pause_after_failures,
                "enabled": enabled,
                "scopes": scopes,
            },
            options=options,
        )

    def delete(self, trigger_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a trigger with its secret.

        Its runs continue. Requires the role `admin`, unless the trigger is personal.

        `DELETE /agent/triggers/{triggerUid}`

        Args:
            trigger_uid: The trigger's id.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/triggers/{trigger_uid}", trigger_uid=trigger_uid),
            cast_to=type(None),
            options=options,
        )

    def pause(self, trigger_uid: str, **options: Unpack[RequestOptions]) -> TriggerItem:
        """Pauses a trigger until it is resumed.

        Its deliveries are recorded and start no run. Pausing a paused trigger changes nothing. Requires the role
        `admin`, unless the trigger is personal.

        `POST /agent/triggers/{triggerUid}/pause`

        Args:
            trigger_uid: The trigger's id.
        """
        return self._call(
            "POST",
            _wire.path("/agent/triggers/{trigger_uid}/pause", trigger_uid=trigger_uid),
            cast_to=TriggerItem,
            options=options,
        )

    def resume(self, trigger_uid: str, **options: Unpack[RequestOptions]) -> TriggerItem:
        """Resumes a paused trigger.

        Events that were delivered meanwhile start runs only if they are delivered again. Resuming an enabled
        trigger changes nothing. Requires the role `admin`, unless the trigger is personal.

        `POST /agent/triggers/{triggerUid}/resume`

        Args:
            trigger_uid: The trigger's id.
        """
        return self._call(
            "POST",
            _wire.path("/agent/triggers/{trigger_uid}/resume", trigger_uid=trigger_uid),
            cast_to=TriggerItem,
            options=options,
        )

    def rotate_secret(
        self, trigger_uid: str, *, secret: Union[str, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> RotatedTrigger:
        """Replaces the secret of a trigger.

        The response contains the new secret, which is never shown again. Requests are accepted by both secrets
        for 24 hours; rotating again ends the older one at once. Requires the role `admin`, unless the trigger is
        personal.

        `POST /agent/triggers/{triggerUid}/rotate-secret`

        Args:
            trigger_uid: The trigger's id.
            secret: The secret, if the other system generates it. By default Runyard generates it. At most 512 bytes in UTF-8.
        """
        return self._call(
            "POST",
            _wire.path("/agent/triggers/{trigger_uid}/rotate-secret", trigger_uid=trigger_uid),
            cast_to=RotatedTrigger,
            body={"secret": secret},
            options=options,
        )

    def test(
        self,
        trigger_uid: str,
        *,
        payload: Mapping[str, Any],
        headers: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TestTriggerResponse:
        """Reports what an event would result in.

        The response contains the prompt of its run. Nothing is created, and no signature is needed. Requires the
        role `admin`, unless the trigger is personal.

        `POST /agent/triggers/{triggerUid}/test`

        Args:
            trigger_uid: The trigger's id.
            payload: The JSON object of the event.
            headers: The headers of the request, from which the type of the event is read.
            prompt: A template to test instead of the trigger's. At most 8192 bytes in UTF-8.
        """
        return self._call(
            "POST",
            _wire.path("/agent/triggers/{trigger_uid}/test", trigger_uid=trigger_uid),
            cast_to=TestTriggerResponse,
            body={"headers": headers, "payload": payload, "prompt": prompt},
            options=options,
        )

    def deliveries(
        self,
        trigger_uid: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        outcome: Union[TriggerOutcome, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[TriggerDelivery]:
        """Lists the deliveries to a trigger with their outcomes, newest first.

        Deliveries are kept for 30 days. Requires the role `admin`, unless the trigger is personal.

        `GET /agent/triggers/{triggerUid}/deliveries`

        Args:
            trigger_uid: The trigger's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
            outcome: Selects deliveries by outcome.
        """
        return self._list(
            _wire.path("/agent/triggers/{trigger_uid}/deliveries", trigger_uid=trigger_uid),
            cast_to=ListTriggerDeliveriesResponse,
            items=lambda response: response.deliveries,
            query={"limit": limit, "cursor": cursor, "outcome": outcome},
            options=options,
        )

    def retrieve_delivery(
        self, trigger_uid: str, delivery_id: str, **options: Unpack[RequestOptions]
    ) -> TriggerDeliveryDetails:
        """Returns a delivery to a trigger with its payload.

        Requires the role `admin`, or to have created the trigger.

        `GET /agent/triggers/{triggerUid}/deliveries/{deliveryId}`

        Args:
            trigger_uid: The trigger's id.
            delivery_id: The delivery's id.
        """
        return self._call(
            "GET",
            _wire.path(
                "/agent/triggers/{trigger_uid}/deliveries/{delivery_id}",
                trigger_uid=trigger_uid,
                delivery_id=delivery_id,
            ),
            cast_to=TriggerDeliveryDetails,
            options=options,
        )

    def redeliver(self, trigger_uid: str, delivery_id: str, **options: Unpack[RequestOptions]) -> TriggerDelivery:
        """Sends the event of a delivery to its trigger again.

        The trigger decides after the response, as it is then. The new delivery has an outcome of its own, and
        the earlier one keeps its outcome. Requires the role `admin`, unless the trigger is personal.

        `POST /agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver`

        Args:
            trigger_uid: The trigger's id.
            delivery_id: The delivery's id.
        """
        return self._call(
            "POST",
            _wire.path(
                "/agent/triggers/{trigger_uid}/deliveries/{delivery_id}/redeliver",
                trigger_uid=trigger_uid,
                delivery_id=delivery_id,
            ),
            cast_to=TriggerDelivery,
            options=options,
        )

    def receive_app_event(self, **options: Unpack[RequestOptions]) -> ReceivedDelivery:
        """Accepts an event of the deployment's GitHub App.

        The triggers of the kind `github` of the team that has claimed the installation get a delivery each.
        GitHub signs the request with the secret of the App's webhook.

        `POST /hooks/github-app`
        """
        return self._call("POST", "/hooks/github-app", cast_to=ReceivedDelivery, options=options)

    def receive(self, trigger_uid: str, **options: Unpack[RequestOptions]) -> ReceivedDelivery:
        """Accepts an event for a trigger.

        The sender signs the request as the trigger's kind or verification requires. The question that Slack asks
        about a new URL gets its `challenge`. The event is decided on afterwards.

        `POST /hooks/{triggerUid}`

        Args:
            trigger_uid: The trigger's id.
        """
        return self._call(
            "POST",
            _wire.path("/hooks/{trigger_uid}", trigger_uid=trigger_uid),
            cast_to=ReceivedDelivery,
            options=options,
        )


class TriggersWithRawResponse:
    def __init__(self, raw: Triggers) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
        self.pause = to_raw(raw.pause)
        self.resume = to_raw(raw.resume)
        self.rotate_secret = to_raw(raw.rotate_secret)
        self.test = to_raw(raw.test)
        self.deliveries = to_raw(raw.deliveries)
        self.retrieve_delivery = to_raw(raw.retrieve_delivery)
        self.redeliver = to_raw(raw.redeliver)
        self.receive_app_event = to_raw(raw.receive_app_event)
        self.receive = to_raw(raw.receive)
