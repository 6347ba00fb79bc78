"""The OpenAPI document of the JSON API."""

from __future__ import annotations

from typing import Any

from crawler.catalogue.jobs.schedules import MAX_SEEDS

#: Most jobs and log lines of one response, and most characters of a name in a path.
MOST_JOBS, MOST_LINES, LONGEST_NAME = 1000, 1000, 120
_ERROR = {
    "description": "Refused; `error` says why.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["error"],
                "properties": {"error": {"type": "string"}},
            }
        }
    },
}
_REFUSALS = {
    400: "The request cannot be read, or has more than 1 MiB.",
    401: "The token is missing or wrong.",
    403: "A change needs the token as a bearer.",
    404: "There is no such thing.",
    409: "The job has ended, or a running job crawls these URLs.",
    429: "Too many wrong tokens.",
    503: "Redis does not answer.",
}
_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_URL: dict[str, Any] = {
    "type": "string",
    "description": "An absolute URL; a host's name in other letters is taken as well.",
    "pattern": rf"^https?://{_LABEL}(\.{_LABEL}){{0,3}}(:[0-9]{{1,4}})?([/?#][!-~]*)?$",
    "maxLength": 4096,
}
_URLS: dict[str, Any] = {"type": "array", "items": _URL, "maxItems": MAX_SEEDS}
_SITE: dict[str, Any] = {"type": "string", "pattern": r"^[\p{L}\p{N}_.:-]{1,90}$"}


def _cron(*values: str) -> str:
    """Return the pattern of an expression whose fields take these values."""
    parts = [rf"(\*|({value})(-({value}))?)(/[1-9])?" for value in values]
    return "^(" + " ".join(f"{part}(,{part})*" for part in parts) + ")?$"


_CRON: dict[str, Any] = {
    "type": "string",
    "description": "Minute, hour, day, month and weekday, in UTC; empty: as the site's file says.",
    "pattern": _cron(
        "[0-5]?[0-9]", "1?[0-9]|2[0-3]", "[1-9]|[12][0-9]|3[01]", "[1-9]|1[0-2]", "[0-7]"
    ),
    "maxLength": 200,
}
#: The fields of the bodies.
JOB_FIELDS: dict[str, Any] = {
    "urls": {**_URLS, "description": "Where it begins; none: where the site's schedule does."},
    "site": {**_SITE, "description": "Its name; none: the domain of the first URL."},
    "again": {
        "type": "boolean",
        "description": "Whether a second job may begin beside a running one of these URLs.",
    },
}
CHOICES = ("domain", "job", "site", "url")
PRIORITY_FIELDS: dict[str, Any] = {
    "priority": {"type": "integer", "minimum": -4000, "maximum": 4000},
    **dict.fromkeys(CHOICES, _TEXT),
}
SCHEDULE_FIELDS: dict[str, Any] = {"cron": _CRON, "urls": _URLS, "paused": {"type": "boolean"}}
_COUNTS = ("total", "done", "ignored", "failed", "cancelled", "left")


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


_JOB = _object(
    id=_TEXT,
    site_id=_TEXT,
    kind=_TEXT,
    state={"type": "string", "enum": ["running", "paused", "finished", "cancelled"]},
    domains={"type": "array", "items": _TEXT},
    **dict.fromkeys(_COUNTS, _COUNT),
    started_at=_NUMBER,
    finished_at={"type": ["number", "null"]},
)
_SCHEDULE = _object(
    site=_TEXT, cron=_CRON, urls=_URLS, paused={"type": "boolean"}, changed_at=_NUMBER
)
_REFERENCES = {
    "Job": {"$ref": "#/components/schemas/Job"},
    "Schedule": {"$ref": "#/components/schemas/Schedule"},
}


def _non_empty(name: str) -> dict[str, Any]:
    """Return the schema of a body in which a text or a list is not empty."""
    keyword = "minItems" if name == "urls" else "minLength"
    return {"required": [name], "properties": {name: {keyword: 1}}}


def _path(name: str, about: str, **schema: Any) -> dict[str, Any]:
    schema = schema or {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema}


def _limit_parameter(number: int) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 1, "maximum": number, "default": 50}
    return {"name": "limit", "in": "query", "required": False, "schema": schema}


