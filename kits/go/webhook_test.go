package svckit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	webhookAt   = 1_795_000_000
	webhookTo   = "whs_01M7VZGC008Q2R7V9X1C4E6H8R"
	webhookBody = `{"type":"grant.revoked","timestamp":"2026-11-20T10:47:39.372Z","subscription_id":"` + webhookTo + `","data":{"grant_id":"g"}}`
)

func secretOf(filling byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(filling)), 32)))
}

func webhookInput(body string) string { return fmt.Sprintf("evt_1.%d.%s", webhookAt, body) }

func bySecret(secret, signed string) string {
	mac := hmac.New(sha256.New, decodeBase64(secret[len("whsec_"):]))
	mac.Write([]byte(signed))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func webhookHeaders(signature string) http.Header {
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", fmt.Sprint(webhookAt))
	header.Set("webhook-signature", signature)
	return header
}

func TestWebhook(t *testing.T) {
	keys, seeds := loadKeys(t)
	byKey := func(label, signed string) string {
		signature, _ := mustSigner(seeds[label], "").Sign([]byte(signed))
		return "v1a," + base64.StdEncoding.EncodeToString(signature)
	}
	status := ""
	for label := range seeds {
		if strings.HasPrefix(label, "service status") {
			status = label
		}
	}
	older, newer, signed := secretOf(1), secretOf(2), webhookInput(webhookBody)
	now := time.Unix(webhookAt, 0)
	bySecrets := WebhookTrust{Secrets: []string{older, newer}, Now: now}
	byService := WebhookTrust{Keys: keys, SubscriptionID: webhookTo, Now: now}
	both := bySecrets
	both.Keys, both.SubscriptionID = keys, webhookTo
	for name, c := range map[string]struct {
		signature string
		trust     WebhookTrust
	}{
		"by the older secret": {bySecret(older, signed), bySecrets},
		"by the newer secret": {bySecret(newer, signed), bySecrets},
		"by both":             {bySecret(newer, signed) + " " + bySecret(older, signed), WebhookTrust{Secrets: []string{older}, Now: now}},
		"beside another":      {"v9,AAAA " + bySecret(newer, signed), bySecrets},
		"by the service":      {byKey(status, signed), byService},
		"by either":           {byKey(status, signed), both},
	} {
		event, err := VerifyWebhook(webhookHeaders(c.signature), []byte(webhookBody), c.trust)
		if err != nil || event.ID != "evt_1" || event.Type != "grant.revoked" || event.Data["grant_id"] != "g" || event.SubscriptionID != webhookTo {
			t.Errorf("%s: %v, %v", name, event, err)
		}
	}
	elsewhere := both
	elsewhere.SubscriptionID = webhookTo[:len(webhookTo)-1] + "S"
	early, late := both, both
	early.Now, late.Now = now.Add(-301*time.Second), now.Add(301*time.Second)
	right := bySecret(older, signed)
	twice := webhookHeaders(right)
	twice.Add("webhook-id", "evt_1")
	spelt := webhookHeaders(right)
	spelt["webhook-id"] = []string{"evt_1"}
	missing := webhookHeaders(right)
	missing.Del("webhook-timestamp")
	for name, c := range map[string]struct {
		header http.Header
		body   string
		trust  WebhookTrust
	}{
		"another secret":         {webhookHeaders(bySecret(secretOf(3), signed)), webhookBody, both},
		"another body":           {webhookHeaders(right), webhookBody + " ", both},
		"another subscription":   {webhookHeaders(right), webhookBody, elsewhere},
		"too early":              {webhookHeaders(right), webhookBody, early},
		"too late":               {webhookHeaders(right), webhookBody, late},
		"a key for Receipts":     {webhookHeaders(byKey("service receipt 1", signed)), webhookBody, both},
		"v1a twice":              {webhookHeaders(byKey(status, signed) + " " + byKey(status, signed)), webhookBody, both},
		"no base64":              {webhookHeaders("v1,!!!"), webhookBody, both},
		"a header twice":         {twice, webhookBody, both},
		"a header in two forms":  {spelt, webhookBody, both},
		"a header missing":       {missing, webhookBody, both},
		"no object":              {webhookHeaders(bySecret(older, webhookInput("[]"))), "[]", both},
		"no event":               {webhookHeaders(bySecret(older, webhookInput(`{"type":1}`))), `{"type":1}`, both},
		"longer than any":        {webhookHeaders(right), strings.Repeat(" ", maxWebhookBytes+1), both},
		"behind more signatures": {webhookHeaders(strings.Repeat("v1,AAAA ", maxWebhookSignatures) + right), webhookBody, both},
	} {
		if event, err := VerifyWebhook(c.header, []byte(c.body), c.trust); event != nil || CodeOf(err) != "webhook-invalid" {
			t.Errorf("%s: %v, %v", name, event, err)
		}
	}
	for _, trust := range []WebhookTrust{{}, {Secrets: []string{""}}, {Secrets: []string{"whsec_short"}}, {Secrets: []string{older, older, older}}, {Keys: keys}, {Secrets: []string{older}, Tolerance: -1}} {
		if event, err := VerifyWebhook(webhookHeaders(right), []byte(webhookBody), trust); event != nil || err == nil || CodeOf(err) != "" || strings.Contains(err.Error(), older) {
			t.Error(event, err)
		}
	}
}

func mustAgent(seed []byte) Agent {
	agent, err := NewAgent(seed)
	if err != nil {
		panic(err)
	}
	return agent
}

func mustSigner(seed []byte, kid string) Signer {
	signer, err := NewSigner(seed, kid)
	if err != nil {
		panic(err)
	}
	return signer
}
