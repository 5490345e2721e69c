"""Leaving a failing server alone for a while, so that a mind does not wait for it with every thought."""


class Circuit:
    """Closed while answers come; open for ``cooldown`` seconds after ``failures`` in a row; then one request probes.

    Pure: every method is told the time, on any clock that does not run backwards.
    """

    def __init__(self, failures: int, cooldown: float) -> None:
        self._allowed = failures
        self._cooldown = cooldown
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    def admits(self, now: float) -> bool:
        """Whether a request may be sent now; if so, ``succeeded``, ``failed`` or ``gave_up`` must follow."""
        if self._open_until is None:
            return True
        if now < self._open_until or self._probing:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """An answer came: closed again."""
        self._failures = 0
        self._open_until = None
        self._probing = False

    def failed(self, now: float, leave_alone: float = 0.0) -> None:
        """An answer was lost; ``leave_alone`` is how many seconds the server asked for, 0 where it did not."""
        self._failures += 1
        if self._probing or self._failures >= self._allowed or leave_alone > 0:
            self._open_until = now + max(leave_alone, self._cooldown if not leave_alone else 0.0)
        self._probing = False

    def gave_up(self) -> None:
        """The request was not made, or nobody waited for it: neither a success nor a failure."""
        self._probing = False

    def retry_after(self, now: float) -> float:
        """Seconds until a request may be sent again; 0 where one may be sent now."""
        return 0.0 if self._open_until is None else max(0.0, self._open_until - now)

    def state(self, now: float) -> str:
        """``closed``, ``open`` or ``probing``."""
        if self._open_until is None:
            return "closed"
        return "open" if now < self._open_until else "probing"
