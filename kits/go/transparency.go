package svckit

import (
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

var hexForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// The clocks that dated a checkpoint and its attestation differ by at most this, in seconds.
const mostApartSeconds = 300

// Checkpoint is what the service signed about a day (protocol §12).
type Checkpoint struct {
	Issuer         string  `json:"iss"`
	Day            string  `json:"day"`
	TreeSize       int64   `json:"tree_size"`
	Root           string  `json:"root"`
	PreviousRoot   *string `json:"previous_root"`
	FirstReceiptID *string `json:"first_receipt_id"`
	LastReceiptID  *string `json:"last_receipt_id"`
	IAT            int64   `json:"iat"`
	Tree           string  `json:"tree"`
	// KID is that of the signing key.
	KID string `json:"-"`
}

var (
	aReceiptIDOrNull = scalar("a Receipt id or null", func(value any) bool { return value == nil || is(receiptIDForm, value) })
	checkpointShape  = closed(members{
		"day": scalar("a day as YYYY-MM-DD", isDay), "first_receipt_id": aReceiptIDOrNull,
		"iat": scalar("an integer of seconds", isPositive), "iss": aDidWeb, "last_receipt_id": aReceiptIDOrNull,
		"previous_root": scalar("a hash or null", func(value any) bool { return value == nil || is(sha256Form, value) }),
		"root":          aSHA256, "tree": form("rfc6962-sha256", "rfc6962-sha256"), "tree_size": aCount,
	}, noMembers)
	aHex           = scalar("64 lower-case hex characters", func(value any) bool { return is(hexForm, value) })
	aString        = scalar("a string", func(value any) bool { _, ok := value.(string); return ok })
	inclusionShape = members{
		"receipt_id": scalar("a Receipt id", func(value any) bool { return is(receiptIDForm, value) }),
		"day":        scalar("a day", isDay), "leaf": aHex, "leaf_index": aCount, "tree_size": scalar("an integer from 1 on", isPositive),
		"root": aSHA256, "checkpoint": aString, "kid": aString,
		"audit_path": scalar("at most 53 hashes", func(value any) bool {
			steps, ok := value.([]any)
			for _, step := range steps {
				ok = ok && is(hexForm, step)
			}
			return ok && len(steps) <= 53
		}),
	}
	attestationShape = closed(members{
		"iss": aString, "receipt_id": aString, "receipt_hash": aSHA256, "checkpoint_hash": aSHA256,
		"iat": scalar("an integer", func(value any) bool { _, ok := value.(int64); return ok }),
	}, noMembers)
)

func isPositive(value any) bool { return isCount(value) && value != int64(0) }

// VerifyCheckpoint verifies the compact JWS of a day's checkpoint.
func VerifyCheckpoint(text string, keys *ServiceKeys) (*Checkpoint, error) {
	if keys == nil {
		return nil, errNoKeys
	}
	return verifyCheckpoint(text, keys, false)
}

func verifyCheckpoint(text string, keys *ServiceKeys, isAttested bool) (*Checkpoint, error) {
	jws, err := parseJWS(text, 4096)
	if err != nil {
		return nil, err
	}
	kid, err := exactKID(jws.headerText, "svc-checkpoint+jwt")
	if err != nil {
		return nil, err
	}
	if canonical, err := Canonicalize(jws.payload); err != nil || canonical != jws.payloadText {
		return nil, refuse("payload-not-canonical", "the payload must be in RFC 8785 form")
	}
	if err := checkpointShape(jws.payload, ""); err != nil {
		return nil, err
	}
	checkpoint := &Checkpoint{KID: kid}
	if err := json.Unmarshal([]byte(jws.payloadText), checkpoint); err != nil {
		return nil, refuse("malformed-member", "%s", err)
	}
	if err := checkpoint.checkAgreement(); err != nil {
		return nil, err
	}
	if prefix := checkpoint.Issuer + "#status-"; !strings.HasPrefix(kid, prefix) || !keyNumber.MatchString(kid[len(prefix):]) {
		return nil, refuse("wrong-header", "the kid must be %s<n>, not %q", prefix, kid)
	}
	at := &[]int64{checkpoint.IAT * 1000}[0]
	if isAttested {
		at = nil
	}
	untimely, err := keys.check("status", kid, jws, at)
	if err == nil && untimely != "" {
		err = refuse("key-not-in-force", "the checkpoint: %s", untimely)
	}
	return checkpoint, err
}

func (c *Checkpoint) checkAgreement() error {
	wrong := func(problem string) error { return refuse("contradiction", "%s", problem) }
	if begin, _ := parseTime(c.Day + "T00:00:00Z"); c.IAT*1000 < begin+86_400_000 {
		return wrong("/iat must not be before the end of the day")
	}
	var leaves [][]byte
	for i, id := range []*string{c.FirstReceiptID, c.LastReceiptID} {
		if (id == nil) != (c.TreeSize == 0) {
			return wrong("first and last Receipt must be there exactly where there are Receipts")
		}
		if id != nil && dayOf(*id) != c.Day {
			return wrong(*id + " is of another day")
		}
		if id != nil && int64(i) < c.TreeSize {
			leaves = append(leaves, hashLeaf(*id))
		}
	}
	if first, last := c.FirstReceiptID, c.LastReceiptID; first != nil && (*first == *last) != (c.TreeSize == 1) || first != nil && *first > *last {
		return wrong("/last_receipt_id must come after the first one")
	}
	// With at most two Receipts the checkpoint names every leaf.
	if c.TreeSize <= 2 && c.Root != "sha256:"+hex.EncodeToString(rootOf(leaves)) {
		return wrong("/root must be that of the ids")
	}
	return nil
}

// Inclusion is the proof that a Receipt is in its day's checkpoint, as the service answers.
type Inclusion struct {
	// Proof is the answer of GET /decisions/{receipt_id}/inclusion.
	Proof string
	// Checkpoint is the day's checkpoint from another source, record or JWS, or "". It must be the one in the proof.
	// Without it, a service that shows two readers different checkpoints is not detected.
	Checkpoint string
	// Attestation is the answer of GET /decisions/{receipt_id}/attestation or the JWS in it, or "". With it a key in force
	// vouches for what a key signed that is no longer in force.
	Attestation string
}

// VerifyInclusion verifies that the Receipt with this id is in its day's checkpoint. The Receipt must have been
// verified before. Size and root come from the signed checkpoint.
func VerifyInclusion(receiptID string, inclusion Inclusion, keys *ServiceKeys) (*Checkpoint, error) {
	if keys == nil {
		return nil, errNoKeys
	}
	checkpoint, _, err := verifyReceiptInclusion(receiptID, inclusion, keys)
	return checkpoint, err
}

// verifyReceiptInclusion also returns the hash of the attested Receipt, "" without an attestation.
func verifyReceiptInclusion(receiptID string, given Inclusion, keys *ServiceKeys) (*Checkpoint, string, error) {
	record, err := readInclusion(given.Proof)
	if err != nil {
		return nil, "", err
	}
	jws, shown := record["checkpoint"].(string), map[string]any(nil)
	if given.Checkpoint != "" {
		if jws, shown, err = findJWS(given.Checkpoint, "checkpoint", "malformed-checkpoint"); err != nil {
			return nil, "", err
		}
		if jws != record["checkpoint"] {
			return nil, "", refuse("other-checkpoint", "the checkpoint given is not the one in the proof")
		}
	}
	attested, attestedAt := "", int64(0)
	if given.Attestation != "" {
		if attested, attestedAt, err = verifyAttestation(given.Attestation, receiptID, jws, keys); err != nil {
			return nil, "", err
		}
	}
	checkpoint, err := verifyCheckpoint(jws, keys, attested != "")
	if err != nil {
		return nil, "", err
	}
	// A thief of an ended key would date an attestation before the key's end. No later checkpoint can have existed then.
	if attested != "" && attestedAt+mostApartSeconds < checkpoint.IAT {
		return nil, "", refuse("wrong-attestation", "the attestation is dated before the checkpoint that it is of, %s", checkpoint.Day)
	}
	if err := checkpoint.checkShown(shown, jws); err != nil {
		return nil, "", err
	}
	return checkpoint, attested, checkpoint.checkProof(record, receiptID)
}

// checkShown demands that the members beside the JWS, if any, equal the signed ones.
func (c *Checkpoint) checkShown(shown map[string]any, jws string) error {
	parts, _ := parseJWS(jws, 4096)
	parts.payload["kid"], parts.payload["checkpoint_hash"] = c.KID, SHA256(jws)
	for name, right := range parts.payload {
		if said, isThere := shown[name]; isThere && said != right {
			return refuse("payload-mismatch", "/%s of the checkpoint is not as signed", name)
		}
	}
	return nil
}

func (c *Checkpoint) checkProof(record map[string]any, receiptID string) error {
	leaf := hashLeaf(receiptID)
	if record["receipt_id"] != receiptID {
		return refuse("other-receipt", "the proof is of %s, not of %s", record["receipt_id"], receiptID)
	}
	if record["leaf"] != hex.EncodeToString(leaf) {
		return refuse("wrong-leaf", "/leaf must be the hash of the Receipt's id")
	}
	for name, right := range map[string]any{"day": c.Day, "tree_size": c.TreeSize, "root": c.Root, "kid": c.KID} {
		if record[name] != right {
			return refuse("contradiction", "/%s must be %v by the checkpoint", name, right)
		}
	}
	if dayOf(receiptID) != c.Day {
		return refuse("wrong-time", "%s is not of %s", receiptID, c.Day)
	}
	var path [][]byte
	for _, step := range record["audit_path"].([]any) {
		hash, _ := hex.DecodeString(step.(string))
		path = append(path, hash)
	}
	index := record["leaf_index"].(int64)
	root, _ := hex.DecodeString(c.Root[len("sha256:"):])
	// Leaves are in the order of their ids, so the signed first and last ids determine the outermost leaves.
	isFirst := c.FirstReceiptID != nil && receiptID == *c.FirstReceiptID
	isLast := c.LastReceiptID != nil && receiptID == *c.LastReceiptID
	if (index == 0) != isFirst || (index == c.TreeSize-1) != isLast || !verifyInclusion(leaf, index, c.TreeSize, path, root) {
		return refuse("not-included", "the path does not lead from %s to the root of %s", receiptID, c.Day)
	}
	return nil
}

func readInclusion(text string) (map[string]any, error) {
	record := objectOf(text)
	if record == nil || len(text) > 65_536 {
		return nil, refuse("malformed-inclusion", "the inclusion proof must be an object")
	}
	_, hasStatus := record["status"]
	if _, hasPath := record["audit_path"]; hasStatus && !hasPath {
		return nil, refuse("inclusion-pending", "the day %v is not closed yet: ask for the proof later", record["day"])
	}
	for name, check := range inclusionShape {
		value, isThere := record[name]
		if !isThere {
			return nil, refuse("missing-member", "/%s is missing", name)
		}
		if err := check(value, "/"+name); err != nil {
			return nil, err
		}
	}
	return record, nil
}

// findJWS returns the JWS in an object's text, or the bare JWS, and the object.
func findJWS(text, name, code string) (string, map[string]any, error) {
	// Not TrimSpace, because languages differ in what they treat as white space.
	text = strings.Trim(text, " \t\r\n")
	if !strings.HasPrefix(text, "{") {
		return text, nil, nil
	}
	record := objectOf(text)
	jws, ok := record[name].(string)
	if !ok {
		return "", nil, refuse(code, "the %s must be the record of the service or the JWS in it", name)
	}
	return jws, record, nil
}

// verifyAttestation returns the hash of the attested Receipt and the time of the attestation in seconds.
func verifyAttestation(given, receiptID, checkpoint string, keys *ServiceKeys) (string, int64, error) {
	wrong := func(problem string) error { return refuse("wrong-attestation", "the attestation: %s", problem) }
	text, _, err := findJWS(given, "attestation", "wrong-attestation")
	if err != nil {
		return "", 0, err
	}
	jws, err := parseJWS(text, 4096)
	if err != nil {
		return "", 0, wrong(err.Error())
	}
	kid, err := exactKID(jws.headerText, "svc-attestation+jwt")
	if err != nil {
		return "", 0, wrong(err.Error())
	}
	if err := attestationShape(jws.payload, ""); err != nil {
		return "", 0, wrong(err.Error())
	}
	iat := jws.payload["iat"].(int64)
	untimely, err := keys.check("status", kid, jws, &[]int64{iat * 1000}[0])
	if err == nil && untimely != "" {
		err = refuse("key-not-in-force", "the attestation: %s", untimely)
	}
	if err != nil {
		return "", 0, err
	}
	if jws.payload["iss"] != keys.DID || jws.payload["receipt_id"] != receiptID || jws.payload["checkpoint_hash"] != SHA256(checkpoint) {
		return "", 0, wrong("it is of another service, Receipt or checkpoint")
	}
	return jws.payload["receipt_hash"].(string), iat, nil
}

// VerifyIncludedReceipt verifies a Receipt and its inclusion. With an attestation it also verifies a Receipt whose key
// was compromised or not in force.
func VerifyIncludedReceipt(receipt string, inclusion Inclusion, keys *ServiceKeys) (*VerifiedReceipt, *Checkpoint, error) {
	verified, err := verifySigned(receipt, keys)
	if err != nil {
		return nil, nil, err
	}
	checkpoint, err := verified.checkIncluded(inclusion, keys)
	if err != nil {
		return nil, nil, err
	}
	return verified, checkpoint, nil
}

// checkIncluded accepts the date of a Receipt if it is within its key's time, or if there is an attestation to this
// exact Receipt.
func (v *VerifiedReceipt) checkIncluded(inclusion Inclusion, keys *ServiceKeys) (*Checkpoint, error) {
	checkpoint, attested, err := verifyReceiptInclusion(v.Receipt["receipt_id"].(string), inclusion, keys)
	switch {
	case err != nil:
		return nil, err
	case attested == SHA256(v.Receipt["receipt"].(string)):
		return checkpoint, nil
	case v.untimely != "":
		return nil, refuse("key-not-in-force", "%s", v.untimely)
	case attested != "":
		return nil, refuse("wrong-attestation", "the attestation is of another Receipt")
	}
	return checkpoint, nil
}

// VerifiedBundle is what a bundle proves.
type VerifiedBundle struct {
	Receipt    *VerifiedReceipt
	Checkpoint *Checkpoint
	// Evidence has the artifacts that are text, by hash.
	Evidence map[string]string
}

// VerifyBundle verifies a bundle, which is a Receipt with everything needed to verify it, with the service's pinned
// keys. The DID document in the bundle is not trusted, because a file cannot authenticate itself.
func VerifyBundle(text string, keys *ServiceKeys) (*VerifiedBundle, error) {
	if keys == nil {
		return nil, errNoKeys
	}
	parts := objectOf(text)
	if parts == nil || len(text) > 16*1_048_576 {
		return nil, refuse("malformed-bundle", "a bundle must be a JSON object")
	}
	missing := ""
	names := []string{"receipt", "inclusion", "checkpoint", "did_document", "evidence"}
	isEmpty := true
	for _, name := range names {
		if _, isThere := parts[name]; isThere {
			isEmpty = false
		} else if missing == "" {
			missing = name
		}
	}
	if isEmpty && parts["status"] == "pending" {
		return nil, refuse("inclusion-pending", "the day %v is not closed yet: ask for the bundle later", parts["day"])
	}
	if missing != "" {
		return nil, refuse("missing-member", "/%s is missing", missing)
	}
	receipt, err := ofPart(parts["receipt"], "malformed-receipt")
	if err != nil {
		return nil, err
	}
	verified, err := verifySigned(receipt, keys)
	if err != nil {
		return nil, err
	}
	evidence, err := checkEvidence(parts["evidence"], verified.Receipt["evidence"].(map[string]any))
	if err != nil {
		return nil, err
	}
	var inclusion Inclusion
	for _, part := range []struct {
		name, code string
		to         *string
	}{
		{"inclusion", "malformed-inclusion", &inclusion.Proof},
		{"checkpoint", "malformed-checkpoint", &inclusion.Checkpoint},
		{"attestation", "wrong-attestation", &inclusion.Attestation},
	} {
		if value, isThere := parts[part.name]; isThere {
			if *part.to, err = ofPart(value, part.code); err != nil {
				return nil, err
			}
		}
	}
	checkpoint, err := verified.checkIncluded(inclusion, keys)
	if err != nil {
		return nil, err
	}
	return &VerifiedBundle{verified, checkpoint, evidence}, nil
}

// ofPart returns the text of a part, which the bundle may contain as text or as an object.
func ofPart(value any, code string) (string, error) {
	if text, isText := value.(string); isText && text != "" {
		return text, nil
	}
	if _, isObject := value.(map[string]any); !isObject {
		return "", refuse(code, "this part of the bundle must be an object")
	}
	return Canonicalize(value)
}

const maxEvidenceItems = 16

func checkEvidence(value any, named map[string]any) (map[string]string, error) {
	items, ok := value.([]any)
	if !ok {
		return nil, refuse("malformed-member", "/evidence must be an array")
	}
	if len(items) > maxEvidenceItems {
		return nil, refuse("malformed-member", "/evidence must have at most %d items", maxEvidenceItems)
	}
	texts, hashes := map[string]string{}, map[any]bool{}
	for i, item := range items {
		fields, _ := item.(map[string]any)
		hash, _ := fields["hash"].(string)
		_, hasType := fields["content_type"].(string)
		body, hasBody := fields["body"].(string)
		if !is(sha256Form, hash) || !hasType || !hasBody {
			return nil, refuse("malformed-member", "/evidence/%d must be an object with hash, content_type and body", i)
		}
		if SHA256(body) != hash {
			// Bytes that are not text are in base64url; the hash shows which of the two it is.
			data, ok := decodeBase64url(body)
			if body = string(data); !ok || SHA256(body) != hash {
				return nil, refuse("wrong-evidence", "/evidence/%d has not the hash %s", i, hash)
			}
		}
		hashes[hash] = true
		if utf8.ValidString(body) {
			texts[hash] = body
		}
	}
	for member, name := range map[string]string{"issuer_resolution": "did_document_hash", "status": "credential_hash"} {
		if evidence, isThere := named[member].(map[string]any); isThere && !hashes[evidence[name]] {
			return nil, refuse("missing-evidence", "/receipt/evidence/%s/%s is not in the bundle", member, name)
		}
	}
	return texts, nil
}
