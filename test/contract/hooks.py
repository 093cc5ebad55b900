"""What Schemathesis has to know of Runyard beyond the OpenAPI document.

Keys: each operation is called with a key of a principal that may call it. Seeds: where the document only says "a UUID",
ids of things that exist are sent, and every third body of the fuzzing phase is one that can be carried out. Exceptions:
what JSON Schema cannot say, each with the contract's sentence that says it.
"""

import collections
import http.client
import json
import os
import re
import threading
from urllib.parse import quote, urlsplit

import schemathesis

SEEDS_URL = urlsplit(os.environ["RUNYARD_SEEDS_URL"])
# Stands in a case until it is sent: from then on it is the seed's key. Cases about credentials never have it.
PLACEHOLDER = "Bearer seed"

connections = threading.local()
counts = collections.Counter()


@schemathesis.auth(refresh_interval=None)
class Keys:
    """Marks the cases that are to bring a good key."""

    def get(self, case, context):
        return PLACEHOLDER

    def set(self, case, data, context):
        case.headers["Authorization"] = data


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Adds to the document what Schemathesis can use and clients have no need of."""
    team = take_seed("GET /agent/me", stateful=True)["team"]
    for path, operations in raw_schema["paths"].items():
        for method, operation in operations.items():
            # Unknown query parameters are ignored: what takes no parameter at all gets one that nobody knows.
            if "parameters" not in operation and "requestBody" not in operation:
                operation["parameters"] = [{"name": "unknown", "in": "query", "schema": {"type": "string"}}]
            if method == "post":
                link_made_things(raw_schema, path, operation, team)


def link_made_things(document, path, operation, team):
    """Links what a POST makes to all operations on it: those whose paths go on with one parameter."""
    for target_path, targets in document["paths"].items():
        below = re.match(re.escape(path) + r"/\{(\w+)\}(/|$)", target_path)
        known = {*re.findall(r"\{(\w+)\}", path), below[1]} if below else set()
        if not below or known != set(re.findall(r"\{(\w+)\}", target_path)):
            continue
        for status in ("200", "201"):
            response = operation["responses"].get(status)
            member = response and id_of(document, response)
            if member is None:
                continue
            for target in targets.values():
                outer = {name: f"$request.path.{name}" for name in re.findall(r"\{(\w+)\}", path)}
                given = {**outer, below[1]: f"$response.body#/{member}"}
                if "x-principals" in target and target["x-principals"] != ["run"]:
                    given["X-Team-Uid"] = team
                link = {"operationId": target["operationId"], "parameters": given}
                response.setdefault("links", {})[target["operationId"]] = link


def id_of(document, response):
    """The member of an answer that names what was made."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].split("/")[-1]]
    return next((name for name in ("run_id", "uid", "id", "name") if name in schema.get("properties", {})), None)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts a seed into the parts of a case that are good by the document; what is wrong on purpose stays as it is."""
    # Redirects lead to the storage, which is no part of the API.
    kwargs["allow_redirects"] = False
    phase = case.meta.phase.name.value
    bad = {location.value for location, component in case.meta.components.items() if component.mode.is_negative}
    label = f"{case.operation.method.upper()} {case.operation.path}"
    seed = take_seed(label, stateful=phase == "stateful")
    if case.headers.get("Authorization") == PLACEHOLDER:
        if "key" in seed:
            case.headers["Authorization"] = f"Bearer {seed['key']}"
        else:
            del case.headers["Authorization"]
    if "header" not in bad and "X-Team-Uid" in case.headers:
        case.headers["X-Team-Uid"] = seed["team"]
    if "path" not in bad and seed["path"]:
        case.path_parameters = {**case.path_parameters, **seed["path"]}
    whole = phase == "fuzzing" and every_third(case.operation)
    if "query" not in bad and seed["query"] and whole:
        case.query = {**(case.query or {}), **seed["query"]}
    if "body" not in bad and "body" in seed and isinstance(case.body, dict):
        case.body = seeded_body(case.body, seed["body"], whole=whole)


def take_seed(label, stateful):
    """The seed that the test server has for `METHOD /path`: key, team, path, query, body."""
    connection = connections.__dict__.setdefault("seeds", http.client.HTTPConnection(SEEDS_URL.netloc))
    connection.request("GET", f"{SEEDS_URL.path}{quote(label, safe='')}{'?stateful' if stateful else ''}")
    response = connection.getresponse()
    text = response.read()
    if response.status != 200:
        raise RuntimeError(f"{label} has no seed: {text.decode()}")
    return json.loads(text)


def every_third(operation):
    counts[operation.label] += 1
    return counts[operation.label] % 3 == 1


def seeded_body(body, seed, whole):
    """The seed itself, or the body with the seed's ids in the place of made-up ones."""
    if whole:
        return seed
    ids = {name: value for name, value in seed.items() if name.endswith(("_id", "_uid")) and name in body}
    return {**body, **ids}


