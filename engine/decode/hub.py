"""Weights from the model hub, at a pinned revision; the only door to huggingface_hub."""

from __future__ import annotations

import shutil

from engine.contract.errors import FetchFailed
from engine.contract.provenance import sha256_file
from engine.contract.store import write_text
from engine.decode.registry import HUB_SUMS, Entry

PATTERNS = ("*.safetensors", "*.json", "tokenizer*")
"""Weights, their index, configuration and tokenizer; never a pickle."""


def download(wanted: Entry) -> None:
    """Get every file of the pinned revision and list their digests; goes on where it was stopped."""
    from huggingface_hub import errors, snapshot_download

    assert wanted.hub is not None
    free = shutil.disk_usage(wanted.folder).free // 1_000_000_000
    if free < wanted.gigabytes:
        raise FetchFailed(
            str(wanted.folder),
            f"has {free} GB free, {wanted.gigabytes} GB are needed.",
            "Free some, or set XDG_CACHE_HOME to a larger disk.",
        )
    try:
        snapshot_download(
            wanted.hub,
            revision=wanted.revision,
            local_dir=wanted.folder,
            allow_patterns=list(PATTERNS),
            ignore_patterns=["original/*"],
        )
    except errors.GatedRepoError:
        raise FetchFailed(
            wanted.name,
            "is given out once its licence is accepted.",
            f"Accept it on the page of {wanted.hub} and set HF_TOKEN.",
        ) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError):
        raise FetchFailed(
            wanted.name,
            f"{wanted.hub} at {wanted.revision} is not there.",
            "Check models.toml, and HF_TOKEN.",
        ) from None
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        raise FetchFailed(
            wanted.name, "the model hub could not be reached.", "Check the network, then run it again."
        ) from None
    _list(wanted)


def _list(wanted: Entry) -> None:
    """Write the digests as sha256sum does; their own digest stands for the weights."""
    files = sorted(
        file
        for pattern in PATTERNS
        for file in wanted.folder.glob(pattern)
        if file.name not in (HUB_SUMS, "model.json")
    )
    if not any(file.suffix == ".safetensors" for file in files):
        raise FetchFailed(wanted.name, "came without weights in safetensors.", "Check models.toml.")
    lines = [f"{sha256_file(file)}  {file.name}\n" for file in dict.fromkeys(files)]
    write_text(wanted.folder / HUB_SUMS, "".join(lines))
