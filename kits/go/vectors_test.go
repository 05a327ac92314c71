package svckit

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Runs every vector of this repository that concerns a signer or a verifier, and those of others.

const vectors = "../../vectors/"

func load(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(vectors + path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(vectors+folder, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".json") {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatal("no files in ", folder, err)
	}
	return found
}

type testKeys struct {
	Keys []struct {
		Label    string
		Seed     string `json:"seed_hex"`
		Multikey string `json:"public_key_multibase"`
		DidKey   string `json:"did_key"`
	}
	Document json.RawMessage `json:"service_did_document"`
}

func loadKeys(t *testing.T) (*ServiceKeys, map[string][]byte) {
	t.Helper()
	var given testKeys
	load(t, "keys.json", &given)
	seeds := map[string][]byte{}
	for _, key := range given.Keys {
		seeds[key.Label] = unhex(key.Seed)
		agent := mustAgent(seeds[key.Label])
		if agent.DID != key.DidKey || encodeMultikey(decodeDidKey(agent.DID)) != key.Multikey {
			t.Errorf("%s is %s", key.Label, agent.DID)
		}
	}
	keys, err := ReadServiceKeys(string(given.Document))
	if err != nil {
		t.Fatal(err)
	}
	return keys, seeds
}

func TestKeys(t *testing.T) {
	_, seeds := loadKeys(t)
	ran(t, len(seeds), "keys")
}

// The vectors of others do not grow in number; the number of our own never falls below these.
var (
	exactly = map[string]int{
		"JSONTestSuite": 318, "the author of JCS": 6, "Wycheproof": 151, "Wycheproof, JWS": 401, "CCTV": 914, "speccheck": 12,
		"RFC 8032": 5, "RFC 8037": 1, "inclusion of others": 98, "did:key": 5,
	}
	atLeast = map[string]int{
		"jcs": 34, "htu": 127, "jti": 18, "keys": 7, "evaluate": 819, "roots": 22, "inclusion": 54, "checkpoints": 24, "status lists": 21,
	}
)

// ran prints the number of vectors, which `go test -v` shows.
func ran(t *testing.T, count int, what string) {
	t.Helper()
	if exact, isFixed := exactly[what]; isFixed && count != exact || !isFixed && (atLeast[what] == 0 || count < atLeast[what]) {
		t.Errorf("only %d vectors of %s, or too many", count, what)
	}
	t.Logf("%d vectors of %s", count, what)
}

func unhex(text string) []byte { data, _ := hex.DecodeString(text); return data }

func TestJCS(t *testing.T) {
	var given struct {
		Cases []struct {
			Description, JSON string
			Canonical, SHA256 *string
		}
	}
	load(t, "jcs.json", &given)
	ran(t, len(given.Cases), "jcs")
	for _, c := range given.Cases {
		value, err := ParseJSONOfAnyNumbers(c.JSON)
		canonical := ""
		if err == nil {
			canonical, err = Canonicalize(value)
		}
		if (err == nil) != (c.Canonical != nil) || err == nil && (canonical != *c.Canonical || SHA256(canonical) != *c.SHA256) {
			t.Errorf("%s: %q, %v", c.Description, canonical, err)
		}
	}
}

func TestHTU(t *testing.T) {
	var given struct {
		Cases []struct {
			Input    string
			Expected *string
		}
	}
	load(t, "htu.json", &given)
	ran(t, len(given.Cases), "htu")
	for _, c := range given.Cases {
		if normal, ok := NormalizeHTU(c.Input); ok != (c.Expected != nil) || ok && normal != *c.Expected {
			t.Errorf("%s: %q, %v", c.Input, normal, ok)
		}
	}
}

func TestJTI(t *testing.T) {
	var given struct {
		Cases []struct {
			Input    string
			Expected bool
		}
	}
	load(t, "jti.json", &given)
	ran(t, len(given.Cases), "jti")
	for _, c := range given.Cases {
		if IsJTI(c.Input) != c.Expected {
			t.Error(c.Input)
		}
	}
}

// The Receipt verifies and can be signed again. What the kit reads in the tokens agrees with the checks.
func TestEvaluate(t *testing.T) {
	keys, seeds := loadKeys(t)
	paths := files(t, "evaluate")
	ran(t, len(paths), "evaluate")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if problem := checkCase(string(text), keys, seeds["service receipt 1"]); problem != "" {
			t.Errorf("%s: %s", filepath.Base(path), problem)
		}
	}
}

