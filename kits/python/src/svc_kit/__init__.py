"""Delegated authority: sign Grants and Proofs, verify Receipts, bundles, checkpoints and status lists offline, ask a service."""

from .client import Decision, Principal, RelyingParty
from .errors import InvalidArgument, Refused, ServiceError, SvcError
from .events import CreatedSubscription, Delivery, EventSubscriptions, RotatedSecret, Secret, Subscription
from .htu import normalize_htu
from .identifiers import is_jti
from .jcs import canonicalize
from .jws import Agent, Signer, sha256
from .receipt import VerifiedReceipt, verify_receipt
from .service_keys import ServiceKeys
from .status_list import StatusList, verify_status_list
from .strict_json import Json, parse_json
from .tokens import (
    Grant,
    Proof,
    api_call,
    check_action,
    parse_grant,
    parse_proof,
    purchase,
    request_hash,
    sign_grant,
    sign_proof,
)
from .transparency import (
    Attestation,
    Checkpoint,
    VerifiedBundle,
    VerifiedInclusion,
    verify_bundle,
    verify_checkpoint,
    verify_included_receipt,
    verify_receipt_inclusion,
)
from .webhook import WebhookEvent, verify_webhook

__all__ = [
    "Agent",
    "Attestation",
    "Checkpoint",
    "CreatedSubscription",
    "Decision",
    "Delivery",
    "EventSubscriptions",
    "Grant",
    "InvalidArgument",
    "Json",
    "Principal",
    "Proof",
    "Refused",
    "RelyingParty",
    "RotatedSecret",
    "Secret",
    "ServiceError",
    "ServiceKeys",
    "Signer",
    "StatusList",
    "Subscription",
    "SvcError",
    "VerifiedBundle",
    "VerifiedInclusion",
    "VerifiedReceipt",
    "WebhookEvent",
    "api_call",
    "canonicalize",
    "check_action",
    "is_jti",
    "normalize_htu",
    "parse_grant",
    "parse_json",
    "parse_proof",
    "purchase",
    "request_hash",
    "sha256",
    "sign_grant",
    "sign_proof",
    "verify_bundle",
    "verify_checkpoint",
    "verify_included_receipt",
    "verify_receipt",
    "verify_receipt_inclusion",
    "verify_status_list",
    "verify_webhook",
]
