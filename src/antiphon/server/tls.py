"""A certificate for this machine, for clients that insist on TLS (Cartesia's SDKs open only ``wss://``)."""

import datetime
import ipaddress
import os
import tempfile
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from antiphon.core.clock import unix_time_s

LIFETIME_DAYS = 365
_RENEW_BEFORE_DAYS = 7
_BACKDATE_DAYS = 1


def self_signed(directory: Path, hosts: tuple[str, ...] = ()) -> tuple[Path, Path]:
    """Make (or reuse while it is good) a certificate for localhost, 127.0.0.1, ::1 and ``hosts``; returns (cert, key).

    It is its own root: trusting this one file is enough. Raises ``OSError`` where ``directory`` is not writable.
    """
    cert_path, key_path = directory / "antiphon-cert.pem", directory / "antiphon-key.pem"
    names = [name for name in dict.fromkeys(("localhost", "127.0.0.1", "::1", *hosts)) if name not in ("0.0.0.0", "::")]
    now = datetime.datetime.fromtimestamp(unix_time_s(), datetime.UTC)
    if key_path.exists() and _is_good(cert_path, names, now):
        return cert_path, key_path
    directory.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Antiphon (self-signed)")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=_BACKDATE_DAYS))
        .not_valid_after(now + datetime.timedelta(days=LIFETIME_DAYS))
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    # The key first: a certificate on disk then always has its key.
    _write(key_path, private, 0o600)
    _write(cert_path, certificate.public_bytes(serialization.Encoding.PEM), 0o644)
    return cert_path, key_path


def trust_hint(cert: Path) -> str:
    """How clients are told to trust it."""
    return (
        f"self-signed certificate: {cert}\n"
        f"  Python clients:  export SSL_CERT_FILE={cert}\n"
        f"  Node clients:    export NODE_EXTRA_CA_CERTS={cert}\n"
        f"  curl:            curl --cacert {cert} ..."
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _is_good(cert_path: Path, names: list[str], now: datetime.datetime) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(cert_path.read_bytes())
        covered = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    lasts = certificate.not_valid_after_utc - now > datetime.timedelta(days=_RENEW_BEFORE_DAYS)
    return lasts and all(_general_name(name) in covered for name in names)


def _write(path: Path, data: bytes, mode: int) -> None:
    """Whole or not at all, and never readable by others in between."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
