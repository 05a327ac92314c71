"""Merkle trees of RFC 6962 with SHA-256: roots, and inclusion proofs (RFC 9162 §2.1.3.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def hash_leaf(data: bytes) -> bytes:
    """SHA-256(0x00 ‖ data)."""
    return hashlib.sha256(b"\0" + data).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over hashes of leaves."""
    # The roots of complete subtrees, by height.
    subtrees: list[bytes | None] = []
    for leaf in leaves:
        height = 0
        while height < len(subtrees) and (left := subtrees[height]) is not None:
            leaf, subtrees[height], height = _node(left, leaf), None, height + 1
        subtrees[height : height + 1] = [leaf]
    root: bytes | None = None
    for subtree in subtrees:
        if subtree is not None:
            root = subtree if root is None else _node(subtree, root)
    return hashlib.sha256(b"").digest() if root is None else root


def verify_inclusion(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether the leaf is in the tree. Root and size must come from a trusted source, such as a signed checkpoint."""
    if not 0 <= index < size < 2**53 or any(len(part) != 32 for part in (leaf_hash, *path)):
        return False
    computed, at, last, used = leaf_hash, index, size - 1, 0
    while last > 0:
        if at % 2 == 1 or at != last:
            if used == len(path):
                return False
            computed = _node(path[used], computed) if at % 2 == 1 else _node(computed, path[used])
            used += 1
        at, last = at // 2, last // 2
    return used == len(path) and computed == root
