package svckit

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

var subscriptionIDForm = regexp.MustCompile(`^whs_[0-9A-HJKMNP-TV-Z]{26}$`)

// Subscription says which events are sent to which endpoint (protocol §15). Times are RFC 3339, UTC; members that may
// be absent are pointers.
type Subscription struct {
	ID               string   `json:"subscription_id"`
	URL              string   `json:"url"`
	Description      *string  `json:"description"`
	Types            []string `json:"types"`
	BudgetLowPercent int      `json:"budget_low_percent"`
	CreatedAt        string   `json:"created_at"`
	CreatedBy        *string  `json:"created_by"`
	// State is active, failing or disabled.
	State           string  `json:"state"`
	FailingSince    *string `json:"failing_since"`
	LastProblem     *string `json:"last_problem"`
	DisabledAt      *string `json:"disabled_at"`
	DisabledBecause *string `json:"disabled_because"`
	// Waiting is the number of open deliveries.
	Waiting int `json:"waiting"`
	// Secrets are those that sign events, newest first. The service shows each secret once, when it is made.
	Secrets []struct {
		Number int     `json:"number"`
		EndsAt *string `json:"ends_at"`
	} `json:"secrets"`
}

// Delivery is the delivery of one event to the endpoint.
type Delivery struct {
	EventID string `json:"event_id"`
	Type    string `json:"type"`
	// State is waiting, delivered or failed.
	State         string  `json:"state"`
	Attempts      int     `json:"attempts"`
	LastAttemptAt *string `json:"last_attempt_at"`
	LastStatus    *int    `json:"last_status"`
	LastProblem   *string `json:"last_problem"`
	NextAttemptAt *string `json:"next_attempt_at"`
}

// SubscriptionRequest names an https endpoint, and types of events such as decision.deny and grant.revoked.
type SubscriptionRequest struct {
	URL   string
	Types []string
	// Description is left out if it is "", BudgetLowPercent if it is 0; the service then uses 20.
	Description      string
	BudgetLowPercent int
}

// EventSubscriptions are those of the key's subject: a relying party, a Principal or an org.
type EventSubscriptions struct{ transport *transport }

// NewEventSubscriptions takes the key of the subject that gets the events.
func NewEventSubscriptions(to Connection) (*EventSubscriptions, error) {
	made, err := newTransport(to)
	if err != nil {
		return nil, err
	}
	return &EventSubscriptions{made}, nil
}

func (e *EventSubscriptions) send(ctx context.Context, of call) (string, error) {
	if e == nil {
		return "", errNotMade
	}
	return e.transport.send(ctx, of)
}

// Create subscribes to events from now on. The secret is returned only here. The call is not repeated after a lost
// answer: check with List first.
func (e *EventSubscriptions) Create(ctx context.Context, request SubscriptionRequest) (made Subscription, secret string, err error) {
	body := map[string]any{"url": request.URL, "types": request.Types}
	if request.Description != "" {
		body["description"] = request.Description
	}
	if request.BudgetLowPercent != 0 {
		body["budget_low_percent"] = request.BudgetLowPercent
	}
	text, err := e.send(ctx, call{method: http.MethodPost, path: "/event-subscriptions", body: body, isOnceOnly: true})
	if err != nil {
		return Subscription{}, "", err
	}
	var answer struct {
		Subscription
		Secret string `json:"secret"`
	}
	err = read(text, &answer)
	if err == nil && (answer.Secret == "" || !subscriptionIDForm.MatchString(answer.ID)) {
		err = &ServiceError{Kind: KindBadResponse, Message: "the answer has no secret, or no id"}
	}
	return answer.Subscription, answer.Secret, err
}

// List returns all subscriptions, newest first.
func (e *EventSubscriptions) List(ctx context.Context) ([]Subscription, error) {
	text, err := e.send(ctx, call{method: http.MethodGet, path: "/event-subscriptions"})
	if err != nil {
		return nil, err
	}
	var answer struct{ Subscriptions []Subscription }
	err = read(text, &answer)
	return answer.Subscriptions, err
}

