"""Make the Secret `submind-token` with a token of chance, unless it is there."""

import base64
import json
import pathlib
import secrets
import ssl
import sys
import time
import urllib.error
import urllib.request

ACCOUNT = pathlib.Path("/run/secrets/kubernetes.io/serviceaccount")
API = "https://kubernetes.default.svc/api/v1/namespaces"


def make() -> str:
    """What was done. Raises ``HTTPError`` and ``URLError``."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "submind-token", "labels": {"app.kubernetes.io/part-of": "submind"}},
        "data": {"token": base64.b64encode(secrets.token_urlsafe(32).encode()).decode()},
    }
    request = urllib.request.Request(  # noqa: S310 - https, as it is written above
        f"{API}/{(ACCOUNT / 'namespace').read_text()}/secrets",
        json.dumps(secret).encode(),
        {"authorization": f"Bearer {(ACCOUNT / 'token').read_text()}", "content-type": "application/json"},
    )
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    try:
        urllib.request.urlopen(request, timeout=10, context=context).close()  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code != 409:  # noqa: PLR2004 - it is there
            raise
        return "the Secret submind-token is there: left as it is"
    return "made the Secret submind-token"


for _ in range(60):
    try:
        print(make())
        break
    except urllib.error.URLError as error:
        print(f"the API server: {error}", file=sys.stderr)
        time.sleep(1)
else:
    sys.exit(1)
