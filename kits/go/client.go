package svckit

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"
)

const (
	clockBehind        = 30 * time.Second
	clockAhead         = 5 * time.Second
	revocationPatience = 3
)

var errNotMade = errors.New("svckit: this was not made by its New… function")

// Decision is the service's decision, checked. Act only if Allowed is true.
type Decision struct {
	Allowed bool
	// Reason says why the Action is not allowed; "" if it is.
	Reason  string
	Receipt map[string]any
}

// RelyingParty asks the service for decisions.
type RelyingParty struct {
	transport *transport
	keys      *ServiceKeys
	did       string
}

// NewRelyingParty takes the service's pinned keys, whose Receipts it trusts, and your did:web DID.
func NewRelyingParty(to Connection, keys *ServiceKeys, did string) (*RelyingParty, error) {
	made, err := newTransport(to)
	if err != nil {
		return nil, err
	}
	if keys == nil || !isDidWeb(did) {
		return nil, errors.New("svckit: a relying party needs the keys of the service and its own did:web DID")
	}
	return &RelyingParty{made, keys, did}, nil
}

// VerifyRequest is what an Agent presented, and what it would do.
type VerifyRequest struct {
	// Grant and Proof are Svc-Grant and Svc-Proof as received.
	Grant, Proof string
	// Action is what you are about to do, in your own terms; never take it from the Proof.
	Action Action
	// Method and URL are those of the received HTTP request; the URL is absolute, as the Agent addressed it.
	Method, URL string
}

// Verify asks for a decision. A DENY is a value. Never act on an error, which is one of:
//
//   - a *ServiceError: no decision was made, or none is known. The Proof may be spent.
//   - a *Refused for the answer: it is not a Receipt of the service about this request. The Proof may be spent. If the
//     decision was an ALLOW, report "cancelled" about the decision ReceiptID.
//   - a *Refused before anything is asked: the Action is malformed, or the Proof names another request
//     (request-mismatch).
//   - any other error: an argument is wrong, and nothing was asked.
func (r *RelyingParty) Verify(ctx context.Context, asked VerifyRequest) (*Decision, error) {
	if r == nil {
		return nil, errNotMade
	}
	if err := CheckAction(asked.Action); err != nil {
		return nil, err
	}
	if asked.Grant == "" || asked.Proof == "" || !utf8.ValidString(asked.Grant+asked.Proof) || !methodForm.MatchString(asked.Method) {
		return nil, misused("Grant and Proof must be Svc-Grant and Svc-Proof as received, Method an HTTP method in upper case")
	}
	wanted, err := RequestHash(asked.Action, asked.Method, asked.URL)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherRequest(asked); err != nil {
		return nil, err
	}
	key, err := randomToken()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	text, err := r.transport.send(ctx, call{
		method: http.MethodPost, path: "/verify", headers: map[string]string{"Idempotency-Key": key},
		body: map[string]any{"grant": asked.Grant, "proof": asked.Proof, "action": asked.Action},
	})
	if err != nil {
		return nil, err
	}
	verified, err := VerifyReceipt(text, r.keys)
	if err != nil {
		return nil, naming(err, text, nil)
	}
	if err := r.checkBinding(verified, asked, wanted); err != nil {
		return nil, naming(err, text, verified.Receipt)
	}
	at, _ := parseTime(verified.Receipt["evaluated_at"])
	evaluated := time.UnixMilli(at)
	if evaluated.Before(began.Add(-clockBehind)) || evaluated.After(time.Now().Add(clockAhead)) {
		err := refuse("old-answer", "the Receipt was not evaluated during this call, by the clock here")
		return nil, naming(err, text, verified.Receipt)
	}
	reason, _ := verified.Receipt["reason"].(string)
	return &Decision{verified.Decision == "ALLOW", reason, verified.Receipt}, nil
}

// naming returns err with the Receipt that it is about; genuine is nil if its signature has not been verified.
func naming(err error, text string, genuine map[string]any) error {
	var refused *Refused
	if errors.As(err, &refused) {
		if id, _ := objectOf(text)["receipt_id"].(string); receiptIDForm.MatchString(id) {
			refused.ReceiptID = id
		}
		refused.Receipt = genuine
	}
	return err
}

