package svckit

import (
	"os"
	"strings"
	"testing"
)

func TestAJWSInPlaceOfItsReceiptIsCalledOne(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../examples/bundle/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	keys, err := ReadServiceKeys(read("did.json"))
	if err != nil {
		t.Fatal(err)
	}
	jws := objectOf(read("bundle.json"))["receipt"].(map[string]any)["receipt"].(string)
	_, err = VerifyReceipt(jws, keys)
	if CodeOf(err) != "malformed-receipt" || !strings.Contains(err.Error(), "this is a JWS: pass the whole answer") {
		t.Errorf("a JWS alone: %v", err)
	}
}

func TestAReceiptNamesExactlyTheChecksOfItsProfile(t *testing.T) {
	const v1, v2 = "svc-base-v1", "svc-base-v2"
	before := profiles[v2]
	defer func() { profiles[v2] = before }()
	with := before
	with.checks = readTable(strings.Replace(table, "\nT5+:", "\nP21:P3:GRANT_EXPIRED\nT5+:", 1))
	profiles[v2] = with
	bodyOf := func(profile string, ids ...string) *body {
		outcomes := map[string]any{}
		for _, check := range profiles[v1].checks {
			outcomes[check.id] = true
		}
		for _, id := range ids {
			outcomes[id] = true
		}
		return &body{all: map[string]any{"protocol": map[string]any{"profile": profile}}, outcomes: outcomes, profile: profiles[profile]}
	}
	for _, right := range []*body{bodyOf(v1), bodyOf(v2, "P21")} {
		if err := right.checkNamed(); err != nil {
			t.Error(err)
		}
	}
	if err := bodyOf(v1, "P21").checkNamed(); CodeOf(err) != "unknown-member" {
		t.Errorf("a check of another profile: %v", err)
	}
	if err := bodyOf(v2).checkNamed(); CodeOf(err) != "missing-member" {
		t.Errorf("without a check of its profile: %v", err)
	}
}
