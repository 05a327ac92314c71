package svckit

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestAKeyThatHasEndedVouchesForNoLaterCheckpointWhateverDateItGivesItsAttestation(t *testing.T) {
	const (
		did       = "did:web:svc.example"
		receiptID = "drc_01M7VZGC008Q2R7V9X1C4E6H8K"
		// 2026-11-21T00:00:01Z, a second after the end of the status key.
		closedAt = int64(1_795_219_201)
	)
	_, seeds := loadKeys(t)
	signer := mustSigner(seeds["service status 1"], did+"#status-1")
	method := `"id":"` + signer.KID + `",`
	var given testKeys
	load(t, "keys.json", &given)
	document, err := Canonicalize(objectOf(string(given.Document)))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ReadServiceKeys(strings.Replace(document, method, method+`"svc:validUntil":"2026-11-21T00:00:00Z",`, 1))
	if err != nil {
		t.Fatal(err)
	}
	sign := func(typ string, payload map[string]any) string {
		jws, err := signJWS(signer, typ, payload)
		if err != nil {
			t.Fatal(err)
		}
		return jws
	}
	leaf := hex.EncodeToString(hashLeaf(receiptID))
	checkpoint := sign("svc-checkpoint+jwt", map[string]any{
		"day": "2026-11-20", "root": "sha256:" + leaf, "tree_size": int64(1), "tree": "rfc6962-sha256", "iss": did, "iat": closedAt,
		"first_receipt_id": receiptID, "last_receipt_id": receiptID, "previous_root": nil,
	})
	proof, err := Canonicalize(map[string]any{
		"day": "2026-11-20", "root": "sha256:" + leaf, "tree_size": int64(1), "receipt_id": receiptID, "leaf": leaf, "leaf_index": int64(0),
		"audit_path": []any{}, "checkpoint": checkpoint, "kid": signer.KID,
	})
	if err != nil {
		t.Fatal(err)
	}
	attestedAt := func(at int64) string {
		return sign("svc-attestation+jwt", map[string]any{
			"iss": did, "receipt_id": receiptID, "receipt_hash": SHA256("x"), "checkpoint_hash": SHA256(checkpoint), "iat": at,
		})
	}
	for name, c := range map[string]struct{ attestation, code string }{
		"none":                        {"", "key-not-in-force"},
		"one dated as it was":         {attestedAt(closedAt), "key-not-in-force"},
		"one dated before":            {attestedAt(closedAt - 301), "wrong-attestation"},
		"one of a clock that is late": {attestedAt(closedAt - 300), ""},
	} {
		_, err := VerifyInclusion(receiptID, Inclusion{Proof: proof, Attestation: c.attestation}, keys)
		if CodeOf(err) != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
