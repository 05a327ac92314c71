package svckit

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"
)

// No exported function or method panics, whatever its arguments.

// exported contains all of them by name.
var exported = map[string]any{
	"APICall": APICall, "Canonicalize": Canonicalize, "CheckAction": CheckAction, "CodeOf": CodeOf, "IsJTI": IsJTI,
	"NewAgent": NewAgent, "NewEventSubscriptions": NewEventSubscriptions, "NewPrincipal": NewPrincipal, "NewRelyingParty": NewRelyingParty,
	"NewSigner": NewSigner, "NormalizeHTU": NormalizeHTU, "ParseGrant": ParseGrant, "ParseJSON": ParseJSON,
	"ParseJSONOfAnyNumbers": ParseJSONOfAnyNumbers, "ParseProof": ParseProof, "Purchase": Purchase, "ReadServiceKeys": ReadServiceKeys,
	"RequestHash": RequestHash, "SHA256": SHA256, "SignGrant": SignGrant, "SignProof": SignProof, "VerifyBundle": VerifyBundle,
	"VerifyCheckpoint": VerifyCheckpoint, "VerifyIncludedReceipt": VerifyIncludedReceipt, "VerifyInclusion": VerifyInclusion,
	"VerifyReceipt": VerifyReceipt, "VerifyStatusList": VerifyStatusList, "VerifyWebhook": VerifyWebhook,
	"EventSubscriptions.Create": (*EventSubscriptions).Create, "EventSubscriptions.Delete": (*EventSubscriptions).Delete,
	"EventSubscriptions.Deliveries": (*EventSubscriptions).Deliveries, "EventSubscriptions.Disable": (*EventSubscriptions).Disable,
	"EventSubscriptions.Enable": (*EventSubscriptions).Enable, "EventSubscriptions.List": (*EventSubscriptions).List,
	"EventSubscriptions.ReplayFrom": (*EventSubscriptions).ReplayFrom, "EventSubscriptions.ReplaySince": (*EventSubscriptions).ReplaySince,
	"EventSubscriptions.Rotate": (*EventSubscriptions).Rotate, "EventSubscriptions.Test": (*EventSubscriptions).Test,
	"Grant.IsSignedBy": (*Grant).IsSignedBy, "Principal.Issue": (*Principal).Issue, "Principal.Revoke": (*Principal).Revoke,
	"Proof.IsSigned": (*Proof).IsSigned, "Refused.Error": (*Refused).Error, "RelyingParty.Verify": (*RelyingParty).Verify,
	"ServiceError.Error": (*ServiceError).Error, "ServiceError.Unwrap": (*ServiceError).Unwrap,
	"StatusList.Entries": (*StatusList).Entries, "StatusList.IsRevoked": (*StatusList).IsRevoked,
}

func TestEveryExportedFunctionIsAmongThem(t *testing.T) {
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for file, parsed := range packages["svckit"].Files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, declared := range parsed.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || !function.Name.IsExported() {
				continue
			}
			name := function.Name.Name
			if function.Recv != nil {
				receiver := function.Recv.List[0].Type
				if pointer, ok := receiver.(*ast.StarExpr); ok {
					receiver = pointer.X
				}
				of := receiver.(*ast.Ident)
				if !of.IsExported() {
					continue
				}
				name = of.Name + "." + name
			}
			found[name] = true
			if exported[name] == nil {
				t.Error(name, "is not in the table")
			}
		}
	}
	if len(found) != len(exported) {
		t.Error(len(found), "are exported, and", len(exported), "in the table")
	}
}

// inputs makes arguments of any type: nil, empty, too long, malformed, and valid.
type inputs struct {
	*rand.Rand
	texts   []string
	made    map[reflect.Type][]any
	address string
}

var wrongTexts = []string{
	"", "\x00", "\xff\xfe", "\xed\xa0\x80", strings.Repeat("x", 100_000), strings.Repeat("[", 5_000), "{}", "[]", "null", `{"a":1,"a":2}`, "a.b.c", "..",
	"e30.e30.AA", "did:web:", "did:key:z6Mk", "did:key:", "https://[", "https://[]", "https://a", "http://a:99999/", "urn:svc:grant:", "whsec_", "whs_",
	"drc_01M7VZGA1GB9D5MPJTB9D5MPJT", "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT", "whs_01M7VZGC008Q2R7V9X1C4E6H8R", "did:web:shop.example", "POST",
	`{"receipt":1}`, `{"receipt":"a.b.c"}`, `{"status":"pending"}`, `{"id":"did:web:a.example","verificationMethod":[1,{"id":"#x"}]}`,
}

