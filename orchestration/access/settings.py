"""Configuration of access: certificates, tokens, JWT, quotas, log-ins of the page, and the audit log."""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from environment.config import Seconds, Section
from orchestration.access.scopes import Scope

KIB, MIB = 1024, 1024 * 1024

Algorithm = Literal["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"]
"""How a JWT may be signed: asymmetric only, so that whoever can check one cannot make one."""


class TlsSettings(Section):
    """Certificates of gRPC and HTTP alike. Empty: plain text. Files are read again when they change."""

    certificate: Path | None = None
    """The server's certificate and those between it and its authority, in PEM form."""
    key: Path | None = None
    """Its private key, in PEM form, not encrypted."""
    client_ca: Path | None = None
    """Authorities whose certificates clients must show (mutual TLS), besides their token. Empty: none is asked for."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.certificate is None) is not (self.key is None):
            raise ValueError("`certificate` and `key` go together: give both, or neither")
        if self.client_ca is not None and self.certificate is None:
            raise ValueError("`client_ca` asks clients for certificates, which takes TLS: give `certificate` and `key`")
        return self


class JwtSettings(Section):
    """Tokens of an identity provider (JWT, RFC 7519), checked with its published keys (JWKS, RFC 7517)."""

    jwks: str = ""
    """Where the keys are: a file, or an https URL. Empty: no JWT is accepted."""
    issuer: str = ""
    """What the claim `iss` must be."""
    audience: str = ""
    """What the claim `aud` must be or hold; empty: the name of the mind, so that a token for one mind is none for
    another."""
    algorithms: frozenset[Algorithm] = frozenset({"ES256", "RS256", "EdDSA"})
    """Signatures that are accepted; asymmetric ones only."""
    name_claim: str = "sub"
    """The claim that names the caller."""
    scope_claim: str = "scope"
    """The claim that holds the scopes: text with spaces between them, or a list. Dots step into objects."""
    scopes: dict[str, frozenset[Scope]] = Field(
        default_factory=lambda: {scope.value: frozenset({scope}) for scope in Scope}
    )
    """What each value in that claim allows here."""
    leeway: Seconds = 30.0
    """How far clocks may differ."""
    refresh: Seconds = Field(default=300.0, ge=1)
    """How old the keys may become before they are fetched again."""
    unknown_key_every: Seconds = Field(default=30.0, ge=1)
    """A token signed with a key that is not known has them fetched at once, at most this often."""
    timeout: Seconds = Field(default=5.0, gt=0)
    """How long a fetch may take."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.jwks and not self.issuer:
            raise ValueError("`issuer` is missing: keys alone do not say whose tokens are meant")
        if self.jwks and not self.algorithms:
            raise ValueError("`algorithms` is empty: name at least one, for example ES256")
        return self

    @field_validator("jwks")
    @classmethod
    def _reachable(cls, value: str) -> str:
        if value.startswith("http://") and urlsplit(value).hostname not in {"127.0.0.1", "localhost", "::1"}:
            raise ValueError("whoever sits between could give keys of his own: use https, or a file")
        return value


class QuotaSettings(Section):
    """What each token may, counted by the host that leads. A token's own `quota` goes before. 0: not bounded."""

    perceptions_per_second: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Most perceptions a second on average. Calls beyond it are asked to come back, uploads are held back."""
    bytes_per_second: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The same in bytes of the messages that carry them."""
    streams: int = Field(default=0, ge=0)
    """Most streams open at a time in each process: uploads and readers, gRPC and HTTP together, also those of health
    that is watched and of reflection."""
    burst: Seconds = Field(default=10.0, gt=0)
    """So many seconds' worth may come at once where nothing came for a while."""


class SessionSettings(Section):
    """Log-ins of the page."""

    lifetime: Seconds = Field(default=12 * 3600.0, gt=0)
    """How long one holds; never longer than the token it was made with."""
    heard_every: Seconds = Field(default=1.0, gt=0, le=60)
    """How often a process looks who logged out at others that serve the mind, while somebody is logged in here."""
    key_file: Path | None = None
    """A file of at least 32 bytes that signs them; several processes behind one address share it. Empty: a key is
    drawn at each start, and who was logged in logs in again."""
    secure: Literal["auto", "always"] = "auto"
    """`always`: browsers send the cookie over https only; for a feed behind a proxy that speaks it. `auto`: where the
    feed itself speaks TLS."""
    under_way: int = Field(default=256, ge=1)
    """Most log-ins under way at a time; who comes beyond them gets 503. What they ask for must arrive within 5 s."""
    under_way_each: int = Field(default=16, ge=1)
    """The same of one address (of IPv6, of one /64), so that nobody takes all places; beyond it, 429."""
    attempts: int = Field(default=8, ge=1)
    """Wrong attempts to log in from one address whose answers may be held back at a time; further ones get 429."""
    slowest: Seconds = 5.0
    """How long the answer to a wrong one waits at most."""


class AuditSettings(Section):
    """The log of who did what: a line of JSON each in `audit.log` of the data directory, and in the log."""

    file_bytes: int = Field(default=16 * MIB, ge=KIB)
    """How large the file grows before it is set aside."""
    files: int = Field(default=8, ge=1, le=1000)
    """How many that were set aside are kept."""
    refusals_per_minute: int = Field(default=60, ge=1)
    """Refused attempts written down in a minute; of those beyond, how many there were."""


class AccessSettings(Section):
    """Who may do what to the mind."""

    tls: TlsSettings = TlsSettings()
    """Certificates of gRPC and HTTP alike."""
    tokens_file: Path | None = None
    """The tokens that are accepted, as digests: `submind token` writes it, and it is read again when it changes."""
    jwt: JwtSettings = JwtSettings()
    """Tokens of an identity provider."""
    quotas: QuotaSettings = QuotaSettings()
    """What each token may."""
    session: SessionSettings = SessionSettings()
    """Log-ins of the page."""
    audit: AuditSettings = AuditSettings()
    """The log of who did what."""
    open_metrics: bool = False
    """Whether `/metrics` is answered without a token (else the scope `metrics` or `watch`). It names subminds and
    sources, but no perception."""
    reload_every: Annotated[Seconds, Field(gt=0)] = 0.5
    """How often files of certificates and tokens are looked at; streams of a token that is gone end as soon."""


class ClientSettings(Section):
    """How a mind that runs is reached."""

    tls: bool = False
    """Whether to speak TLS; also where one of the files below is given."""
    ca_file: Path | None = None
    """Authorities that the server's certificate must come from, in PEM form. Empty: those that this system trusts."""
    cert_file: Path | None = None
    """The certificate to show where the server asks for one, in PEM form."""
    key_file: Path | None = None
    """Its private key."""
    token_file: Path | None = None
    """A file that holds the token to show; read again when it changes. Empty: `gateway.token_file`."""
    server_name: str = ""
    """The name in the server's certificate, where it is reached by another."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.cert_file is None) is not (self.key_file is None):
            raise ValueError("`cert_file` and `key_file` go together: give both, or neither")
        return self

    @property
    def encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return self.tls or self.ca_file is not None or self.cert_file is not None
