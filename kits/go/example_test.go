package svckit_test

import (
	"fmt"
	"os"
	"time"

	"svckit"
)

// A bundle is a Receipt with everything needed to verify it. The service's DID document is pinned.
func ExampleVerifyBundle() {
	document, _ := os.ReadFile("../../examples/bundle/did.json")
	bundle, _ := os.ReadFile("../../examples/bundle/bundle.json")
	keys, err := svckit.ReadServiceKeys(string(document))
	if err != nil {
		panic(err)
	}
	verified, err := svckit.VerifyBundle(string(bundle), keys)
	if err != nil {
		panic(err) // svckit.CodeOf(err) says what is wrong
	}
	fmt.Println(verified.Receipt.Decision, verified.Checkpoint.Day)
	// Output: ALLOW 2026-11-20
}

func ExampleSignProof() {
	agent, err := svckit.NewAgent(make([]byte, 32)) // 32 random bytes, kept secret
	if err != nil {
		panic(err)
	}
	proof, err := svckit.SignProof(agent, svckit.ProofRequest{
		GrantID:  "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT",
		Audience: "did:web:shop.example",
		Method:   "POST",
		URL:      "https://shop.example/checkout",
		Action:   svckit.Purchase("order/7", 42_700, "USD"),
		Now:      time.Unix(1_795_168_798, 0),
	})
	if err != nil {
		panic(err)
	}
	read, _ := svckit.ParseProof(proof)
	fmt.Println(read.Method, read.URL, read.IsSigned())
	// Output: POST https://shop.example/checkout true
}
