// Command purchase is a Principal, an Agent and a relying party, against a service; the ids and keys are in the environment.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"svckit"
)

func main() {
	ctx, service, shopDID := context.Background(), os.Getenv("SVC_URL"), os.Getenv("SHOP_DID")
	keys, err := svckit.ReadServiceKeys(fetch(service + "/.well-known/did.json")) // pin it, and hold its DID against what the operator says
	check(err)

	// A Principal lets an Agent spend up to 500.00 USD on any order of this shop.
	seed, err := hex.DecodeString(os.Getenv("PRINCIPAL_SEED"))
	check(err)
	signer, err := svckit.NewSigner(seed, os.Getenv("PRINCIPAL_DID")+"#key-1")
	check(err)
	principal, err := svckit.NewPrincipal(svckit.Connection{BaseURL: service, APIKey: os.Getenv("SVC_PRINCIPAL_KEY")}, signer)
	check(err)
	agent := newAgent()
	grant, err := principal.Issue(ctx, agent.DID, svckit.GrantRequest{
		Capabilities: []any{map[string]any{
			"action": "commerce:purchase", "constraints": map[string]any{"maxAmount": 50_000, "currency": "USD"}, "resources": []any{"order/*"},
		}},
		Audience: []string{shopDID}, Lifetime: svckit.DefaultLifetime,
	})
	check(err)
	issued, err := svckit.ParseGrant(grant)
	check(err)

	// The relying party asks. What it is told has been checked: the Receipt, and that it is about this request.
	shop, err := svckit.NewRelyingParty(svckit.Connection{BaseURL: service, APIKey: os.Getenv("SVC_RP_KEY")}, keys, shopDID)
	check(err)
	action, method, url := svckit.Purchase("order/7", 42_700, "USD"), "POST", "https://shop.example/checkout"
	prove := func() string { // the Agent signs a Proof for one request to one relying party
		proof, err := svckit.SignProof(agent, svckit.ProofRequest{GrantID: issued.ID, Audience: shopDID, Method: method, URL: url, Action: action})
		check(err)
		return proof
	}
	ask := func(proof string) {
		decision, err := shop.Verify(ctx, svckit.VerifyRequest{Grant: grant, Proof: proof, Action: action, Method: method, URL: url})
		check(err)
		fmt.Println(decision.Allowed, decision.Reason)
	}
	proof := prove()
	ask(proof) // true
	ask(proof) // false PROOF_REPLAYED

	_, err = principal.Revoke(ctx, issued.ID) // from here on: DENY
	check(err)
	ask(prove()) // false AUTHORITY_REVOKED
}

func newAgent() svckit.Agent {
	seed := make([]byte, 32)
	_, err := rand.Read(seed)
	check(err)
	agent, err := svckit.NewAgent(seed)
	check(err)
	return agent
}

func fetch(url string) string {
	answer, err := http.Get(url)
	check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	check(err)
	return string(text)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