_VERB_JOB = _path("verb", "What to do.", enum=["pause", "resume", "cancel"])
_VERB_SCHEDULE = _path("verb", "What to do.", enum=["pause", "resume"])
_OF_JOB, _OF_SITE = _path("job", "A job's name."), _path("site", "A site's name.", **_SITE)


def _operation(
    summary: str,
    response_schema: dict[str, Any],
    *refusals: int,
    parameters: tuple[dict[str, Any], ...] = (),
    body: dict[str, Any] | None = None,
    needed: dict[str, Any] | None = None,
    status: int = 200,
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {
            str(status): {
                "description": summary,
                "content": {"application/json": {"schema": response_schema}},
            },
            **{
                str(code): {**_ERROR, "description": _REFUSALS[code]}
                for code in sorted({*refusals, 401, 429, 503})
            },
        },
    }
    if parameters:
        operation["parameters"] = list(parameters)
    if body is not None:
        schema = {
            "type": "object",
            "properties": body,
            "additionalProperties": False,
            **(needed or {"minProperties": 1}),
        }
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return operation


def _priority() -> dict[str, Any]:
    return _operation(
        "Give queued requests another priority, larger is sooner: those of a domain, job "
        "or site (site_id), or of a URL, in which a * stands for any text.",
        _object(changed=_COUNT, unchanged=_COUNT, unreadable=_COUNT),
        *(400, 403),
        body=PRIORITY_FIELDS,
        needed={"required": ["priority"], "anyOf": [_non_empty(name) for name in CHOICES]},
    )


def _log() -> dict[str, Any]:
    return _operation(
        "The last lines of a worker's log, oldest first.",
        _object(worker=_TEXT, lines={"type": "array", "items": _TEXT}),
        400,
        parameters=(_path("worker", "A worker's name."), _limit_parameter(MOST_LINES)),
    )


def _paths() -> dict[str, Any]:
    job, schedule = _REFERENCES["Job"], _REFERENCES["Schedule"]
    jobs = _object(jobs={"type": "array", "items": job})
    schedules = _object(schedules={"type": "array", "items": schedule})
    change = (400, 403)
    return {
        "/api/v1/jobs": {
            "get": _operation(
                "The newest jobs first.", jobs, 400, parameters=(_limit_parameter(MOST_JOBS),)
            ),
            "post": _operation(
                "Begin a site's full crawl; twice in a minute is the same job.",
                job,
                *(*change, 404, 409),
                body=JOB_FIELDS,
                needed={"anyOf": [_non_empty("urls"), {"required": ["site"]}]},
                status=201,
            ),
        },
        "/api/v1/jobs/{job}": {"get": _operation("One job.", job, 404, parameters=(_OF_JOB,))},
        "/api/v1/jobs/{job}/{verb}": {
            "post": _operation(
                "Pause, resume or cancel a job.",
                job,
                *(*change, 404, 409),
                parameters=(_OF_JOB, _VERB_JOB),
            )
        },
        "/api/v1/priority": {"post": _priority()},
        "/api/v1/schedules": {"get": _operation("The stored schedules.", schedules)},
        "/api/v1/schedules/{site}": {
            "put": _operation(
                "Make or change a site's schedule: a cron expression in UTC, and where it begins.",
                schedule,
                *change,
                parameters=(_OF_SITE,),
                body=SCHEDULE_FIELDS,
            ),
            "delete": _operation(
                "Forget a site's schedule; that of its file holds again.",
                _object(removed=_TEXT),
                *(*change, 404),
                parameters=(_OF_SITE,),
            ),
        },
        "/api/v1/schedules/{site}/{verb}": {
            "post": _operation(
                "Pause or resume a site's schedule, also that of its file.",
                schedule,
                *(*change, 404),
                parameters=(_OF_SITE, _VERB_SCHEDULE),
            )
        },
        "/api/v1/workers/{worker}/log": {"get": _log()},
    }


def document() -> dict[str, Any]:
    """Return the document (OpenAPI 3.1)."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Seine",
            "version": "1",
            "description": "Jobs, schedules and queue of a crawl.",
        },
        "paths": _paths(),
        "components": {
            "schemas": {"Job": _JOB, "Schedule": _SCHEDULE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }
