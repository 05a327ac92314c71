package svckit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	maxWebhookBytes      = 65_536
	maxWebhookSignatures = 16
	maxWebhookTolerance  = 24 * time.Hour
	webhookTolerance     = 5 * time.Minute
)

var (
	webhookSecretForm = regexp.MustCompile(`^whsec_([A-Za-z0-9+/]{32,88}={0,2})$`)
	webhookTimeForm   = regexp.MustCompile(`^[0-9]{1,12}$`)
	base64Form        = regexp.MustCompile(`^[A-Za-z0-9+/]*={0,2}$`)
)

// WebhookEvent says what happened, and to what (protocol §15). An event may arrive more than once: handle each ID once.
type WebhookEvent struct {
	ID, Type, SubscriptionID string
	// Timestamp is when it happened: RFC 3339, UTC.
	Timestamp string
	// Data contains ids; its members depend on the type.
	Data map[string]any
}

// WebhookTrust is what authenticates an event: the secrets of the subscription, or the service's keys, or both.
type WebhookTrust struct {
	// Secrets are whsec_…; two during a rotation.
	Secrets []string
	// Keys are the service's, pinned. With them v1a signatures are accepted. The service's key signs for all endpoints, so
	// SubscriptionID is required with it.
	Keys           *ServiceKeys
	SubscriptionID string
	// Tolerance is the greatest difference between webhook-timestamp and now: 5 minutes unless given, at most a day.
	Tolerance time.Duration
	// Now is the present time unless given.
	Now time.Time
}

// VerifyWebhook returns the event in a request (Standard Webhooks 1.0.0); body must be as received. Answer 204 within
// 15 seconds, and 400 for a *Refused (webhook-invalid). Any other error says that trust is invalid.
func VerifyWebhook(header http.Header, body []byte, trust WebhookTrust) (*WebhookEvent, error) {
	secrets, err := trust.check()
	if err != nil {
		return nil, err
	}
	id, err := webhookHeader(header, "webhook-id")
	if err != nil {
		return nil, err
	}
	at, err := webhookHeader(header, "webhook-timestamp")
	if err != nil {
		return nil, err
	}
	// Full stops separate the parts of the signed text, so an id must not contain one.
	if strings.Contains(id, ".") {
		return nil, invalidWebhook("webhook-id has a full stop")
	}
	signature, err := webhookHeader(header, "webhook-signature")
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	sent := time.Unix(seconds, 0)
	isTooFar := sent.Before(trust.Now.Add(-trust.Tolerance)) || sent.After(trust.Now.Add(trust.Tolerance))
	if err != nil || !webhookTimeForm.MatchString(at) || isTooFar {
		return nil, invalidWebhook("webhook-timestamp is no time in seconds, or too far from this machine's clock")
	}
	if len(body) > maxWebhookBytes {
		return nil, invalidWebhook("the body is too long")
	}
	signed := id + "." + at + "." + string(body)
	signatures := strings.SplitN(signature, " ", maxWebhookSignatures+1)
	if len(signatures) > maxWebhookSignatures {
		signatures = signatures[:maxWebhookSignatures]
	}
	if !isOfSecret(signed, signatures, secrets) && !trust.isOfService(signed, signatures, seconds*1000) {
		return nil, invalidWebhook("no signature is by what is trusted")
	}
	return readWebhookEvent(id, string(body), trust.SubscriptionID)
}

func invalidWebhook(problem string) error { return refuse("webhook-invalid", "%s", problem) }

func (t *WebhookTrust) check() (secrets [][]byte, err error) {
	if t.Now.IsZero() {
		t.Now = time.Now()
	}
	if t.Tolerance == 0 {
		t.Tolerance = webhookTolerance
	}
	if t.Tolerance < time.Second || t.Tolerance > maxWebhookTolerance {
		return nil, errors.New("svckit: Tolerance must be a second to a day")
	}
	for _, one := range t.Secrets {
		found := webhookSecretForm.FindStringSubmatch(one)
		if found == nil || decodeBase64(found[1]) == nil {
			return nil, errors.New("svckit: a secret must be whsec_ and base64 of 24 to 64 bytes")
		}
		secrets = append(secrets, decodeBase64(found[1]))
	}
	if len(secrets) > 2 || len(secrets) == 0 && t.Keys == nil {
		return nil, errors.New("svckit: give one or two secrets, or the keys of the service, or both")
	}
	if t.Keys != nil && t.SubscriptionID == "" {
		return nil, errors.New("svckit: Keys need SubscriptionID beside them")
	}
	return secrets, nil
}

// decodeBase64 decodes base64, padded or not, or returns nil.
func decodeBase64(text string) []byte {
	bare := strings.TrimRight(text, "=")
	if !base64Form.MatchString(text) || bare != text && len(text)%4 != 0 {
		return nil
	}
	data, err := base64.RawStdEncoding.DecodeString(bare)
	if err != nil {
		return nil
	}
	return data
}

func webhookHeader(header http.Header, name string) (string, error) {
	var found []string
	for key, values := range header {
		if strings.ToLower(key) == name {
			found = append(found, values...)
		}
	}
	if len(found) != 1 || found[0] == "" {
		return "", invalidWebhook("the header " + name + " is missing, or stands more than once")
	}
	return found[0], nil
}

// signaturesOf ignores signatures of other versions.
func signaturesOf(version string, signatures []string) (found [][]byte) {
	for _, one := range signatures {
		if strings.HasPrefix(one, version+",") {
			if data := decodeBase64(one[len(version)+1:]); data != nil {
				found = append(found, data)
			}
		}
	}
	return found
}

func isOfSecret(signed string, signatures []string, secrets [][]byte) bool {
	isRight := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		expected := mac.Sum(nil)
		for _, candidate := range signaturesOf("v1", signatures) {
			isRight = hmac.Equal(expected, candidate) || isRight
		}
	}
	return isRight
}

// isOfService says whether a status key in force at that time made the signature. v1a does not name the key, so each of
// the few keys is tried.
func (t *WebhookTrust) isOfService(signed string, signatures []string, atMs int64) bool {
	candidates := signaturesOf("v1a", signatures)
	if t.Keys == nil || len(candidates) != 1 {
		return false
	}
	for kid := range t.Keys.methods {
		untimely, err := t.Keys.check("status", kid, jwsParts{signingInput: signed, signature: candidates[0]}, &atMs)
		if err == nil && untimely == "" {
			return true
		}
	}
	return false
}

func readWebhookEvent(id, text, subscriptionID string) (*WebhookEvent, error) {
	body := objectOf(text)
	if body == nil {
		return nil, invalidWebhook("the body is no JSON object")
	}
	kind, hasType := body["type"].(string)
	at, hasTime := body["timestamp"].(string)
	to, hasSubscription := body["subscription_id"].(string)
	data, hasData := body["data"].(map[string]any)
	if !hasType || !hasTime || !hasSubscription || !hasData {
		return nil, invalidWebhook("the body is no event")
	}
	if subscriptionID != "" && to != subscriptionID {
		return nil, invalidWebhook("it was sent to another subscription")
	}
	return &WebhookEvent{ID: id, Type: kind, SubscriptionID: to, Timestamp: at, Data: data}, nil
}