func checkCase(text string, keys *ServiceKeys, seed []byte) string {
	var given struct {
		Input struct {
			Grant, Proof string
			Action       json.RawMessage
			RelyingParty struct{ Profile string } `json:"relying_party"`
		}
		Expected struct {
			Body    json.RawMessage
			Receipt string
		}
	}
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return err.Error()
	}
	body := objectOf(string(given.Expected.Body))
	signed, err := signJWS(mustSigner(seed, keys.DID+"#receipt-1"), "svc-receipt+jwt", body)
	if err != nil || signed != given.Expected.Receipt {
		return fmt.Sprint("signed again it is another: ", err)
	}
	checks := body["protocol"].(map[string]any)["checks"].(map[string]any)
	body["receipt"] = signed
	shown, _ := Canonicalize(body)
	if verified, err := VerifyReceipt(shown, keys); err != nil || verified.Decision != body["decision"] {
		return fmt.Sprint("not verified: ", err)
	}
	if SHA256(given.Input.Grant) != body["grant_hash"] || SHA256(given.Input.Proof) != body["proof_hash"] {
		return "hashes"
	}
	grant, err := ParseGrant(given.Input.Grant)
	isRead := err == nil && (grant.BudgetProblem == "" || given.Input.RelyingParty.Profile != "svc-base-v2")
	if isRead != (checks["P1"] == true) {
		return fmt.Sprint("P1: ", err)
	}
	if checks["P3"] == true && (grant.ID != body["grant_id"] || grant.ValidUntil != body["expires_at"]) {
		return "another Grant"
	}
	proof, err := ParseProof(given.Input.Proof)
	if (err == nil) != (checks["P8"] == true) || err == nil && proof.IsSigned() != (checks["P9"] == true) {
		return fmt.Sprint("P8 or P9: ", err)
	}
	action, err := ParseJSON(string(given.Input.Action))
	if err == nil {
		err = CheckAction(action)
	}
	if (err == nil) != (checks["P15"] == true) {
		return fmt.Sprint("P15: ", err)
	}
	if expected, isThere := body["request_hash"]; isThere {
		if hash, err := RequestHash(action.(map[string]any), proof.Method, proof.URL); err != nil || hash != expected {
			return "request_hash"
		}
	}
	return ""
}

func TestMerkle(t *testing.T) {
	keys, _ := loadKeys(t)
	var given struct {
		Receipts struct{ IDs []string }
		Roots    []struct {
			Size int
			Root string
		}
		Numbered []struct {
			Size int
			Root string
		}
		Inclusion []struct {
			Description, Leaf, Root string
			Index                   int64    `json:"leaf_index"`
			Size                    int64    `json:"tree_size"`
			Path                    []string `json:"audit_path"`
			Expected                bool
		}
		Checkpoints []struct {
			Description, Checkpoint string
			Expected                *Checkpoint
		}
	}
	load(t, "merkle.json", &given)
	ran(t, len(given.Roots)+len(given.Numbered), "roots")
	ran(t, len(given.Inclusion), "inclusion")
	ran(t, len(given.Checkpoints), "checkpoints")
	var ids [][]byte
	for _, id := range given.Receipts.IDs {
		ids = append(ids, hashLeaf(id))
	}
	for _, c := range given.Roots {
		if hex.EncodeToString(rootOf(ids[:c.Size])) != c.Root {
			t.Error("root of ", c.Size)
		}
	}
	for _, c := range given.Numbered {
		leaves := make([][]byte, c.Size)
		for i := range leaves {
			leaves[i] = hashLeaf(fmt.Sprint(i))
		}
		if hex.EncodeToString(rootOf(leaves)) != c.Root {
			t.Error("numbered root of ", c.Size)
		}
	}
	for _, c := range given.Inclusion {
		var path [][]byte
		for _, step := range c.Path {
			path = append(path, unhex(step))
		}
		if verifyInclusion(unhex(c.Leaf), c.Index, c.Size, path, unhex(c.Root)) != c.Expected {
			t.Error(c.Description)
		}
	}
	for _, c := range given.Checkpoints {
		checkpoint, err := VerifyCheckpoint(c.Checkpoint, keys)
		if (err == nil) != (c.Expected != nil) || err == nil && (checkpoint.Root != c.Expected.Root || checkpoint.Day != c.Expected.Day) {
			t.Error(c.Description, err)
		}
	}
}