// Test sends an event of type ping and returns its id.
func (e *EventSubscriptions) Test(ctx context.Context, id string) (eventID string, err error) {
	var answer struct {
		EventID string `json:"event_id"`
	}
	err = e.do(ctx, id, call{path: "test", isOnceOnly: true}, &answer)
	return answer.EventID, err
}

// Rotate makes a new secret, returned only here. Events are signed with both secrets until previousEndsAt. A further
// rotation ends the oldest secret at once, so the call is not repeated after a lost answer.
func (e *EventSubscriptions) Rotate(ctx context.Context, id string) (secret, previousEndsAt string, err error) {
	var answer struct {
		Secret         string `json:"secret"`
		PreviousEndsAt string `json:"previous_ends_at"`
	}
	err = e.do(ctx, id, call{path: "rotate", isOnceOnly: true}, &answer)
	return answer.Secret, answer.PreviousEndsAt, err
}

// Disable stops sending; the service keeps events for 30 days.
func (e *EventSubscriptions) Disable(ctx context.Context, id string) (is Subscription, err error) {
	return is, e.do(ctx, id, call{path: "disable"}, &is)
}

// Enable resumes at the event where the subscription was disabled.
func (e *EventSubscriptions) Enable(ctx context.Context, id string) (is Subscription, err error) {
	return is, e.do(ctx, id, call{path: "enable"}, &is)
}

// Delete deletes the subscription with its deliveries and secrets, for good.
func (e *EventSubscriptions) Delete(ctx context.Context, id string) error {
	var answer struct{ Deleted bool }
	err := e.do(ctx, id, call{path: "delete"}, &answer)
	if err == nil && !answer.Deleted {
		return &ServiceError{Kind: KindBadResponse, Message: "the answer does not say that it was deleted"}
	}
	return err
}

// ReplaySince sends the events since a time (RFC 3339) again, in order and with the same ids; at most 30 days back.
func (e *EventSubscriptions) ReplaySince(ctx context.Context, id, since string) (is Subscription, err error) {
	return is, e.do(ctx, id, call{path: "replay", body: map[string]any{"since": since}}, &is)
}

// ReplayFrom does the same from an event on, which is included.
func (e *EventSubscriptions) ReplayFrom(ctx context.Context, id, eventID string) (is Subscription, err error) {
	return is, e.do(ctx, id, call{path: "replay", body: map[string]any{"event_id": eventID}}, &is)
}

// Deliveries returns a page of at most limit (at most 200) deliveries, newest first, and the cursor of the next page,
// "" on the last one. The cursor of the first page is "".
func (e *EventSubscriptions) Deliveries(ctx context.Context, id string, limit int, cursor string) (page []Delivery, next string, err error) {
	if !subscriptionIDForm.MatchString(id) {
		return nil, "", errNoSubscription
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	path := "/event-subscriptions/" + id + "/deliveries?" + query.Encode()
	text, err := e.send(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return nil, "", err
	}
	var answer struct {
		Deliveries []Delivery
		NextCursor string `json:"next_cursor"`
	}
	err = read(text, &answer)
	return answer.Deliveries, answer.NextCursor, err
}

var errNoSubscription = errors.New("svckit: a subscription's id is whs_ and 26 characters")

func (e *EventSubscriptions) do(ctx context.Context, id string, of call, to any) error {
	if !subscriptionIDForm.MatchString(id) {
		return errNoSubscription
	}
	of.method, of.path = http.MethodPost, "/event-subscriptions/"+id+"/"+of.path
	text, err := e.send(ctx, of)
	if err != nil {
		return err
	}
	if objectOf(text)["subscription_id"] != id {
		return &ServiceError{Kind: KindBadResponse, Message: "the service answered about another subscription"}
	}
	return read(text, to)
}
