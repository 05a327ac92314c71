package svckit

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tests which calls are repeated, what the error says if the outcome of a call is unknown, and that every call ends.

type scriptedAnswer struct {
	// If status is 0, the connection is closed without an answer.
	status  int
	body    string
	headers map[string]string
}

var (
	lost    = scriptedAnswer{}
	done    = scriptedAnswer{status: 200, body: `{"done":true}`}
	busy    = scriptedAnswer{status: 503, body: `{"error":"SERVICE_UNAVAILABLE","message":"later"}`}
	tooMany = scriptedAnswer{status: 429}
	// What Cloudflare answers although the origin received the request.
	ofGateway         = scriptedAnswer{status: 524, body: `{"error":"A timeout occurred"}`}
	ofGatewayWithCode = scriptedAnswer{status: 500, body: `{"error":"GATEWAY_TIMEOUT"}`}
	fault             = scriptedAnswer{status: 500, body: `{"error":"INTERNAL","message":"of ours"}`}
	conflict          = scriptedAnswer{status: 409, body: `{"error":"CONFLICT","message":"no"}`, headers: map[string]string{"Svc-Request-Id": "req_1"}}
)

type received struct {
	method, path, body, key string
}

// scripted gives these answers in this order; every further request gets a 410.
func scripted(t *testing.T, answers ...scriptedAnswer) (Connection, *[]received) {
	t.Helper()
	asked := &[]received{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, received{r.Method, r.URL.String(), string(body), r.Header.Get("Idempotency-Key")})
		answer := scriptedAnswer{status: 410}
		if len(answers) > 0 {
			answer, answers = answers[0], answers[1:]
		}
		if answer.status == 0 {
			panic(http.ErrAbortHandler)
		}
		for name, value := range answer.headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(answer.status)
		_, _ = io.WriteString(w, answer.body)
	}))
	t.Cleanup(server.Close)
	return Connection{BaseURL: server.URL, APIKey: "dk_secret"}, asked
}

func open(t *testing.T, to Connection) *transport {
	t.Helper()
	made, err := newTransport(to)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func problemOf(err error) ServiceError {
	var problem *ServiceError
	if !errors.As(err, &problem) {
		return ServiceError{}
	}
	return *problem
}

var post = call{method: http.MethodPost, path: "/x", body: map[string]any{"a": 1}, headers: map[string]string{"Idempotency-Key": "k"}}

func TestWhatPassesIsTriedAgainWithTheSameHeaders(t *testing.T) {
	for _, first := range []scriptedAnswer{busy, tooMany, {status: 502}, {status: 504}, ofGateway, ofGatewayWithCode, lost} {
		to, asked := scripted(t, first, done)
		text, err := open(t, to).send(context.Background(), post)
		if err != nil || text != done.body || len(*asked) != 2 || (*asked)[0] != (*asked)[1] || (*asked)[0].key != "k" {
			t.Errorf("after %d: %q, %v, %v", first.status, text, err, *asked)
		}
	}
}

func TestAPauseIsMadeWithinTheDeadlineOnly(t *testing.T) {
	to, _ := scripted(t, scriptedAnswer{status: 429, headers: map[string]string{"Retry-After": "1"}}, done)
	began := time.Now()
	if _, err := open(t, to).send(context.Background(), post); err != nil || time.Since(began) < time.Second {
		t.Error(err, time.Since(began))
	}
	to, asked := scripted(t, scriptedAnswer{status: 429, headers: map[string]string{"Retry-After": "60"}})
	began = time.Now()
	_, err := open(t, to).send(context.Background(), post)
	if is := problemOf(err); is.Kind != KindRefused || is.RetryAfter != time.Minute || len(*asked) != 1 || time.Since(began) > 4*time.Second {
		t.Error(err, len(*asked))
	}
}

// All clients read these headers in the same way.
func TestWhatTheHeadersOfAnErrorComeTo(t *testing.T) {
	var shared struct {
		RetryAfter []struct {
			Value   string
			Seconds *float64
		} `json:"retry_after"`
		Link []struct {
			Value string
			URL   *string
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, "../answer-headers.json")), &shared); err != nil || len(shared.Link) == 0 {
		t.Fatal(err)
	}
	refusedWith := func(status int, name, value string) (ServiceError, int) {
		to, asked := scripted(t, scriptedAnswer{status: status, headers: map[string]string{name: value}}, conflict)
		to.Timeout = 500 * time.Millisecond
		_, err := open(t, to).send(context.Background(), post)
		return problemOf(err), len(*asked)
	}
	for _, c := range shared.RetryAfter {
		wanted := time.Duration(0)
		if c.Seconds != nil {
			wanted = time.Duration(*c.Seconds) * time.Second
		}
		is, asked := refusedWith(429, "Retry-After", c.Value)
		// A pause beyond the deadline is reported and not waited for. Without a pause the call is repeated.
		if wanted > 0 && (is.RetryAfter != wanted || asked != 1) || wanted == 0 && (is.Status != 409 || asked != 2) {
			t.Errorf("%q: %v after %d calls", c.Value, is, asked)
		}
	}
	for _, c := range shared.Link {
		wanted := ""
		if c.URL != nil {
			wanted = *c.URL
		}
		if is, _ := refusedWith(403, "Link", c.Value); is.Status != 403 || is.HelpURL != wanted {
			t.Errorf("%q: %q", c.Value, is.HelpURL)
		}
	}
}

