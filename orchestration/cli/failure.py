"""How a command ends when it cannot do what was asked: a sentence and an exit code, never a traceback."""

import sys

FAILED = 1
MISUSED = 2


class Failure(Exception):
    """Ends the command. The message is for people; ``code`` is 1 for what failed, 2 for what was asked wrongly."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message, code)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return self.message


def told(error: BaseException) -> Failure | None:
    """The failure that an expected error of a lower layer means; None when it is nobody's but ours.

    Looks the classes up among the modules that are loaded, so that telling of an error imports nothing.
    """
    for module, name, code in (
        ("orchestration.loading", "SettingsError", MISUSED),
        ("actors.substrate.errors", "UnusableModel", MISUSED),
        ("environment.errors", "BadAddress", MISUSED),
        ("environment.errors", "BadPack", MISUSED),
        ("environment.errors", "SubliminalError", FAILED),
        ("environment.addresses", "InvalidAddress", MISUSED),
        ("orchestration.access.errors", "BadCredentials", MISUSED),
        ("orchestration.gateway.errors", "UnsafeListen", MISUSED),
        ("orchestration.gateway.errors", "GatewayError", FAILED),
        ("orchestration.host.errors", "HostError", FAILED),
        ("orchestration.front.errors", "FrontError", MISUSED),
        ("orchestration.membership.errors", "CoordinationError", FAILED),
    ):
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(error, getattr(loaded, name)):
            return Failure(str(error), code)
    if isinstance(error, UnicodeEncodeError):  # from the command line, as bytes that are no text
        return Failure(f"{error.object!a} is not UTF-8 text", MISUSED)
    if isinstance(error, OSError) and error.strerror:
        return Failure(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    return None