@schemathesis.check
def error_codes_are_documented(ctx, response, case):
    """An operation returns only the codes that its `x-error-codes` lists."""
    if response.request.method != case.operation.method.upper():
        return
    codes = case.operation.definition.raw["x-error-codes"]
    code = problem_of(response).get("error_code")
    assert code is None or code in codes, f"{code} is not in {codes}"


def problem_of(response):
    is_problem = "problem+json" in response.headers.get("content-type", [""])[0]
    return response.json() if is_problem else {}


# Requests that the document allows and the API refuses: status, message, and the contract's sentence.
REFUSALS = [
    (400, r"must not contain NUL|name is not valid text|lone surrogate", "NUL or a lone surrogate anywhere: 400"),
    (400, r"at most [\d,]+ bytes|bytes together", "lengths count code points unless bytes are said"),
    (400, r": there is no such |is deleted$|: has not been uploaded yet", "must exist and be visible (400 otherwise)"),
    (400, r": is not one of your attachments ", "must exist and be visible (400 otherwise)"),
    (400, r"^state: does not belong to a claim that you started", "must exist and be visible (400 otherwise)"),
    (400, r": is not a model of this deployment|: is disabled in this deployment", "GET /agent/models lists what may be used"),
    (400, r": is not a model that the harness ", "harness {type, model_id}: of whom it can speak to"),
    (400, r"(is|written by|conversation of) the default harness", "default harness: 400 invalid_request"),
    (400, r"^cursor: ", "cursor: send next_cursor as it came"),
    (400, r"^X-Team-Uid: (you are in|several of your teams)", "a create answers 400 naming X-Team-Uid"),
    (400, r"^team: |: is for team (runs|schedules) only|^on_behalf_of: is for", "agent keys and identities: team runs alone"),
    (400, r"^parent_run_id: ", "visible (400 otherwise); depth at most 10"),
    (400, r"^metadata: .* together with the parent's", "a child run inherits its parent's metadata key by key"),
    (400, r"budget_usd: ", "a run tree draws on one balance"),
    (400, r"secrets\[\d+\]\.name: .*: (the team has no|secrets belong|the run's parent)", "an unknown one, or one in a personal run: 400"),
    (400, r"auth_secret_name: .*: the team has no secret of this name", "harness_auth_secrets: must exist and be visible (400 otherwise)"),
    (400, r"^settings\.provider_keys\..*: (is not a provider of this|has no keys: |a new team has no secrets|the team has no secret)", "provider_keys: {provider: secret name}"),
    (400, r"^secrets_append: ", "secrets_append [{name}] (adds; alone in its request, else 400)"),
    (400, r"^base_harness: ", "base_harness (older name of harness.type; both and different: 400)"),
    (400, r"fallback_model_ids(\[\d+\])?: ", "fallback_model_ids: models of this deployment"),
    (400, r"output_schema: ", "output_schema: a JSON Schema of at most 64 KB, which refers to nothing else"),
    (400, r"harness\.reasoning_level: must be one of", "reasoning_level none, minimal, low, medium, high, max for the built-in agent"),
    (400, r"^from: must (not be after to$|be at most 400 days)", "GET /agent/usage?from=&to=: a period; to is today when absent"),
    (400, r"^message: is required unless the run has ended|^(files|attachments): must have at least 1 item|^attachments: is another name of files", "message may be absent only on an ended run"),
    (400, r"^(agent_config\.)?cron_schedule: ", "cron, or refused with 400 that says which field"),
    (400, r"^time_zone: must be an IANA time zone", "Schedules take time_zone (IANA, default UTC)"),
    (400, r": must be an existing date and time|^expires_at: must be in the future", "times are RFC 3339"),
    (400, r"at most 10 repositories, of all kinds together", "github_repos is the GitHub part of repositories"),
    (400, r"mcp_servers: must have unique names", "a map from name to MCPServerConfig, or an array whose items carry name"),
    (400, r"\.data: must be base64", "attachments: data(base64)"),
    (400, r"^repo: ", "A malformed repo: 400"),
    (400, r"^user_uid: is the owner", "shared with others"),
    (400, r"^followups_stored: there are \d+ follow-ups", "no more follow-ups are stored than there are"),
    (400, r"^first_sequence: leaves a gap", "one gapless sequence"),
    (400, r"^files: must have unique|: is not a file of this snapshot", "uploads in the same order, one a file"),
    (400, r"^generation: is required with the mode checkpoint", "commit-snapshot names the generation of a checkpoint"),
    (400, r"^(notify_)?url: must (lead to the internet|be an https URL|be a URL)", "url, notify_url (https; no private addresses)"),
    (400, r"^verification\.\w+: (is (required by|for) the scheme hmac|must be a header of its own)", "by exactly one scheme"),
    (400, r"^secret: must be whsec_", "Standard Webhooks have secrets in base64"),
    (400, r"^prompt: is required without a preset", "preset: fills verification, thread key and prompt"),
    (400, r"^(preset|verification): (is for the kind webhook only|leave it out)", "exactly one scheme, of the kind or the preset"),
    (400, r"^secret: is required: \w+ makes it", "secret: given by the caller where the other system makes it"),
    (400, r"^url: is required", "GET /agent/run-by-external-reference: no url: 400, and an empty value is absent"),
    (400, r"^(filter|thread_key): ", "type-checked: an unknown function or a result that is no bool is 400 with line and column"),
    (400, r"^prompt: line \d+, column \d+: ", "a template contains values of the event, outside of blocks"),
    (400, r"^to: must be later than from", "GET /agent/audit?from=&to=: from is before to"),
    (400, r"network\.domains: (must name at least one|have an effect with the mode allowlist only)", "network: domains with the mode allowlist only"),
    (400, r"approvals: must have at most \d+ rules together with", "a child's approvals: those of its parent too, at most 20"),
    (400, r"^deny: cannot be combined with approve", "a follow-up takes approve or deny"),
    (400, r"^issuer: must not be this service itself", "POST /agent/token refuses this issuer"),
    (400, r"^audience: must not be this service", "an audience equal to base_url is refused"),
    (400, r"^metadata: must have at most 18 keys", "labels of a trigger: at most 18"),
    (400, r"^credential: is for the kinds github, gitlab and slack", "the event's actor is asked for with credential, of the kinds that have one"),
    (400, r"^reply: needs a credential", "replies go out with the trigger's credential"),
    (422, r"", "operation_not_supported: 422"),
    (426, r"^Runyard-Protocol: ", "Runyard-Protocol (too old: 426)"),
]


