package svckit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"
)

type question struct {
	Op, Text, URL, Token, Key, Message, Signature, Seed, Document string
	Receipt, Inclusion, Checkpoint, Attestation, Leaf, Root       string
	Index, Size                                                   int64
	Path                                                          []string
	Headers                                                       map[string]string
	Secrets                                                       []string
	Subscription                                                  string
	Now                                                           int64
	KID                                                           string
	Allocation                                                    Allocation
	Capabilities, Audience                                        json.RawMessage
	ValidFrom                                                     int64 `json:"valid_from"`
	LifetimeSeconds                                               int64 `json:"lifetime_seconds"`
	Request                                                       struct {
		Method, URL, Audience, JTI string
		GrantID                    string `json:"grant_id"`
		Now                        int64
		Action                     json.RawMessage
	}
}

// TestDifferential answers the questions of `npm run kits`: it reads one JSON object per line and writes one JSON value
// per line.
func TestDifferential(t *testing.T) {
	if os.Getenv("SVC_KIT_DIFFERENTIAL") == "" {
		t.Skip("asked by npm run kits")
	}
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			// Exits before the test framework writes lines of its own, which are not answers.
			os.Exit(0)
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(answer(asked))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "%s\n", answer)
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

// orCode returns the code of the error.
func orCode(err error) any { return map[string]string{"code": CodeOf(err)} }

func canonicalOrNil(value any, err error) any {
	if err == nil {
		if text, err := Canonicalize(value); err == nil {
			return text
		}
	}
	return nil
}

func answer(asked question) any {
	text := string(unhex(asked.Text))
	switch asked.Op {
	case "json":
		return canonicalOrNil(ParseJSON(text))
	case "jcs":
		return canonicalOrNil(ParseJSONOfAnyNumbers(text))
	case "htu":
		if normal, ok := NormalizeHTU(string(unhex(asked.URL))); ok {
			return normal
		}
		return nil
	case "jti":
		return IsJTI(text)
	case "didWeb":
		return isDidWeb(text)
	case "time":
		if ms, ok := parseTime(text); ok {
			return ms
		}
		return nil
	case "ed25519":
		return verifyStrict(unhex(asked.Key), unhex(asked.Message), unhex(asked.Signature))
	case "strictKey":
		return isStrictPublicKey(unhex(asked.Key))
	case "action":
		value, err := ParseJSON(text)
		return err == nil && CheckAction(value) == nil
	case "proof":
		p, err := ParseProof(string(unhex(asked.Token)))
		if err != nil {
			return nil
		}
		return []any{p.Agent, p.Audience, p.GrantID, p.Method, p.URL, p.IAT, p.JTI, p.IsSigned()}
	case "grant":
		g, err := ParseGrant(string(unhex(asked.Token)))
		if err != nil {
			return orCode(err)
		}
		return []any{g.KID, g.ID, g.Issuer, g.Agent, g.ValidFrom, g.ValidUntil, g.Audience, g.BudgetProblem == ""}
	case "merkle":
		var path [][]byte
		for _, step := range asked.Path {
			path = append(path, unhex(step))
		}
		return verifyInclusion(unhex(asked.Leaf), asked.Index, asked.Size, path, unhex(asked.Root))
	case "bitstring":
		if bits, ok := decodeBitstring(text); ok {
			sum := sha256.Sum256(bits)
			return hex.EncodeToString(sum[:])
		}
		return nil
	case "webhook":
		return eventOrNil(asked, text)
	case "signGrant":
		return grantOrNil(asked)
	case "signProof":
		return signedOrNil(asked)
	}
	return answerOfService(asked, text)
}

func answerOfService(asked question, text string) any {
	keys, err := ReadServiceKeys(asked.Document)
	if err != nil {
		return orCode(err)
	}
	switch asked.Op {
	case "receipt", "dryRun":
		verified, err := VerifyReceipt(text, keys)
		if err != nil {
			return orCode(err)
		}
		return []any{verified.Decision, verified.KID}
	case "statusList":
		list, err := VerifyStatusList(text, keys)
		if err != nil {
			return orCode(err)
		}
		sum := sha256.Sum256(list.bits)
		return []any{list.URL, list.ValidFrom, hex.EncodeToString(sum[:])}
	case "checkpoint":
		checkpoint, err := VerifyCheckpoint(text, keys)
		if err != nil {
			return orCode(err)
		}
		return []any{checkpoint.Day, checkpoint.Root, checkpoint.KID}
	case "included":
		inclusion := Inclusion{asked.Inclusion, asked.Checkpoint, asked.Attestation}
		verified, checkpoint, err := VerifyIncludedReceipt(asked.Receipt, inclusion, keys)
		if err != nil {
			return orCode(err)
		}
		return []any{verified.Decision, checkpoint.Day}
	case "bundle":
		verified, err := VerifyBundle(text, keys)
		if err != nil {
			return orCode(err)
		}
		return []any{verified.Receipt.Decision, verified.Checkpoint.Day, len(verified.Evidence)}
	}
	return "no such op"
}

func eventOrNil(asked question, text string) any {
	trust := WebhookTrust{Secrets: asked.Secrets, SubscriptionID: asked.Subscription, Now: time.Unix(asked.Now, 0)}
	if asked.Document != "" {
		keys, err := ReadServiceKeys(asked.Document)
		if err != nil {
			return nil
		}
		trust.Keys = keys
	}
	header := http.Header{}
	for name, value := range asked.Headers {
		header[name] = []string{value}
	}
	event, err := VerifyWebhook(header, []byte(text), trust)
	if err != nil {
		return nil
	}
	return []any{event.ID, event.Type, event.Timestamp, event.SubscriptionID, canonicalOrNil(event.Data, nil)}
}

func grantOrNil(asked question) any {
	signer, err := NewSigner(unhex(asked.Seed), asked.KID)
	if err != nil {
		return nil
	}
	capabilities, err := ParseJSON(string(asked.Capabilities))
	list, ok := capabilities.([]any)
	var audience []string
	if err != nil || !ok || json.Unmarshal(asked.Audience, &audience) != nil {
		return nil
	}
	grant, err := SignGrant(signer, asked.Allocation, GrantRequest{
		Capabilities: list, Audience: audience, AnyAudience: audience == nil, ValidFrom: time.Unix(asked.ValidFrom, 0), Lifetime: time.Duration(asked.LifetimeSeconds) * time.Second,
	})
	if err != nil {
		return nil
	}
	return grant
}

func signedOrNil(asked question) any {
	action, err := ParseJSON(string(asked.Request.Action))
	object, ok := action.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	proof, err := SignProof(mustAgent(unhex(asked.Seed)), ProofRequest{
		GrantID: asked.Request.GrantID, Audience: asked.Request.Audience, Method: asked.Request.Method, URL: asked.Request.URL,
		Action: object, Now: time.Unix(asked.Request.Now, 0), JTI: asked.Request.JTI,
	})
	if err != nil {
		return nil
	}
	return proof
}