func (in *inputs) text() string { return in.texts[in.Intn(len(in.texts))] }

func (in *inputs) json(depth int) any {
	switch in.Intn(9) {
	case 0:
		return nil
	case 1:
		return in.Intn(2) == 0
	case 2:
		return []any{0, -1, int64(math.MaxInt64), int64(math.MinInt64), 42_700}[in.Intn(5)]
	case 3:
		return []any{math.NaN(), math.Inf(1), 1e300, int32(1), struct{}{}, func() {}}[in.Intn(6)]
	case 4, 5:
		return in.text()
	case 6:
		return []any{in.text(), depth}
	}
	object := map[string]any{}
	for i := in.Intn(6); i > 0 && depth > 0; i-- {
		object[[]string{"type", "resource", "amount", "currency", "method", "id", "action", "constraints", in.text()}[in.Intn(9)]] = in.json(depth - 1)
	}
	return object
}

func (in *inputs) valueOf(wanted reflect.Type) reflect.Value {
	if made := in.made[wanted]; len(made) > 0 && in.Intn(2) == 0 {
		return reflect.ValueOf(made[in.Intn(len(made))])
	}
	value := reflect.New(wanted).Elem()
	// The zero value, which is nil for many types.
	if in.Intn(4) == 0 {
		return value
	}
	switch {
	case wanted == reflect.TypeOf(time.Time{}):
		return reflect.ValueOf(time.Unix(in.Int63()-in.Int63(), 0))
	case wanted == reflect.TypeOf((*error)(nil)).Elem():
		return reflect.ValueOf([]error{errors.New("x"), (*Refused)(nil), (*ServiceError)(nil), &Refused{}}[in.Intn(4)])
	case wanted == reflect.TypeOf((*context.Context)(nil)).Elem():
		over, cancel := context.WithCancel(context.Background())
		if in.Intn(2) == 0 {
			cancel()
		}
		_ = cancel
		return reflect.ValueOf(over)
	}
	switch wanted.Kind() {
	case reflect.String:
		value.SetString(in.text())
	case reflect.Bool:
		value.SetBool(in.Intn(2) == 0)
	case reflect.Int, reflect.Int64:
		value.SetInt([]int64{-1, 1, math.MaxInt64, math.MinInt64, int64(time.Millisecond)}[in.Intn(5)])
	case reflect.Interface:
		if given := in.json(3); given != nil && wanted.NumMethod() == 0 {
			value.Set(reflect.ValueOf(given))
		}
	case reflect.Slice:
		for i := in.Intn(5); i > 0; i-- {
			value = reflect.Append(value, in.valueOf(wanted.Elem()))
		}
	case reflect.Map:
		value.Set(reflect.MakeMap(wanted))
		for i := in.Intn(5); i > 0; i-- {
			value.SetMapIndex(reflect.ValueOf(in.text()), in.valueOf(wanted.Elem()))
		}
	case reflect.Pointer:
		value.Set(reflect.New(wanted.Elem()))
		in.fill(value.Elem())
	case reflect.Struct:
		in.fill(value)
	}
	return value
}

func (in *inputs) fill(record reflect.Value) {
	for i := 0; record.Kind() == reflect.Struct && i < record.NumField(); i++ {
		if field := record.Field(i); field.CanSet() {
			field.Set(in.valueOf(field.Type()))
		}
	}
}

func (in *inputs) add(of any) {
	kind := reflect.TypeOf(of)
	in.made[kind] = append(in.made[kind], of)
}