func TestStatusLists(t *testing.T) {
	keys, _ := loadKeys(t)
	var given struct {
		Decode []struct {
			Description string
			Encoded     string `json:"encoded_list"`
			Expected    *struct {
				Entries int
				Set     []int
			}
		}
		Credentials []struct {
			Description, URL, Credential string
			Set                          []int
		}
	}
	load(t, "status-list.json", &given)
	ran(t, len(given.Decode)+len(given.Credentials), "status lists")
	entriesSet := func(list StatusList) string {
		set := []int{}
		for i := 0; i < list.Entries(); i++ {
			if isSet, _ := list.IsRevoked(i); isSet {
				set = append(set, i)
			}
		}
		return fmt.Sprint(set)
	}
	for _, c := range given.Decode {
		bits, ok := decodeBitstring(c.Encoded)
		if ok != (c.Expected != nil) || ok && (len(bits)*8 != c.Expected.Entries || entriesSet(StatusList{bits: bits}) != fmt.Sprint(c.Expected.Set)) {
			t.Error(c.Description)
		}
	}
	for _, c := range given.Credentials {
		list, err := VerifyStatusList(c.Credential, keys)
		if err != nil || list.URL != c.URL || entriesSet(*list) != fmt.Sprint(c.Set) {
			t.Error(c.Description, err)
		}
	}
}

// As the TypeScript library: accepts no text that must or may be refused, and of the rest all that strict JSON allows.
func TestJSONTestSuite(t *testing.T) {
	paths := files(t, "third-party/json-test-suite/test_parsing")
	ran(t, len(paths), "JSONTestSuite")
	read, accepted := map[string]int{}, map[string]int{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kind := filepath.Base(path)[:1]
		read[kind]++
		_, looseErr := ParseJSONOfAnyNumbers(string(text))
		if _, err := ParseJSON(string(text)); err == nil {
			accepted[kind]++
			if looseErr != nil {
				t.Error("only as strict JSON: ", path)
			}
		}
		if kind == "n" && looseErr == nil {
			t.Error(path)
		}
	}
	// The other 19 contain a number that is not an integer, U+0000, a duplicate member or a lone surrogate.
	if fmt.Sprint(read) != "map[i:35 n:188 y:95]" || fmt.Sprint(accepted) != "map[y:76]" {
		t.Error("read ", read, ", accepted ", accepted)
	}
}

func TestJCSOfItsAuthor(t *testing.T) {
	paths := files(t, "third-party/jcs/input")
	ran(t, len(paths), "the author of JCS")
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		expected, _ := os.ReadFile(strings.Replace(path, "/input/", "/output/", 1))
		value, err := ParseJSONOfAnyNumbers(string(text))
		if err != nil {
			t.Fatal(path, err)
		}
		if canonical, err := Canonicalize(value); err != nil || canonical != string(expected) {
			t.Error(path, err)
		}
	}
}

func TestEd25519OfOthers(t *testing.T) {
	var wycheproof struct {
		TestGroups []struct {
			PublicKey struct{ PK string }
			Tests     []struct{ Comment, Msg, Sig, Result string }
		}
	}
	load(t, "third-party/wycheproof/ed25519_test.json", &wycheproof)
	count := 0
	for _, group := range wycheproof.TestGroups {
		count += len(group.Tests)
		for _, c := range group.Tests {
			if verifyStrict(unhex(group.PublicKey.PK), unhex(c.Msg), unhex(c.Sig)) != (c.Result == "valid") {
				t.Error("wycheproof: ", c.Comment)
			}
		}
	}
	ran(t, count, "Wycheproof")
	var cctv []struct {
		Number        int
		Key, Sig, Msg string
		Flags         []string
	}
	load(t, "third-party/cctv-ed25519/ed25519vectors.json", &cctv)
	ran(t, len(cctv), "CCTV")
	for _, c := range cctv {
		if verifyStrict(unhex(c.Key), []byte(c.Msg), unhex(c.Sig)) != (len(c.Flags) == 0) {
			t.Error("CCTV ", c.Number)
		}
	}
	// Verifiers differ on each of these, so all are refused.
	var speccheck []struct {
		Message   string
		Key       string `json:"pub_key"`
		Signature string
	}
	load(t, "third-party/ed25519-speccheck/cases.json", &speccheck)
	ran(t, len(speccheck), "speccheck")
	for i, c := range speccheck {
		if verifyStrict(unhex(c.Key), unhex(c.Message), unhex(c.Signature)) {
			t.Error("speccheck ", i)
		}
	}
}