ACTIONS_ON_RUNS = [f"/agent/runs/{action}" for action in ("cancel", "delete", "archive", "unarchive")]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure counts: not if the contract has a sentence for it that the document cannot express."""
    kind = type(failure).__name__
    if kind == "RejectedPositiveData":
        return not is_refused_by_contract(response)
    if kind == "AcceptedNegativeData":
        if case.path in ("/agent/run", "/agent/runs") and response.json().get("would_start") is False:
            return False  # POST /agent/runs?dry_run=true: what is wrong is among its findings
        if response.status_code == 426:
            return False  # Runyard-Protocol (too old: 426)
        return not all(is_ignored(case, *wrong) for wrong in wrong_parameters(case))
    if kind == "UnsupportedMethodResponse":
        # GET and DELETE /agent/runs/{runId} are what these paths are to them. "A malformed id is a 404."
        of_run = response.request.method in ("GET", "DELETE") and response.status_code == 404
        return not (case.path in ACTIONS_ON_RUNS and of_run)
    return True


def is_refused_by_contract(response):
    problem = problem_of(response)
    entries = [f"{entry['path']}: {entry['message']}" for entry in problem.get("errors", [])]
    said = entries or [problem.get("detail", "")]
    known = [re.compile(words) for status, words, _ in REFUSALS if status == response.status_code]
    return bool(known) and all(any(words.search(line) for words in known) for line in said)


def wrong_parameters(case):
    """Where a case is wrong on purpose: place, name, and what kind of wrong."""
    data = case.meta.phase.data
    wrong = [(mutation.parameter_location, mutation.parameter, mutation.keywords) for mutation in data.mutations]
    return wrong or [(data.parameter_location, data.parameter, ())]


def is_ignored(case, location, name, keywords):
    """Whether a wrong value says nothing to the service, by the contract."""
    if location is None or location.value not in ("query", "header"):
        return False
    # "Unknown query parameters too" are ignored.
    if name is None and set(keywords) == {"additionalProperties"}:
        return True
    # "A team header is needed only by a user with several teams": a run's key is in none.
    if name == "X-Team-Uid" and case.headers.get("Authorization", "").startswith("Bearer ryr_"):
        return True
    # "An empty value = absent": of a query parameter and of a header alike.
    return (case.get_container(location) or {}).get(name) == ""
