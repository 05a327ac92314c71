package svckit

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

// attestedDay is a day whose status key ended one second before the day was closed, so that an attestation decides.
type attestedDay struct {
	keys                         *ServiceKeys
	receiptID, proof, checkpoint string
	// closedAt is 2026-11-21T00:00:01Z.
	closedAt   int64
	attestedAt func(int64) string
}

func closeAttestedDay(t *testing.T) attestedDay {
	t.Helper()
	const (
		did       = "did:web:svc.example"
		receiptID = "drc_01M7VZGC008Q2R7V9X1C4E6H8K"
		closedAt  = int64(1_795_219_201)
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
	return attestedDay{keys, receiptID, proof, checkpoint, closedAt, attestedAt}
}

func TestAKeyThatHasEndedVouchesForNoLaterCheckpointWhateverDateItGivesItsAttestation(t *testing.T) {
	day := closeAttestedDay(t)
	for name, c := range map[string]struct{ attestation, code string }{
		"none":                        {"", "key-not-in-force"},
		"one dated as it was":         {day.attestedAt(day.closedAt), "key-not-in-force"},
		"one dated before":            {day.attestedAt(day.closedAt - 301), "wrong-attestation"},
		"one of a clock that is late": {day.attestedAt(day.closedAt - 300), ""},
	} {
		_, err := VerifyInclusion(day.receiptID, Inclusion{Proof: day.proof, Attestation: c.attestation}, day.keys)
		if CodeOf(err) != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatStandsBesideTheJWSOfACheckpointIsWhatWasSignedInTypeToo(t *testing.T) {
	day := closeAttestedDay(t)
	for shown, code := range map[string]string{"1": "", "true": "payload-mismatch", "2": "payload-mismatch", `"1"`: "payload-mismatch", "null": "payload-mismatch"} {
		record := `{"tree_size":` + shown + `,"checkpoint":"` + day.checkpoint + `"}`
		_, err := VerifyInclusion(day.receiptID, Inclusion{day.proof, record, day.attestedAt(day.closedAt - 300)}, day.keys)
		if CodeOf(err) != code || (err == nil) != (code == "") {
			t.Errorf("tree_size %s: %v", shown, err)
		}
	}
}

// All libraries accept the same white space here.
func TestTheWhiteSpaceOfJSONMayStandAroundAJWSAndNothingElse(t *testing.T) {
	day := closeAttestedDay(t)
	attestation := day.attestedAt(day.closedAt - 300)
	var shared struct{ Taken, Refused []string }
	if err := json.Unmarshal([]byte(readFile(t, "../white-space.json")), &shared); err != nil || len(shared.Taken) == 0 || len(shared.Refused) == 0 {
		t.Fatal(err)
	}
	codeOf := func(checkpoint, attestation string) string {
		_, err := VerifyInclusion(day.receiptID, Inclusion{day.proof, checkpoint, attestation}, day.keys)
		if err == nil {
			return ""
		}
		return CodeOf(err)
	}
	for _, around := range shared.Taken {
		if code := codeOf(around+day.checkpoint+around, around+attestation+around); code != "" {
			t.Errorf("%q: %s", around, code)
		}
	}
	for _, around := range shared.Refused {
		for _, checkpoint := range []string{around + day.checkpoint, day.checkpoint + around} {
			if code := codeOf(checkpoint, attestation); code != "other-checkpoint" {
				t.Errorf("%q around a checkpoint: %q", around, code)
			}
		}
		if code := codeOf("", around+attestation+around); code != "wrong-attestation" {
			t.Errorf("%q around an attestation: %q", around, code)
		}
	}
}

// Evidence in a bundle is the text, or its bytes in the only valid spelling of base64url.
func TestEvidenceInAnotherSpellingIsRefused(t *testing.T) {
	keys, err := ReadServiceKeys(readFile(t, "../../examples/bundle/did.json"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(change func(evidence []any) []any) string {
		parts := objectOf(readFile(t, "../../examples/bundle/bundle.json"))
		parts["evidence"] = change(parts["evidence"].([]any))
		bundle, err := Canonicalize(parts)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = VerifyBundle(bundle, keys); err == nil {
			return ""
		}
		return CodeOf(err)
	}
	for added, code := range map[string]string{
		"": "", "\n": "wrong-evidence", "\r\n": "wrong-evidence", "=": "wrong-evidence", " ": "wrong-evidence", "!": "wrong-evidence", ".AAAA": "wrong-evidence",
	} {
		for at := 0; at < 2; at++ {
			if is := check(func(evidence []any) []any {
				item := evidence[at].(map[string]any)
				item["body"] = encodeBase64url([]byte(item["body"].(string))) + added
				return evidence
			}); is != code {
				t.Errorf("evidence %d with %q added: %q", at, added, is)
			}
		}
	}
	// The largest allowed number of items, and one more.
	for count, code := range map[int]string{16: "", 17: "malformed-member"} {
		if is := check(func(evidence []any) []any {
			for len(evidence) < count {
				evidence = append(evidence, evidence[0])
			}
			return evidence
		}); is != code {
			t.Errorf("%d items of evidence: %q", count, is)
		}
	}
	// An undecodable text does not count as no bytes.
	for _, body := range []string{"!", "\n", "=", "A"} {
		if is := check(func(evidence []any) []any {
			return append(evidence, map[string]any{"hash": SHA256(""), "content_type": "", "body": body})
		}); is != "wrong-evidence" {
			t.Errorf("%q as nothing: %q", body, is)
		}
	}
}
