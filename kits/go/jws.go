package svckit

import (
	"crypto/ed25519"
	"strings"
)

// Signer signs under a kid. Sign may call a key management service.
type Signer struct {
	KID  string
	Sign func(message []byte) ([]byte, error)
}

// NewSigner takes the 32-byte seed of an Ed25519 key (RFC 8032 §5.1.5). For a Principal, kid is did:web:…#key-1.
func NewSigner(seed []byte, kid string) (Signer, error) {
	if len(seed) != ed25519.SeedSize {
		return Signer{}, misused("the seed of an Ed25519 key has %d bytes, not %d", ed25519.SeedSize, len(seed))
	}
	key := ed25519.NewKeyFromSeed(seed)
	return Signer{kid, func(message []byte) ([]byte, error) { return ed25519.Sign(key, message), nil }}, nil
}

// Agent is an Agent's key; DID is its did:key.
type Agent struct {
	Signer
	DID string
}

// NewAgent takes the 32-byte seed of an Ed25519 key, and derives did and kid from it.
func NewAgent(seed []byte) (Agent, error) {
	signer, err := NewSigner(seed, "")
	if err != nil {
		return Agent{}, err
	}
	public, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	multikey := encodeMultikey(public)
	signer.KID = "did:key:" + multikey + "#" + multikey
	return Agent{signer, "did:key:" + multikey}, nil
}

// signJWS signs the RFC 8785 form under {alg, kid, typ}: the same input and key always give the same text.
func signJWS(signer Signer, typ string, payload map[string]any) (string, error) {
	if signer.Sign == nil {
		return "", misused("the signer has no Sign: NewSigner and NewAgent make one of a seed")
	}
	header, err := Canonicalize(map[string]any{"alg": "EdDSA", "kid": signer.KID, "typ": typ})
	if err != nil {
		return "", err
	}
	body, err := Canonicalize(payload)
	if err != nil {
		return "", err
	}
	signingInput := encodeBase64url([]byte(header)) + "." + encodeBase64url([]byte(body))
	signature, err := signer.Sign([]byte(signingInput))
	if err != nil {
		return "", err
	}
	if len(signature) != 64 {
		return "", misused("the signer returned other than 64 bytes")
	}
	return signingInput + "." + encodeBase64url(signature), nil
}

// jwsParts holds the parts of a JWS (RFC 7515 §7.1; protocol §1). Nothing in them has been verified.
type jwsParts struct {
	headerText, payloadText, signingInput string
	signature                             []byte
	header, payload                       map[string]any
}

// splitJWS decodes three parts of canonical base64url; the first two must be UTF-8.
func splitJWS(text string, maxChars int) (jwsParts, error) {
	parts := strings.Split(text, ".")
	if len(text) > maxChars || len(parts) != 3 {
		return jwsParts{}, refuse("malformed-jws", "not three parts in at most %d characters", maxChars)
	}
	header, ok := decodeBase64urlText(parts[0])
	payload, isText := decodeBase64urlText(parts[1])
	signature, isBytes := decodeBase64url(parts[2])
	if !ok || !isText || !isBytes {
		return jwsParts{}, refuse("malformed-jws", "a part is not canonical base64url of UTF-8")
	}
	return jwsParts{headerText: header, payloadText: payload, signingInput: parts[0] + "." + parts[1], signature: signature}, nil
}

// parseJWS also reads header and payload as strict JSON objects.
func parseJWS(text string, maxChars int) (jwsParts, error) {
	parts, err := splitJWS(text, maxChars)
	if err != nil {
		return parts, err
	}
	if parts.header = objectOf(parts.headerText); parts.header == nil {
		return parts, refuse("malformed-jws", "the header is no strict JSON object")
	}
	if parts.payload = objectOf(parts.payloadText); parts.payload == nil {
		return parts, refuse("malformed-jws", "the payload is no strict JSON object")
	}
	return parts, nil
}

// objectOf returns the object in strict JSON, or nil.
func objectOf(text string) map[string]any {
	value, err := ParseJSON(text)
	if err != nil {
		return nil
	}
	object, _ := value.(map[string]any)
	return object
}

// exactKID returns the kid of a header that has exactly alg EdDSA, kid and typ in canonical form, as the service signs
// it.
func exactKID(headerText, typ string) (string, error) {
	kid, ok := objectOf(headerText)["kid"].(string)
	right, err := Canonicalize(map[string]any{"alg": "EdDSA", "kid": kid, "typ": typ})
	if !ok || err != nil || headerText != right {
		return "", refuse("wrong-header", "the header must be exactly alg EdDSA, kid and typ %s", typ)
	}
	return kid, nil
}