func TestEd25519OfTheRFC(t *testing.T) {
	var given struct {
		Tests []struct{ SecretKey, Message, Signature string }
	}
	load(t, "third-party/rfc/rfc8032-section-7.1.json", &given)
	ran(t, len(given.Tests), "RFC 8032")
	for _, c := range given.Tests {
		seed, message, signature := unhex(c.SecretKey), unhex(c.Message), unhex(c.Signature)
		key := ed25519.NewKeyFromSeed(seed)
		if hex.EncodeToString(ed25519.Sign(key, message)) != hex.EncodeToString(signature) || !verifyStrict(key[32:], message, signature) {
			t.Error(c)
		}
	}
}

func TestTokensOfOthers(t *testing.T) {
	var rfc8037 struct {
		JWK struct{ D, X string }
		JWS string
	}
	load(t, "third-party/rfc/rfc8037-appendix-a.json", &rfc8037)
	ran(t, 1, "RFC 8037")
	seed, _ := decodeBase64url(rfc8037.JWK.D)
	signingInput, signature := rfc8037.JWS[:strings.LastIndex(rfc8037.JWS, ".")], rfc8037.JWS[strings.LastIndex(rfc8037.JWS, ".")+1:]
	agent := mustAgent(seed)
	if signed, err := agent.Sign([]byte(signingInput)); err != nil || encodeBase64url(signed) != signature || encodeBase64url(decodeDidKey(agent.DID)) != rfc8037.JWK.X {
		t.Error("RFC 8037: ", err)
	}
	// Valid or not, none is EdDSA, so none is a Grant or a Proof.
	var wycheproof struct {
		TestGroups []struct{ Tests []struct{ JWS string } }
	}
	load(t, "third-party/wycheproof/json_web_signature_test.json", &wycheproof)
	count := 0
	for _, group := range wycheproof.TestGroups {
		for _, c := range group.Tests {
			count++
			_, grantErr := ParseGrant(c.JWS)
			if _, proofErr := ParseProof(c.JWS); grantErr == nil || proofErr == nil {
				t.Error(c.JWS)
			}
		}
	}
	ran(t, count, "Wycheproof, JWS")
}

func TestInclusionOfOthers(t *testing.T) {
	paths := files(t, "third-party/merkle-inclusion")
	ran(t, len(paths), "inclusion of others")
	for _, path := range paths {
		var c struct {
			Index    uint64   `json:"leafIdx"`
			Size     uint64   `json:"treeSize"`
			Root     string   `json:"root"`
			LeafHash string   `json:"leafHash"`
			Proof    []string `json:"proof"`
			WantErr  bool     `json:"wantErr"`
		}
		load(t, strings.TrimPrefix(path, vectors), &c)
		decode := func(text string) []byte { data, _ := base64.StdEncoding.DecodeString(text); return data }
		var steps [][]byte
		for _, step := range c.Proof {
			steps = append(steps, decode(step))
		}
		isIncluded := c.Index < 1<<53 && c.Size < 1<<53 && verifyInclusion(decode(c.LeafHash), int64(c.Index), int64(c.Size), steps, decode(c.Root))
		if isIncluded == c.WantErr {
			t.Error(path)
		}
	}
}

func TestDidKeyOfItsAuthors(t *testing.T) {
	var given map[string]json.RawMessage
	load(t, "third-party/did-key/ed25519-x25519.json", &given)
	ran(t, len(given), "did:key")
	for did := range given {
		if key := decodeDidKey(did); key == nil || "did:key:"+encodeMultikey(key) != did {
			t.Error(did)
		}
	}
}