// refuseOtherRequest reads which request a Proof names, before it is spent. Nothing relies on this check: the Proof is
// verified and compared later anyway.
func refuseOtherRequest(asked VerifyRequest) error {
	proof, err := ParseProof(asked.Proof)
	if err != nil {
		return nil
	}
	if received, _ := NormalizeHTU(asked.URL); proof.Method != asked.Method || proof.URL != received {
		return refuse("request-mismatch", "the Proof was made for another HTTP request than the one received; nothing was asked")
	}
	return nil
}

func (r *RelyingParty) checkBinding(verified *VerifiedReceipt, asked VerifyRequest, wanted string) error {
	receipt := verified.Receipt
	for _, binding := range []struct {
		code    string
		isRight bool
	}{
		{"grant-hash", receipt["grant_hash"] == SHA256(asked.Grant)},
		{"proof-hash", receipt["proof_hash"] == SHA256(asked.Proof)},
		{"relying-party", receipt["relying_party"] == r.did},
		// For a DENY it does not matter for which request the Agent signed.
		{"request-hash", verified.Decision == "DENY" || receipt["request_hash"] == wanted},
	} {
		if !binding.isRight {
			return refuse(binding.code, "the Receipt is about something else than what was asked")
		}
	}
	return nil
}

// randomToken identifies a call and its repeats. It is never derived from the Proof: a replayed Proof would then be
// answered with the stored ALLOW of the first one.
func randomToken() (string, error) {
	token := make([]byte, 24)
	_, err := rand.Read(token)
	return encodeBase64url(token), err
}

// Principal issues and revokes Grants. The signing key is never sent.
type Principal struct {
	transport *transport
	signer    Signer
}

// NewPrincipal takes the key that signs Grants.
func NewPrincipal(to Connection, signer Signer) (*Principal, error) {
	if signer.Sign == nil {
		return nil, misused("the signer has no Sign: NewSigner makes one of a seed")
	}
	made, err := newTransport(to)
	if err != nil {
		return nil, err
	}
	return &Principal{made, signer}, nil
}

// Issue reserves an id and a status entry for the Agent's did:key, and signs the Grant.
func (p *Principal) Issue(ctx context.Context, agent string, request GrantRequest) (string, error) {
	if p == nil {
		return "", errNotMade
	}
	if err := request.check(); err != nil {
		return "", err
	}
	text, err := p.transport.send(ctx, call{method: http.MethodPost, path: "/grants", body: map[string]any{"agent": agent}})
	if err != nil {
		return "", err
	}
	var allocation Allocation
	if err := read(text, &allocation); err != nil {
		return "", err
	}
	if allocation.Agent != agent {
		return "", &ServiceError{Kind: KindBadResponse, Message: "the service allocated the Grant to another Agent"}
	}
	return SignGrant(p.signer, allocation, request)
}

// Revoke returns the time of the revocation once it is in force everywhere. While the revocation is only recorded
// (503), the call is repeated, for up to three times the timeout of the connection. After an error the Grant may still
// be in force: call again.
func (p *Principal) Revoke(ctx context.Context, grantID string) (revokedAt string, err error) {
	if p == nil || p.transport == nil {
		return "", errNotMade
	}
	if !is(grantIDForm, grantID) {
		return "", errors.New("svckit: a Grant's id is urn:svc:grant: and 26 characters, not the Grant")
	}
	text, err := p.transport.send(ctx, call{
		method: http.MethodPost, path: "/revoke", body: map[string]any{"grant_id": grantID},
		timeout: revocationPatience * p.transport.timeout,
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		GrantID   string `json:"grant_id"`
		Revoked   bool   `json:"revoked"`
		RevokedAt string `json:"revoked_at"`
	}
	if err := read(text, &answer); err != nil {
		return "", err
	}
	if _, isTime := parseTime(answer.RevokedAt); answer.GrantID != grantID || !answer.Revoked || !isTime {
		return "", &ServiceError{Kind: KindBadResponse, Message: "the answer does not say when this Grant was revoked"}
	}
	return answer.RevokedAt, nil
}
