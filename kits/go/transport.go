package svckit

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ServiceError says that the service refused a call, or that its answer is invalid. Kind is one of the kinds of the
// TypeScript SDK.
type ServiceError struct {
	Kind    string
	Message string
	// Status is the HTTP status of the answer, 0 without one. Code is its "error", such as RATE_LIMITED.
	Status int
	Code   string
	// RetryAfter is 0 if the answer names no pause.
	RetryAfter time.Duration
	// RequestID is the answer's Svc-Request-Id, for the service's operator.
	RequestID string
	// HelpURL is the page about Code and its remedy, "" if the answer names none.
	HelpURL string
	cause   error
}

// The kinds of a ServiceError.
const (
	// KindRefused: the service answered with an error; see Status and Code. Only after a 503 may a call have taken effect.
	KindRefused = "refused"
	// KindNetwork: the service could not be reached; nothing happened.
	KindNetwork = "network"
	// KindTimeout: a call that changes nothing got no answer in time.
	KindTimeout = "timeout"
	// KindAborted: the caller's context was cancelled. If the call had been sent, it is unknown whether it took effect.
	KindAborted = "aborted"
	// KindOutcomeUnknown: a call that changes something was sent, and may or may not have taken effect. Its answer was
	// lost; or it came from a gateway or reports a fault of the service (any 5xx except 503); or it was a 503 and a later
	// attempt ended otherwise.
	KindOutcomeUnknown = "outcome-unknown"
	// KindBadResponse: the interface does not allow this answer.
	KindBadResponse = "bad-response"
)

func (e *ServiceError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return e.Kind + ": " + e.Message
}

