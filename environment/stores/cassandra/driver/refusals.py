"""Why a cluster could not be opened, in one sentence that says what to put right."""

import re
import ssl
from collections.abc import Iterator

from cassandra import AuthenticationFailed, OperationTimedOut, UnresolvableContactPoints
from cassandra.cluster import NoHostAvailable

from environment.errors import StoreBroken, StoreUnavailable, SubliminalError
from environment.stores.cassandra.driver.address import CassandraAddress
from environment.stores.cassandra.driver.errors import translate

_ALERT = re.compile(r"\[SSL: (\w+)\]")
_VERIFY = re.compile(r"certificate verify failed: (.*?)(?: \(_ssl|$)")


def refusal(error: BaseException, address: CassandraAddress) -> SubliminalError:
    """What a driver's error means while connecting: ``StoreUnavailable`` where waiting may help, or ``StoreBroken``."""
    place = str(address)
    if isinstance(error, UnresolvableContactPoints):
        return StoreUnavailable(f"{place}: none of its host names can be resolved")
    if not isinstance(error, NoHostAvailable):
        return translate(error, place)
    reasons: list[str] = []
    for host, cause in _causes(error):
        final = _final(cause, address)
        if final is not None:
            return StoreBroken(place, final)
        reasons.append(f"{host} {_passing(cause, address)}")
    return StoreUnavailable(f"{place}: no server can be used: {', '.join(reasons) or 'none was tried'}")


def _causes(error: NoHostAvailable) -> Iterator[tuple[object, BaseException]]:
    errors = error.errors
    yield from errors.items() if isinstance(errors, dict) else ()


def _final(cause: BaseException, address: CassandraAddress) -> str | None:
    """What no waiting will change."""
    if isinstance(cause, AuthenticationFailed):
        if address.username is None:
            return "the servers ask who is there: give username=NAME&password_file=PATH"
        return f"the servers refused user {address.username!r} or the password in {address.password_file}"
    if not isinstance(cause, OSError):
        return None
    text = str(cause)
    verify = _VERIFY.search(text)
    if verify is not None:
        return f"the server's certificate is not to be trusted: {verify[1].strip().rstrip('.')}"
    alert = _ALERT.search(text)
    if alert is None or "EOF" in alert[1]:
        return None
    if alert[1] == "WRONG_VERSION_NUMBER":
        return (
            "the servers do not speak TLS on this port: leave ca_file, cert_file and key_file out, or correct the port"
        )
    if "ALERT" in alert[1]:
        return _certificate(address)
    return f"no encrypted connection could be made: {alert[1].lower().replace('_', ' ')}"


def _passing(cause: BaseException, address: CassandraAddress) -> str:
    """What may pass: a server that is starting does all of these."""
    if isinstance(cause, ConnectionRefusedError) or "Connection refused" in str(cause):
        return "refused the connection (is the port right, is it running?)"
    if isinstance(cause, OperationTimedOut | TimeoutError):
        return "did not answer (is it a Cassandra server?)"
    if isinstance(cause, ssl.SSLError) or "EOF" in str(cause):
        return f"ended the handshake ({_certificate(address)}; does it speak TLS, and CQL?)"
    if isinstance(cause, ConnectionResetError) and not address.tls:
        return "closed the connection (does it speak TLS only? then give ca_file=PATH)"
    return f"failed: {' '.join(str(cause).split())[:200]}"


def _certificate(address: CassandraAddress) -> str:
    if address.cert_file is None:
        return "if it asks for a client's certificate, give cert_file=PATH&key_file=PATH"
    return f"it does not trust the client's certificate {address.cert_file}"
