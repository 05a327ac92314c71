package svckit

import (
	"context"
	"strings"
	"testing"
	"time"
)

// Members whose absence would allow more cannot be left out by mistake.

func grantRequest(change func(*GrantRequest)) GrantRequest {
	request := GrantRequest{
		Capabilities: []any{purchaseOf(map[string]any{"maxAmount": 50_000, "currency": "USD"}, []any{"order/*"})},
		Audience:     []string{"did:web:shop.example"}, Lifetime: DefaultLifetime, ValidFrom: time.Unix(1_795_161_600, 0),
	}
	change(&request)
	return request
}

func purchaseOf(constraints map[string]any, resources any) map[string]any {
	return map[string]any{"action": "commerce:purchase", "constraints": constraints, "resources": resources}
}

func allocated() Allocation {
	allocation := Allocation{
		ID: "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT", Issuer: "did:web:acme.example", Agent: mustAgent(make([]byte, 32)).DID,
	}
	status := &allocation.Status
	status.Type, status.Purpose, status.Index = "BitstringStatusListEntry", "revocation", "7"
	status.Credential = "https://svc.example/status-lists/1"
	status.ID = status.Credential + "#7"
	return allocation
}

// signedWith returns the audience of the signed Grant.
func signedWith(t *testing.T, change func(*GrantRequest)) ([]string, error) {
	t.Helper()
	signer := mustSigner(make([]byte, 32), "did:web:acme.example#key-1")
	text, err := SignGrant(signer, allocated(), grantRequest(change))
	if err != nil {
		return nil, err
	}
	grant, err := ParseGrant(text)
	if err != nil {
		t.Fatal(err)
	}
	return grant.Audience, nil
}

func TestAGrantIsForTheRelyingPartiesThatAreNamedOrForAnyWhereThatIsSaid(t *testing.T) {
	audience, err := signedWith(t, func(*GrantRequest) {})
	if err != nil || len(audience) != 1 || audience[0] != "did:web:shop.example" {
		t.Error(audience, err)
	}
	audience, err = signedWith(t, func(r *GrantRequest) { r.Audience, r.AnyAudience = nil, true })
	if err != nil || audience != nil {
		t.Error(audience, err)
	}
}

func TestWhatIsEmptyNeverAllowsMore(t *testing.T) {
	constraints := func(name string, value any) func(*GrantRequest) {
		all := map[string]any{"maxAmount": 50_000, "currency": "USD", name: value}
		return func(r *GrantRequest) { r.Capabilities = []any{purchaseOf(all, []any{"order/*"})} }
	}
	resources := func(value any) func(*GrantRequest) {
		all := map[string]any{"maxAmount": 50_000, "currency": "USD"}
		return func(r *GrantRequest) { r.Capabilities = []any{purchaseOf(all, value)} }
	}
	for name, change := range map[string]func(*GrantRequest){
		"nothing named":         func(r *GrantRequest) { r.Audience = nil },
		"none left of a list":   func(r *GrantRequest) { r.Audience = []string{} },
		"some and any":          func(r *GrantRequest) { r.AnyAudience = true },
		"no capabilities":       func(r *GrantRequest) { r.Capabilities = nil },
		"no lifetime":           func(r *GrantRequest) { r.Lifetime = 0 },
		"an expiry in the past": func(r *GrantRequest) { r.Lifetime = -time.Hour },
		"less than a second":    func(r *GrantRequest) { r.Lifetime = time.Second - 1 },
		"resources nil":         resources(nil),
		"resources nil strings": resources([]string(nil)),
		"resources nil list":    resources([]any(nil)),
		"resources empty":       resources([]string{}),
		"maxAmount nil":         constraints("maxAmount", nil),
		"maxTotal nil":          constraints("maxTotal", nil),
		"maxUses nil":           constraints("maxUses", nil),
		"period nil":            constraints("period", nil),
	} {
		if audience, err := signedWith(t, change); CodeOf(err) != "GRANT_MALFORMED" {
			t.Error(name, audience, err)
		}
	}
}

func TestWhatWouldNotBeSignedIsNotAskedFor(t *testing.T) {
	to, received := scripted(t)
	principal, err := NewPrincipal(to, mustSigner(make([]byte, 32), "did:web:acme.example#key-1"))
	if err != nil {
		t.Fatal(err)
	}
	request := grantRequest(func(r *GrantRequest) { r.Audience = nil })
	if grant, err := principal.Issue(context.Background(), allocated().Agent, request); CodeOf(err) != "GRANT_MALFORMED" || grant != "" {
		t.Error(grant, err)
	}
	if len(*received) != 0 {
		t.Error(*received)
	}
}

func ulidOf(at time.Time) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	text := ""
	for shift := 45; shift >= 0; shift -= 5 {
		text += string(digits[at.UnixMilli()>>shift&31])
	}
	return text + "0000000000000000"
}

func TestAGrantBeginsASecondBeforeTheServiceAllocatedItUnlessTheClockHereIsMoreThanFiveMinutesOff(t *testing.T) {
	sign := func(ahead time.Duration, from time.Time) (string, time.Time, error) {
		at := time.Now().Add(-ahead)
		allocation := allocated()
		allocation.ID = "urn:svc:grant:" + ulidOf(at)
		request := grantRequest(func(r *GrantRequest) { r.ValidFrom = from })
		text, err := SignGrant(mustSigner(make([]byte, 32), "did:web:acme.example#key-1"), allocation, request)
		return text, at.Add(-time.Second).UTC().Truncate(time.Second), err
	}
	for _, ahead := range []time.Duration{0, 4 * time.Minute, -4 * time.Minute} {
		text, begin, err := sign(ahead, time.Time{})
		if err != nil {
			t.Fatal(ahead, err)
		}
		if grant, err := ParseGrant(text); err != nil || grant.ValidFrom != begin.Format(time.RFC3339) {
			t.Error(ahead, grant, err)
		}
	}
	for says, ahead := range map[string]time.Duration{"s ago: sign within five minutes": 6 * time.Minute, "s behind": -6 * time.Minute} {
		if text, _, err := sign(ahead, time.Time{}); err == nil || text != "" || !strings.Contains(err.Error(), says) {
			t.Error(says, text, err)
		}
		if _, _, err := sign(ahead, time.Unix(1_795_161_600, 0)); err != nil {
			t.Error(says, err)
		}
	}
}