func newInputs(t *testing.T) *inputs {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }))
	t.Cleanup(server.Close)
	to := Connection{BaseURL: server.URL, APIKey: "dk_secret", Timeout: 100 * time.Millisecond}
	keys, seeds := loadKeys(t)
	in := &inputs{rand.New(rand.NewSource(1)), wrongTexts, map[reflect.Type][]any{}, server.URL}
	for _, seed := range seeds {
		agent, signer := mustAgent(seed), mustSigner(seed, "did:web:acme.example#key-1")
		proof, err := SignProof(agent, ProofRequest{
			GrantID: "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT", Audience: "did:web:shop.example", Method: "POST", URL: "https://a",
			Action: Purchase("order/7", 1, "USD"),
		})
		if err != nil {
			t.Fatal(err)
		}
		in.texts = append(in.texts, proof)
		in.add(agent)
		in.add(signer)
		principal, err := NewPrincipal(to, signer)
		if err != nil {
			t.Fatal(err)
		}
		in.add(principal)
		break
	}
	shop, _ := NewRelyingParty(to, keys, "did:web:shop.example")
	events, _ := NewEventSubscriptions(to)
	bad := Signer{"k", func([]byte) ([]byte, error) { return nil, nil }}
	for _, made := range []any{
		to, keys, &ServiceKeys{}, shop, &RelyingParty{}, events, &EventSubscriptions{}, &Principal{}, bad, Agent{bad, ""}, &http.Client{},
		make([]byte, 32), make([]byte, 5), Purchase("order/7", 1, "USD"), Action{"type": []any{}}, http.Header{"webhook-id": nil}, webhookHeaders("v1,AAAA"),
	} {
		in.add(made)
	}
	bundle := readFile(t, "../../examples/bundle/bundle.json")
	in.texts = append(in.texts, bundle, readFile(t, "../../examples/bundle/did.json"))
	// Well-formed values reach more of the code than malformed ones.
	parts := objectOf(bundle)
	for _, part := range []any{parts["receipt"], parts["inclusion"], parts["checkpoint"]} {
		record := part.(map[string]any)
		text, err := Canonicalize(record)
		if err != nil {
			t.Fatal(err)
		}
		in.texts = append(in.texts, text)
		for _, name := range []string{"checkpoint", "receipt_id"} {
			if member, ok := record[name].(string); ok {
				in.texts = append(in.texts, member)
			}
		}
	}
	for _, one := range parts["evidence"].([]any) {
		in.texts = append(in.texts, one.(map[string]any)["body"].(string))
	}
	return in
}

func TestNoExportedFunctionPanics(t *testing.T) {
	in := newInputs(t)
	names := []string{}
	for name := range exported {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		function := reflect.ValueOf(exported[name])
		for i := 0; i < 4_000; i++ {
			arguments := make([]reflect.Value, function.Type().NumIn())
			for at := range arguments {
				arguments[at] = in.valueOf(function.Type().In(at))
				// In the round in which all arguments are nil, this is the nil of the interface.
				if i == 0 {
					arguments[at] = reflect.Zero(function.Type().In(at))
				}
			}
			func() {
				defer func() {
					if problem := recover(); problem != nil {
						t.Errorf("%s panics: %v", name, problem)
					}
				}()
				function.Call(arguments)
			}()
		}
	}
}

// FuzzTexts begins with these seeds; go test -fuzz FuzzTexts makes more inputs.
func FuzzTexts(f *testing.F) {
	for _, text := range wrongTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys := &ServiceKeys{DID: "did:web:svc.example"}
		if made, err := ReadServiceKeys(text); err == nil {
			keys = made
		}
		for _, read := range []func() error{
			func() error { _, err := ParseGrant(text); return err },
			func() error { _, err := ParseProof(text); return err },
			func() error { _, err := VerifyReceipt(text, keys); return err },
			func() error { _, err := VerifyBundle(text, keys); return err },
			func() error { _, err := VerifyCheckpoint(text, keys); return err },
			func() error { _, err := VerifyStatusList(text, keys); return err },
			func() error { _, err := VerifyInclusion(text, Inclusion{text, text, text}, keys); return err },
		} {
			if err := read(); err != nil && CodeOf(err) == "" {
				t.Error("an error without a code:", err)
			}
		}
		NormalizeHTU(text)
		if value, err := ParseJSONOfAnyNumbers(text); err == nil {
			if _, err := Canonicalize(value); err != nil {
				t.Error("what is JSON has a canonical form:", err)
			}
			_ = CheckAction(value)
		}
		_, _ = VerifyWebhook(http.Header{"Webhook-Id": {text}, "Webhook-Timestamp": {text}, "Webhook-Signature": {text}}, []byte(text), WebhookTrust{Secrets: []string{secretOf(1)}})
	})
}