// Unwrap returns the error of the network or the context.
func (e *ServiceError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Connection is a connection to one service with one key.
type Connection struct {
	// BaseURL is https, or http to this machine.
	BaseURL string
	APIKey  string
	// Timeout is the time for a whole call, repeats included: 5 s unless given, at most 10 minutes.
	Timeout time.Duration
	// HTTPClient is used with its transport, such as one for a proxy; redirects are never followed. Nil: the kit makes its
	// own.
	HTTPClient *http.Client
}

const (
	maxAnswerBytes   = 1_048_576
	maxMessageBytes  = 500
	defaultTimeout   = 5 * time.Second
	maxTimeout       = 10 * time.Minute
	maxBackoff       = 2 * time.Second
	maxRetryAfter    = 999_999_999 * time.Second // as many as the form of a number has
	firstBackoff     = 100 * time.Millisecond
	repeatsSavedUp   = 100
	repeatsOfACall   = 0.2
	repeatsOfASecond = 10
	statusOfRefusals = 400
)

var (
	apiKeyForm     = regexp.MustCompile(`^[\x21-\x7e]{1,512}$`)
	retryAfterForm = regexp.MustCompile(`^[0-9]{1,9}$`)
	helpForm       = regexp.MustCompile(`<([Hh][Tt][Tt][Pp][Ss]?://[\x21\x23-\x3b\x3d\x3f-\x7e]{1,512})>[ \t]*;[ \t]*(?i:rel="?help"?)(?:[;, \t]|$)`)
	isOfAnswers    = map[int]bool{200: true, 201: true, 202: true}
	loopbackHosts  = map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
)

// transport makes calls. Unless a call says otherwise, it can be repeated without harm. So it is repeated within the
// deadline after a lost connection, 429, 503, or a gateway's answer in place of the service's (any 5xx except 503 and
// INTERNAL), as Retry-After says.
type transport struct {
	baseURL, apiKey string
	timeout         time.Duration
	client          *http.Client
	repeats         repeats
}

// spreadOf returns a number between 0 and 1. Before Go 1.20, math/rand gives every process the same numbers, and all
// processes would repeat at the same time.
var spreadOf = struct {
	sync.Mutex
	*rand.Rand
}{Rand: rand.New(rand.NewSource(seedOfThisProcess()))}

func seedOfThisProcess() int64 {
	seed := make([]byte, 8)
	if _, err := cryptorand.Read(seed); err != nil {
		return time.Now().UnixNano()
	}
	return int64(binary.BigEndian.Uint64(seed))
}

func randomSpread() float64 {
	spreadOf.Lock()
	defer spreadOf.Unlock()
	return spreadOf.Float64()
}

// repeats limits the repeats after 429 or 503, for all calls together. Without a limit, repeats could triple the load
// of a service that is already overloaded.
type repeats struct {
	sync.Mutex
	left float64
	at   time.Time
}

func (r *repeats) countCall() {
	r.Lock()
	defer r.Unlock()
	now := time.Now()
	r.left = math.Min(repeatsSavedUp, r.left+repeatsOfACall+now.Sub(r.at).Seconds()*repeatsOfASecond)
	r.at = now
}

func (r *repeats) take() bool {
	r.Lock()
	defer r.Unlock()
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}

func newTransport(to Connection) (*transport, error) {
	base, err := url.Parse(to.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || strings.ContainsAny(to.BaseURL, "?#") {
		return nil, errors.New("svckit: BaseURL must be an absolute URL without user info, query or fragment")
	}
	if base.Scheme != "https" && !(base.Scheme == "http" && loopbackHosts[base.Hostname()]) {
		return nil, errors.New("svckit: BaseURL must be https, or http to this machine")
	}
	if !apiKeyForm.MatchString(to.APIKey) {
		return nil, errors.New("svckit: APIKey must be visible ASCII, 1 to 512 characters")
	}
	if to.Timeout == 0 {
		to.Timeout = defaultTimeout
	}
	if to.Timeout < 0 || to.Timeout > maxTimeout {
		return nil, errors.New("svckit: Timeout must be more than 0, and 10 minutes or less")
	}
	client := http.Client{}
	if to.HTTPClient != nil {
		client = *to.HTTPClient
	}
	// A redirect would send the key to another address.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	made := &transport{baseURL: strings.TrimRight(to.BaseURL, "/"), apiKey: to.APIKey, timeout: to.Timeout, client: &client}
	made.repeats.left, made.repeats.at = repeatsSavedUp, time.Now()
	return made, nil
}

type call struct {
	method, path string
	// body is nil for none.
	body    map[string]any
	headers map[string]string
	// isOnceOnly: a second call would have its effect twice, so it is repeated only if the first certainly had none.
	isOnceOnly bool
	// timeout is the transport's unless given.
	timeout time.Duration
}

type failure struct {
	*ServiceError
	canRepeat bool
	// isLost: the service may have acted on the request although no answer says so.
	isLost bool
}

// send returns the text of a strict JSON object.
func (t *transport) send(parent context.Context, of call) (string, error) {
	if t == nil || parent == nil {
		return "", misused("a call takes a context, and what New… made for this service")
	}
	timeout := t.timeout
	if of.timeout != 0 {
		timeout = of.timeout
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	var body []byte
	if of.body != nil {
		encoded, err := json.Marshal(of.body)
		if err != nil {
			return "", err
		}
		body = encoded
	}
	t.repeats.countCall()
	isLost, was503 := false, false
	for attempt := 1; ; attempt++ {
		text, failed := t.attempt(ctx, of, body)
		if failed == nil {
			return text, nil
		}
		is503 := failed.Status == 503
		isLost, was503 = isLost || failed.isLost, was503 || is503
		if parent.Err() != nil {
			return "", &ServiceError{Kind: KindAborted, Message: "given up by the caller", cause: parent.Err()}
		}
		spread := time.Duration(randomSpread() * math.Min(float64(maxBackoff), float64(firstBackoff)*math.Pow(2, float64(attempt-1))))
		delay := failed.RetryAfter + spread
		deadline, _ := ctx.Deadline()
		// A 503 may stand for a commit whose outcome the service itself does not know.
		mayRepeat := failed.canRepeat && !(of.isOnceOnly && (failed.isLost || is503))
		isLoad := failed.Status == 429 || is503
		if !mayRepeat || delay >= time.Until(deadline) || isLoad && !t.repeats.take() {
			return "", finalError(failed.ServiceError, of.method != http.MethodGet && (isLost || was503 && !is503))
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
}

// finalError: a definite refusal of one attempt says nothing about an earlier attempt whose answer was lost or was a
// 503.
func finalError(err *ServiceError, isUnknown bool) error {
	if !isUnknown || err.Kind == KindBadResponse {
		return err
	}
	unknown := *err
	unknown.Kind, unknown.cause, unknown.HelpURL = KindOutcomeUnknown, err, ""
	unknown.Message = "the answer was lost or tells of a fault, so whether the call took effect is unknown (" + err.Message + ")"
	return &unknown
}

func (t *transport) attempt(ctx context.Context, of call, body []byte) (string, *failure) {
	request, err := http.NewRequestWithContext(ctx, of.method, t.baseURL+of.path, bytes.NewReader(body))
	if err != nil {
		return "", &failure{ServiceError: &ServiceError{Kind: KindNetwork, Message: "the address is none", cause: err}}
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", "Bearer "+t.apiKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range of.headers {
		request.Header.Set(name, value)
	}
	response, err := t.client.Do(request)
	if err != nil {
		return "", t.unreachable(ctx, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if response.StatusCode >= statusOfRefusals {
		return "", refusal(response, data)
	}
	if err != nil {
		return "", t.unreachable(ctx, err)
	}
	text := string(data)
	if !isOfAnswers[response.StatusCode] || len(data) > maxAnswerBytes || objectOf(text) == nil {
		what := fmt.Sprintf("the answer, with status %d, is no strict JSON object of at most %d bytes", response.StatusCode, maxAnswerBytes)
		return "", &failure{ServiceError: &ServiceError{
			Kind: KindBadResponse, Message: what, Status: response.StatusCode, RequestID: response.Header.Get("Svc-Request-Id"),
		}}
	}
	return text, nil
}

func (t *transport) unreachable(ctx context.Context, err error) *failure {
	if ctx.Err() != nil {
		return &failure{ServiceError: &ServiceError{Kind: KindTimeout, Message: "no answer before the deadline", cause: err}, isLost: true}
	}
	var name *net.DNSError
	wasSent := !errors.Is(err, syscall.ECONNREFUSED) && !errors.As(err, &name)
	what := &ServiceError{Kind: KindNetwork, Message: "the connection to " + t.baseURL + " failed", cause: err}
	return &failure{ServiceError: what, canRepeat: true, isLost: wasSent}
}

func refusal(response *http.Response, data []byte) *failure {
	told := objectOf(string(data))
	code, _ := told["error"].(string)
	message, _ := told["message"].(string)
	if message == "" {
		message = http.StatusText(response.StatusCode)
	}
	status := response.StatusCode
	isGateway := isOfGateway(status, code)
	return &failure{
		ServiceError: &ServiceError{
			Kind: KindRefused, Message: fmt.Sprintf("%d: %s", status, bounded(message)), Status: status, Code: bounded(code),
			RetryAfter: retryAfter(response.Header.Get("Retry-After")), RequestID: response.Header.Get("Svc-Request-Id"),
			HelpURL: helpURL(response.Header.Values("Link")),
		},
		canRepeat: isGateway || status == 429 || status == 503,
		isLost:    isGateway || code == "INTERNAL",
	}
}

// isOfGateway says whether a gateway answered, such as with 520 or 524. The gateway may have forwarded the request.
func isOfGateway(status int, code string) bool {
	// Only the service in memory (@svc/testing) answers 501.
	isOwn := status == 500 && code == "INTERNAL" || status == 501 && code == "NOT_IMPLEMENTED"
	return status >= 500 && status != 503 && !isOwn
}

func bounded(text string) string {
	if len(text) > maxMessageBytes {
		return strings.ToValidUTF8(text[:maxMessageBytes], "")
	}
	return text
}

// helpURL reads the target of the link with rel="help" (RFC 8288), if a person can open it in a browser.
func helpURL(links []string) string {
	if found := helpForm.FindStringSubmatch(strings.Join(links, ", ")); found != nil {
		return found[1]
	}
	return ""
}

// retryAfter reads RFC 9110 §10.2.3: seconds, or a date. The result is bounded, so that adding to it does not overflow.
func retryAfter(value string) time.Duration {
	if retryAfterForm.MatchString(value) {
		seconds, _ := strconv.Atoi(value)
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	left := time.Until(at)
	switch {
	case err != nil || left < 0:
		return 0
	case left > maxRetryAfter:
		return maxRetryAfter
	}
	return left
}

// read decodes an answer, which has been checked to be strict JSON.
func read(text string, to any) error {
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return &ServiceError{Kind: KindBadResponse, Message: "a member of the answer has not its form", cause: err}
	}
	return nil
}
