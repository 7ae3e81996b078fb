"""
JSON from a service that may be slow, busy or away: one POST with its retries, under a time limit and a circuit breaker.

*Guarantees:* the key is in no error, no log line and no `repr`; nothing is connected before the first request; may be shared by
threads.

*Because:* no retry library: waiting by Retry-After, within what is left of a limit, is most of the loop.
"""

from __future__ import annotations

import json
import logging
import random
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memento import telemetry
from memento.breaker import Breaker
from memento.errors import BackendError

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

BUSY = {408, 409, 425, 429}  # asking again later may help, as after any 5xx
UNFIT = {400, 422}  # the request itself is refused: whoever wrote it may write it otherwise
LONGEST_WAIT_S = 60.0  # between two attempts; a service that asks for more is not waited for
LONGEST_ANSWER = 32 << 20  # bytes
SECRET = 4  # characters that a key has at least; a shorter one would only garble the message
MOST_SHOWN = 300  # characters of a service's own message in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds: to connect, of silence, before the first retry."""

    connect_s: float = 5.0
    silence_s: float = 120.0
    retry_wait_s: float = 0.5


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered: `status` is 2xx, or 400 or 422; after how many attempts."""

    status: int
    body: Mapping[str, Any]
    attempts: int


class Endpoint:
    """One service at a base URL."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        secret: str,
        called: str,
        error: type[BackendError],
        limits: Limits,
        breaker: Breaker,
    ) -> None:
        """
        Args:
            secret: taken out of whatever the service says.
            called: how errors name provider and model or use, as `openai`.
            error: the class of what is raised.
        """
        self.base_url = base_url.rstrip("/")
        self.called = called
        self.breaker = breaker
        self._headers = dict(headers)
        self._secret = secret
        self._error = error
        self._limits = limits
        self._client: httpx2.Client | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: Mapping[str, Any], *, retries: int, until: float) -> Answer:
        """
        Post a body and return the JSON object that the service answers with.

        Args:
            retries: how often to ask again when it is busy or away.
            until: `time.monotonic()` at which to stop trying.

        Raises:
            the error class given: the service is away, busy to the end, or refuses; or the circuit is open.
        """
        for attempt in range(1, retries + 2):
            if not self.breaker.allows():
                raise self._error(
                    f"{self.called} at {self._shown_url} has failed {self.breaker.failures} times in a row; "
                    f"it is left alone for another {self.breaker.rest_s:.0f} s"
                )
            status, reply, wait_s, why = self._attempt(path, body, until)
            if 200 <= status < 300 or status in UNFIT:
                return Answer(status, reply, attempt)
            wait_s = self._pause(attempt) if wait_s is None else wait_s
            hopeless = not _may_pass(status, reply) or attempt > retries
            if hopeless or wait_s > LONGEST_WAIT_S or time.monotonic() + wait_s >= until:
                raise self._error(self.complaint(status, why))
            telemetry.count("endpoint.retry")
            logger.info("endpoint.retry", extra={"service": self.called, "status": status, "wait_s": round(wait_s, 3)})
            time.sleep(wait_s)
        raise AssertionError("unreachable")

    def complaint(self, status: int, why: str) -> str:
        """Write one line that names the service and what would mend it; `why` is the service's own message."""
        message = " ".join(why.split())
        if len(self._secret) >= SECRET:
            message = message.replace(self._secret, "***")
        message = message if len(message) <= MOST_SHOWN else f"{message[:MOST_SHOWN]}…"
        fix = {401: "; check its api_key", 403: "; check its api_key", 404: "; check its base_url and model"}.get(
            status, ""
        )
        answered = f"answered {status}" if status else "did not answer"
        return f"{self.called} at {self._shown_url} {answered}{f': {message}' if message else ''}{fix}"

    def close(self) -> None:
        """Let go of connections; the next request opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    @property
    def _shown_url(self) -> str:
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def _attempt(
        self, path: str, body: Mapping[str, Any], until: float
    ) -> tuple[int, Mapping[str, Any], float | None, str]:
        """Try once: return status (0: no answer), body, seconds it asks to wait, and what went wrong; the breaker is told."""
        import httpx2

        reported = False
        try:
            status, headers, text = self._send(path, body, until)
            reported = True
            (self.breaker.record_failure if status >= 500 or status == 408 else self.breaker.record_success)()
        except httpx2.TimeoutException as error:
            return 0, {}, None, f"{type(error).__name__} after the time that its settings allow"
        except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL, UnicodeEncodeError) as error:
            # What these say may be a header, and so the key.
            raise self._error(
                f"{self.called} at {self._shown_url} cannot be asked ({type(error).__name__}); check its base_url and api_key"
            ) from None
        except httpx2.HTTPError as error:
            return 0, {}, None, f"{type(error).__name__}: {error}"
        finally:
            if not reported:
                self.breaker.record_failure()
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            return status, parsed, _parse_retry_after(headers), error_message(parsed)
        if 200 <= status < 300:
            raise self._error(f"{self.called} at {self._shown_url} answered no JSON object; check its base_url")
        return status, {}, _parse_retry_after(headers), text.decode("utf-8", "replace")

    def _send(self, path: str, body: Mapping[str, Any], until: float) -> tuple[int, Mapping[str, str], bytes]:
        import httpx2

        left = max(until - time.monotonic(), 0.001)
        silence = min(self._limits.silence_s, left)
        timeout = httpx2.Timeout(silence, connect=min(self._limits.connect_s, left))
        telemetry.count("endpoint.request")
        with self._open_client().stream("POST", self.base_url + path, json=body, timeout=timeout) as response:
            text = bytearray()
            for chunk in response.iter_bytes():
                text += chunk
                if time.monotonic() > until:
                    raise httpx2.ReadTimeout("the answer took too long")
                if len(text) > LONGEST_ANSWER:
                    raise httpx2.ReadError("the answer is too long")
            return response.status_code, response.headers, bytes(text)

    def _open_client(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._client is None:
                self._client = httpx2.Client(headers=self._headers)
                weakref.finalize(self, self._client.close)
            return self._client

    def _pause(self, attempt: int) -> float:
        """Return the wait before the next attempt: it doubles each time, half of it chance, so that many do not come together."""
        longest: float = min(self._limits.retry_wait_s * 2 ** (attempt - 1), LONGEST_WAIT_S)
        return longest * random.uniform(0.5, 1.0)


def error_message(body: Mapping[str, Any]) -> str:
    """Find a service's own message: OpenAI's and Anthropic's `error.message`, Ollama's `error`; "" when there is none."""
    error = body.get("error", body.get("message", body.get("detail", "")))
    message = error.get("message", "") if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(message)


def _may_pass(status: int, body: Mapping[str, Any]) -> bool:
    """Tell whether the same request may succeed later. An empty account looks like a busy service, but no waiting fills it."""
    error = body.get("error")
    if isinstance(error, dict) and "insufficient_quota" in (error.get("code"), error.get("type")):
        return False
    return status == 0 or status in BUSY or status >= 500


def _parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """
    Return the seconds of a Retry-After, given as such or as an HTTP date; None when there is none that can be read.

    >>> _parse_retry_after({"retry-after": "2"}), _parse_retry_after({"retry-after": "soon"})
    (2.0, None)
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(float(value) * unit, 0.0)
        except ValueError:
            pass
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            continue
        return max(((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds(), 0.0)
    return None