func TestWhatWouldHappenTwiceIsTriedAgainWhereItDidNotHappenOnly(t *testing.T) {
	once := post
	once.isOnceOnly = true
	for _, c := range []struct {
		first scriptedAnswer
		kind  string
		asked int
	}{{busy, KindRefused, 1}, {scriptedAnswer{status: 502}, KindOutcomeUnknown, 1}, {ofGateway, KindOutcomeUnknown, 1}, {ofGatewayWithCode, KindOutcomeUnknown, 1}, {fault, KindOutcomeUnknown, 1}, {lost, KindOutcomeUnknown, 1}, {tooMany, "", 2}} {
		to, asked := scripted(t, c.first, done)
		_, err := open(t, to).send(context.Background(), once)
		if problemOf(err).Kind != c.kind || len(*asked) != c.asked {
			t.Errorf("after %d: %v, asked %d times", c.first.status, err, len(*asked))
		}
	}
}

func TestARefusalAfterALostAnswerOrA503DoesNotSayThatNothingHappened(t *testing.T) {
	for _, first := range []scriptedAnswer{lost, busy} {
		to, _ := scripted(t, first, conflict)
		_, err := open(t, to).send(context.Background(), post)
		if is := problemOf(err); is.Kind != KindOutcomeUnknown || is.Status != 409 || is.Code != "CONFLICT" || is.RequestID != "req_1" {
			t.Errorf("after %d: %v", first.status, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestNorDoesAServiceThatIsGoneAfterA503(t *testing.T) {
	to, asked := scripted(t, busy)
	to.Timeout = 300 * time.Millisecond
	to.HTTPClient = &http.Client{Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
		if len(*asked) == 0 {
			return http.DefaultTransport.RoundTrip(request)
		}
		return nil, syscall.ECONNREFUSED
	})}
	if _, err := open(t, to).send(context.Background(), post); problemOf(err).Kind != KindOutcomeUnknown || problemOf(err).Status != 0 {
		t.Error(err)
	}
}

func TestAReadAfterA503EndsAsWhatCameLastAndA503AsOne(t *testing.T) {
	to, _ := scripted(t, busy, conflict)
	_, err := open(t, to).send(context.Background(), call{method: http.MethodGet, path: "/x"})
	if is := problemOf(err); is.Kind != KindRefused || is.Status != 409 {
		t.Error(err)
	}
	to, _ = scripted(t, busy, scriptedAnswer{status: 503, headers: map[string]string{"Retry-After": "60"}})
	if _, err = open(t, to).send(context.Background(), post); problemOf(err).Kind != KindRefused || problemOf(err).Status != 503 {
		t.Error(err)
	}
}

func TestRepeatsAreFewHoweverManyCallsThereAre(t *testing.T) {
	to, asked := scripted(t, busy, busy, busy, busy)
	of := open(t, to)
	for of.repeats.take() {
	}
	if _, err := of.send(context.Background(), post); problemOf(err).Status != 503 || len(*asked) > 2 {
		t.Error(err, len(*asked))
	}
}

func TestWhatIsNoAnswerIsAnErrorAndEveryCallEnds(t *testing.T) {
	for name, answer := range map[string]scriptedAnswer{
		"no JSON":     {status: 200, body: "<html>"},
		"no object":   {status: 200, body: "[]"},
		"twice":       {status: 200, body: `{"a":1,"a":2}`},
		"too long":    {status: 200, body: "{" + strings.Repeat(" ", maxAnswerBytes) + "}"},
		"a redirect":  {status: 302, headers: map[string]string{"Location": "/elsewhere"}},
		"not yet":     {status: 103},
		"cut short":   {status: 200, body: "{}", headers: map[string]string{"Content-Length": "9"}},
		"of no use":   {status: 400, body: "<html>"},
		"a long word": {status: 400, body: `{"message":"` + strings.Repeat("m", 5_000) + `"}`},
	} {
		to, asked := scripted(t, answer)
		to.Timeout = 500 * time.Millisecond
		_, err := open(t, to).send(context.Background(), post)
		if problemOf(err).Kind == "" || len(err.Error()) > 700 || strings.Contains(err.Error(), "dk_secret") || len(*asked) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASlowServiceIsLeftAtTheDeadlineAndByTheCaller(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-release
	}))
	defer server.Close()
	defer close(release)
	to := Connection{BaseURL: server.URL, APIKey: "dk_secret", Timeout: 200 * time.Millisecond}
	began := time.Now()
	if _, err := open(t, to).send(context.Background(), post); problemOf(err).Kind != KindOutcomeUnknown {
		t.Error(err)
	}
	if _, err := open(t, to).send(context.Background(), call{method: http.MethodGet, path: "/"}); problemOf(err).Kind != KindTimeout {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := open(t, to).send(ctx, post); problemOf(err).Kind != KindAborted || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if time.Since(began) > 5*time.Second {
		t.Error(time.Since(began))
	}
}

func TestAServiceThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	to := Connection{BaseURL: server.URL, APIKey: "dk_secret", Timeout: 300 * time.Millisecond}
	// No server was there, so nothing can have happened.
	if _, err := open(t, to).send(context.Background(), post); problemOf(err).Kind != KindNetwork {
		t.Error(err)
	}
}

func TestAConnectionThatIsNoneIsRefusedWithoutItsKey(t *testing.T) {
	for _, to := range []Connection{
		{BaseURL: "http://svc.example", APIKey: "dk_secret"},
		{BaseURL: "https://u:p@svc.example", APIKey: "dk_secret"},
		{BaseURL: "https://svc.example/?a", APIKey: "dk_secret"},
		{BaseURL: "svc.example", APIKey: "dk_secret"},
		{BaseURL: "https://svc.example", APIKey: "dk_secret\n"},
		{BaseURL: "https://svc.example"},
		{BaseURL: "https://svc.example", APIKey: "dk_secret", Timeout: -1},
		{BaseURL: "https://svc.example", APIKey: "dk_secret", Timeout: time.Hour},
	} {
		if _, err := newTransport(to); err == nil || strings.Contains(err.Error(), "secret") {
			t.Error(to.BaseURL, err)
		}
	}
}

func TestVerifyBelievesNoReceiptButOneAboutTheRequestInHand(t *testing.T) {
	document := readFile(t, "../../examples/bundle/did.json")
	keys, err := ReadServiceKeys(document)
	if err != nil {
		t.Fatal(err)
	}
	genuine, _ := json.Marshal(objectOf(readFile(t, "../../examples/bundle/bundle.json"))["receipt"])
	to, _ := scripted(t, scriptedAnswer{status: 200, body: string(genuine)}, scriptedAnswer{status: 200, body: "{}"},
		scriptedAnswer{status: 200, body: `{"dry_run":"nothing was decided","would":"allow","decision":"ALLOW"}`})
	shop, err := NewRelyingParty(to, keys, "did:web:shop.example")
	if err != nil {
		t.Fatal(err)
	}
	asked := VerifyRequest{Grant: "g", Proof: "p", Action: Purchase("order/7", 1, "USD"), Method: "POST", URL: "https://shop.example/"}
	for i := 0; i < 3; i++ {
		if decision, err := shop.Verify(context.Background(), asked); decision != nil || CodeOf(err) == "" {
			t.Error(decision, err)
		}
	}
	for i := 0; i < 20; i++ {
		to, _ := scripted(t, scriptedAnswer{status: 200, body: string(genuine)})
		shop, err := NewRelyingParty(to, keys, "did:web:other.example")
		if err != nil {
			t.Fatal(err)
		}
		// Of several faults, the first in a fixed order is reported.
		_, err = shop.Verify(context.Background(), asked)
		var refused *Refused
		if !errors.As(err, &refused) || refused.Code != "grant-hash" {
			t.Fatal(err)
		}
		// The error includes the Receipt, so that its budget can be given back.
		if refused.ReceiptID == "" || refused.Receipt["receipt_id"] != refused.ReceiptID {
			t.Fatal("not named:", refused.ReceiptID, refused.Receipt)
		}
	}
	ofOthers, _ := loadKeys(t)
	to, _ = scripted(t, scriptedAnswer{status: 200, body: string(genuine)})
	if shop, err = NewRelyingParty(to, ofOthers, "did:web:shop.example"); err != nil {
		t.Fatal(err)
	}
	var refused *Refused
	if _, err := shop.Verify(context.Background(), asked); !errors.As(err, &refused) || refused.ReceiptID == "" || refused.Receipt != nil {
		t.Error("nobody has verified it, and the id is all there is to look it up by:", err)
	}
	asked.Action = Action{"type": "commerce:purchase"}
	if decision, err := shop.Verify(context.Background(), asked); decision != nil || err == nil {
		t.Error(decision, err)
	}
}

func TestAProofForAnotherRequestIsNotAskedAboutSoThatItIsNotSpent(t *testing.T) {
	keys, err := ReadServiceKeys(readFile(t, "../../examples/bundle/did.json"))
	if err != nil {
		t.Fatal(err)
	}
	action := Purchase("order/7", 1, "USD")
	proof, err := SignProof(mustAgent(make([]byte, 32)), ProofRequest{
		GrantID: "urn:svc:grant:01M7W93BGDQYMT99974DTBAWNP", Audience: "did:web:shop.example",
		Method: "POST", URL: "https://shop.example/orders", Action: action,
	})
	if err != nil {
		t.Fatal(err)
	}
	to, received := scripted(t, scriptedAnswer{status: 200, body: "{}"})
	shop, err := NewRelyingParty(to, keys, "did:web:shop.example")
	if err != nil {
		t.Fatal(err)
	}
	asked := VerifyRequest{Grant: "g", Proof: proof, Action: action, Method: "POST", URL: "https://shop.example/other"}
	if _, err := shop.Verify(context.Background(), asked); CodeOf(err) != "request-mismatch" || len(*received) != 0 {
		t.Error(err, len(*received))
	}
	asked.Method, asked.URL = "PUT", "https://shop.example/orders"
	if _, err := shop.Verify(context.Background(), asked); CodeOf(err) != "request-mismatch" || len(*received) != 0 {
		t.Error(err, len(*received))
	}
	// A query is not signed, and the other spelling is the same URL.
	asked.Method, asked.URL = "POST", "HTTPS://Shop.example:443/orders?a=1"
	if _, err := shop.Verify(context.Background(), asked); CodeOf(err) == "request-mismatch" || len(*received) != 1 {
		t.Error(err, len(*received))
	}
}

func TestABaseURLHasNoQueryOrFragmentBeAnyOfThemEmpty(t *testing.T) {
	for _, base := range []string{"https://svc.example/?", "https://svc.example/#", "https://svc.example/?a", "https://svc.example/#a"} {
		if _, err := newTransport(Connection{BaseURL: base, APIKey: "dk_secret"}); err == nil {
			t.Error(base)
		}
	}
}

const subscription = `{"subscription_id":"whs_01M7VZGC008Q2R7V9X1C4E6H8R","url":"https://shop.example/hooks","types":["grant.revoked"],"waiting":1,"secrets":[{"number":1,"ends_at":null}],"new":1`

func TestEventSubscriptions(t *testing.T) {
	const id = "whs_01M7VZGC008Q2R7V9X1C4E6H8R"
	to, asked := scripted(t,
		scriptedAnswer{status: 201, body: subscription + `,"secret":"whsec_x"}`},
		scriptedAnswer{status: 200, body: `{"deliveries":[{"event_id":"evt_1","last_status":204}],"next_cursor":"a b"}`},
		scriptedAnswer{status: 200, body: `{"deliveries":[],"next_cursor":null}`},
		scriptedAnswer{status: 200, body: subscription + "}"},
		scriptedAnswer{status: 200, body: strings.Replace(subscription, "8R", "8S", 1) + "}"},
		scriptedAnswer{status: 200, body: strings.Replace(subscription, `"waiting":1`, `"waiting":"1"`, 1) + "}"},
		scriptedAnswer{status: 200, body: `{"subscription_id":"` + id + `"}`},
	)
	events, err := NewEventSubscriptions(to)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	made, secret, err := events.Create(ctx, SubscriptionRequest{URL: "https://shop.example/hooks", Types: []string{"grant.revoked"}})
	if err != nil || made.ID != id || secret != "whsec_x" || made.Waiting != 1 || made.Secrets[0].Number != 1 {
		t.Error(made, err)
	}
	page, next, err := events.Deliveries(ctx, id, 1, "")
	if err != nil || next != "a b" || *page[0].LastStatus != 204 {
		t.Error(page, next, err)
	}
	if _, next, err = events.Deliveries(ctx, id, 1, next); err != nil || next != "" {
		t.Error(next, err)
	}
	if is, err := events.Disable(ctx, id); err != nil || is.ID != id {
		t.Error(is, err)
	}
	for i := 0; i < 2; i++ {
		if _, err := events.Enable(ctx, id); problemOf(err).Kind != KindBadResponse {
			t.Error(err)
		}
	}
	if err := events.Delete(ctx, id); problemOf(err).Kind != KindBadResponse {
		t.Error(err)
	}
	if (*asked)[2].path != "/event-subscriptions/"+id+"/deliveries?cursor=a+b&limit=1" {
		t.Error(*asked)
	}
	for _, wrong := range []string{"", "../revoke", id + "/x"} {
		if err := events.Delete(ctx, wrong); err == nil || len(*asked) != 7 {
			t.Error(wrong, err)
		}
	}
}
