"""The OpenAPI document of the JSON API."""

from __future__ import annotations

from typing import Any

#: Jobs and lines that one answer has, at most.
MOST_JOBS, MOST_LINES = 1000, 1000
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
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    403: "A change needs the token as a bearer.",
    404: "There is no such thing.",
    409: "The job has ended.",
    429: "Too many wrong tokens.",
    503: "Redis does not answer.",
}
_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_URL: dict[str, Any] = {"type": "string", "description": "An http:// or https:// URL."}
_URLS: dict[str, Any] = {"type": "array", "items": _URL, "maxItems": 1000}
#: What the bodies may hold.
JOB_FIELDS: dict[str, Any] = {"urls": _URLS, "site": _TEXT}
PRIORITY_FIELDS: dict[str, Any] = {
    "priority": {"type": "integer", "minimum": -4000, "maximum": 4000},
    **dict.fromkeys(("domain", "job", "site", "url"), _TEXT),
}
SCHEDULE_FIELDS: dict[str, Any] = {"cron": _TEXT, "urls": _URLS, "paused": {"type": "boolean"}}
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
    site=_TEXT, cron=_TEXT, urls=_URLS, paused={"type": "boolean"}, changed_at=_NUMBER
)
_REFERENCES = {
    "Job": {"$ref": "#/components/schemas/Job"},
    "Schedule": {"$ref": "#/components/schemas/Schedule"},
}


def _path(name: str, about: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 120}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema}


def _most(number: int) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 1, "maximum": number, "default": 50}
    return {"name": "limit", "in": "query", "required": False, "schema": schema}


_VERB_JOB = _path("verb", "What to do.") | {"schema": {"enum": ["pause", "resume", "cancel"]}}
_VERB_SCHEDULE = _path("verb", "What to do.") | {"schema": {"enum": ["pause", "resume"]}}
_OF_JOB, _OF_SITE = _path("job", "A job's name."), _path("site", "A site's name.")


def _operation(
    summary: str,
    answer: dict[str, Any],
    *refusals: int,
    parameters: tuple[dict[str, Any], ...] = (),
    body: dict[str, Any] | None = None,
    needed: tuple[str, ...] = (),
    status: int = 200,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": summary,
        "responses": {
            str(status): {
                "description": summary,
                "content": {"application/json": {"schema": answer}},
            },
            **{
                str(code): {**_ERROR, "description": _REFUSALS[code]}
                for code in sorted({*refusals, 401, 429, 503})
            },
        },
    }
    if parameters:
        found["parameters"] = list(parameters)
    if body is not None:
        schema = {
            "type": "object",
            "properties": body,
            "required": list(needed),
            "additionalProperties": False,
            "minProperties": 1,
        }
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return found


def _priority() -> dict[str, Any]:
    return _operation(
        "Give queued requests another priority, larger is sooner: those of a domain, job "
        "or site (site_id), or of a URL, in which a * stands for any text.",
        _object(changed=_COUNT, unchanged=_COUNT, unreadable=_COUNT),
        *(400, 403),
        body=PRIORITY_FIELDS,
        needed=("priority",),
    )


def _log() -> dict[str, Any]:
    return _operation(
        "The last lines of a worker's log, oldest first.",
        _object(worker=_TEXT, lines={"type": "array", "items": _TEXT}),
        400,
        parameters=(_path("worker", "A worker's name."), _most(MOST_LINES)),
    )


def _paths() -> dict[str, Any]:
    job, schedule = _REFERENCES["Job"], _REFERENCES["Schedule"]
    jobs = _object(jobs={"type": "array", "items": job})
    schedules = _object(schedules={"type": "array", "items": schedule})
    change = (400, 403)
    return {
        "/api/v1/jobs": {
            "get": _operation("The newest jobs first.", jobs, 400, parameters=(_most(MOST_JOBS),)),
            "post": _operation(
                "Begin a site's full crawl; twice in a minute is the same job.",
                job,
                *change,
                body=JOB_FIELDS,
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
