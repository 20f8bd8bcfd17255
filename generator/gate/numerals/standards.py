"""Names of standards, formats and licences that hold a digit and never a result.

An entry of findings/terms.toml says what a record's own names are; these need no entry, because every
record that says them means the same. Exact strings, bounded like any name: HTTP/2.5 is no HTTP/2. A name
that could be read as a quantity stays out (x64 could be a factor, M1 a metric, 2D a count).
"""

from __future__ import annotations

from generator.gate.numerals.names import Names


def _list(words: str) -> list[str]:
    return words.split()


ENCODINGS = _list(
    "UTF-7 UTF-8 UTF-16 UTF-32 utf-7 utf-8 utf-16 utf-32 UTF-8-SIG UTF-16LE UTF-16BE ISO-8859-1 ISO-8859-15 "
    "iso-8859-1 Latin-1 latin-1 Windows-1252 windows-1252 Base16 Base32 Base64 base16 base32 base64 "
    "utf_7 utf_8 utf_16 utf_32 latin_1 windows_1252 cp437 cp1252 GB18030 gb18030 KOI8-R koi8_r"
) + [f"iso8859_{part}" for part in range(1, 17)]
DIGESTS = _list("MD5 SHA1 SHA-1 SHA-224 SHA-256 SHA-384 SHA-512 SHA256 SHA512 BLAKE2 BLAKE3 CRC32 md5 sha256")
PROTOCOLS = _list("HTTP/1.0 HTTP/1.1 HTTP/2 HTTP/3 IPv4 IPv6 SOCKS4 SOCKS5 OAuth2 W3C")
NUMBERS = _list(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 fp8 fp16 fp32 fp64 "
    "bf16 FP8 FP16 FP32 FP64 BF16 BFloat16 x86_64 aarch64 riscv64 armv7l s390x"
)
LICENCES = _list(
    "0BSD BSD-2-Clause BSD-3-Clause Apache-2.0 MPL-2.0 GPL-2.0 GPL-3.0 LGPL-2.1 LGPL-3.0 AGPL-3.0 CC0-1.0 "
    "CC-BY-4.0 CC-BY-SA-4.0"
)
SHORTENED = ["i18n", "I18n", "I18N", "l10n", "a11y", "k8s", "3rd party", "3rd-party"]

_NAMES = Names([*ENCODINGS, *DIGESTS, *PROTOCOLS, *NUMBERS, *LICENCES, *SHORTENED])
_JOINS = ("-", "/", "_")
"""What stands before the digits of a name where no letter does, unless the name starts with them."""

_LONGEST = max(map(len, _NAMES.texts)) + 1


def covers(text: str, start: int, end: int) -> bool:
    """Whether the name of a standard holds the whole of a stretch of the text."""
    if not (
        text[start - 1 : start].isalpha()
        or text[start - 1 : start] in _JOINS
        or text[end : end + 1].isalpha()
    ):
        return False
    around = _NAMES.spans(text, max(0, start - _LONGEST), end + _LONGEST)
    return any(low <= start and end <= high for low, high, _ in around)
