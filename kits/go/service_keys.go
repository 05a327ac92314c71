package svckit

import (
	"regexp"
	"strings"
)

var keyNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// ServiceKeys are the keys of one service, from its pinned DID document. They are the root of trust.
type ServiceKeys struct {
	// DID is that of the service.
	DID      string
	methods  map[string][]map[string]any
	asserted map[string]bool
}

// ReadServiceKeys reads the DID document that the service serves at /.well-known/did.json. Obtain it once, over a
// channel that you trust, and compare its DID with the one that the operator names.
func ReadServiceKeys(document string) (*ServiceKeys, error) {
	object := objectOf(document)
	if len(document) > 1_048_576 || object == nil {
		return nil, refuse("malformed-did-document", "the DID document must be a JSON object")
	}
	return serviceKeysOf(object)
}

func serviceKeysOf(document map[string]any) (*ServiceKeys, error) {
	did, _ := document["id"].(string)
	if _, isBundle := document["did_document"]; isBundle {
		return nil, refuse("malformed-did-document", "this is a bundle, not a DID document: its DID document is the member did_document")
	}
	if _, isReceipt := document["receipt_id"]; isReceipt || !isDidWeb(did) {
		return nil, refuse("malformed-did-document", "the id of the DID document must be a did:web DID")
	}
	keys := &ServiceKeys{DID: did, methods: map[string][]map[string]any{}, asserted: map[string]bool{}}
	methods, _ := document["verificationMethod"].([]any)
	for _, entry := range methods {
		if method, ok := entry.(map[string]any); ok {
			if kid, ok := method["id"].(string); ok {
				kid = keys.absolute(kid)
				keys.methods[kid] = append(keys.methods[kid], method)
			}
		}
	}
	asserted, _ := document["assertionMethod"].([]any)
	for _, entry := range asserted {
		if kid, ok := entry.(string); ok {
			keys.asserted[keys.absolute(kid)] = true
		}
	}
	return keys, nil
}

func (k *ServiceKeys) absolute(id string) string {
	if strings.HasPrefix(id, "#") {
		return k.DID + id
	}
	return id
}

// serviceKey is in force from fromMs until before untilMs.
type serviceKey struct {
	key               []byte
	fromMs, untilMs   int64
	hasFrom, hasUntil bool
	isCompromised     bool
}

// check verifies a signature. untimely says why its date is outside the key's time, "" if it is not. signedAtMs is nil
// if something else vouches for the date.
func (k *ServiceKeys) check(purpose, kid string, jws jwsParts, signedAtMs *int64) (untimely string, err error) {
	key, err := k.find(kid, purpose)
	if err != nil {
		return "", err
	}
	if !verifyStrict(key.key, []byte(jws.signingInput), jws.signature) {
		if isStrictPublicKey(key.key) {
			return "", refuse("wrong-signature", "the signature does not verify under %s", kid)
		}
		return "", refuse("unusable-key", "%s must be canonical, torsion-free and not of small order", kid)
	}
	switch {
	case signedAtMs == nil:
		return "", nil
	case key.isCompromised:
		return kid + " is compromised, so that no date under it counts", nil
	case key.hasFrom && *signedAtMs < key.fromMs:
		return kid + " was not yet in force", nil
	case key.hasUntil && *signedAtMs >= key.untilMs:
		return kid + " was in force no longer", nil
	}
	return "", nil
}

func (k *ServiceKeys) find(kid, purpose string) (key serviceKey, err error) {
	if !strings.HasPrefix(kid, k.DID+"#") {
		return key, refuse("wrong-service", "the kid %q is not of the pinned service %s", kid, k.DID)
	}
	fragment, prefix := kid[len(k.DID)+1:], purpose+"-"
	if !strings.HasPrefix(fragment, prefix) || !keyNumber.MatchString(fragment[len(prefix):]) {
		return key, refuse("wrong-key", "the kid must be %s#%s-<n>, not %q", k.DID, purpose, kid)
	}
	methods := k.methods[kid]
	if len(methods) > 1 {
		return key, refuse("unusable-key", "the DID document has several verification methods %s", kid)
	}
	if len(methods) == 0 {
		return key, refuse("unknown-key", "the DID document has no verification method %s; it may be older than the key", kid)
	}
	if !k.asserted[kid] {
		return key, refuse("wrong-key", "the DID document does not list %s under assertionMethod", kid)
	}
	method := methods[0]
	multikey, _ := method["publicKeyMultibase"].(string)
	key.key = decodeMultikey(multikey)
	if method["type"] != "Multikey" || method["controller"] != k.DID || key.key == nil {
		return key, refuse("unusable-key", "%s must be an Ed25519 Multikey that %s controls", kid, k.DID)
	}
	from, hasFrom := method["svc:validFrom"]
	until, hasUntil := method["svc:validUntil"]
	key.hasFrom, key.hasUntil = hasFrom, hasUntil
	key.fromMs, hasFrom = parseTime(from)
	key.untilMs, hasUntil = parseTime(until)
	if key.hasFrom != hasFrom || key.hasUntil != hasUntil {
		return key, refuse("unusable-key", "%s must say by RFC 3339 times in UTC when it is in force", kid)
	}
	_, key.isCompromised = method["revoked"]
	return key, nil
}
