package svckit

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

const ulidForm = `[0-7][0-9A-HJKMNP-TV-Z]{25}`

var (
	grantIDForm   = regexp.MustCompile(`^urn:svc:grant:` + ulidForm + `$`)
	receiptIDForm = regexp.MustCompile(`^drc_` + ulidForm + `$`)
	jtiForm       = regexp.MustCompile(`^[A-Za-z0-9_-]{22,64}$`)
	sha256Form    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	methodForm    = regexp.MustCompile(`^[A-Z]{1,32}$`)
	currencyForm  = regexp.MustCompile(`^[A-Z]{3}$`)

	labelForm        = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`)
	numericLabelForm = regexp.MustCompile(`^(?:[0-9]+|0x[0-9a-f]*)$`)
	didPortForm      = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)
	segmentForm      = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// IsJTI says whether a text can be the nonce of a Proof: 22 to 64 base64url characters.
func IsJTI(text string) bool { return jtiForm.MatchString(text) }

// is says whether a JSON value is a string of a form.
func is(form *regexp.Regexp, value any) bool {
	text, ok := value.(string)
	return ok && form.MatchString(text)
}

// isCount says whether a JSON value is an integer from 0 to 2^53-1: int64 as ParseJSON returns it, or int as Go code
// writes it.
func isCount(value any) bool {
	if small, isInt := value.(int); isInt {
		value = int64(small)
	}
	count, ok := value.(int64)
	return ok && count >= 0 && count <= maxInteger
}

// isDidWeb accepts did:web:<host>[%3A<port>][:<segment>…], restricted so that it cannot name another host or path than
// it shows.
func isDidWeb(value any) bool {
	text, ok := value.(string)
	if !ok || len(text) > 512 || !strings.HasPrefix(text, "did:web:") {
		return false
	}
	parts := strings.Split(text[len("did:web:"):], ":")
	authority := strings.Split(parts[0], "%3A")
	labels := strings.Split(authority[0], ".")
	if len(authority[0]) > 253 || len(authority) > 2 || numericLabelForm.MatchString(labels[len(labels)-1]) {
		return false
	}
	for _, label := range labels {
		if !labelForm.MatchString(label) {
			return false
		}
	}
	for _, port := range authority[1:] {
		if number, _ := strconv.Atoi(port); !didPortForm.MatchString(port) || number > 65_535 {
			return false
		}
	}
	for _, segment := range parts[1:] {
		if !segmentForm.MatchString(segment) || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

var timeForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z$`)

// parseTime returns the milliseconds since the epoch of an RFC 3339 time in UTC with up to 9 decimals, of which three
// are used.
func parseTime(value any) (int64, bool) {
	text, ok := value.(string)
	if !ok || !timeForm.MatchString(text) {
		return 0, false
	}
	parsed, err := time.Parse(time.RFC3339Nano, text)
	// Formatting the parsed time detects a date that rolled over, such as 30 February.
	if err != nil || parsed.UTC().Format("2006-01-02T15:04:05") != text[:19] {
		return 0, false
	}
	return parsed.Unix()*1000 + int64(parsed.Nanosecond()/1_000_000), true
}

// parseTimeOfLength is the same for one form only: 20 characters are whole seconds, 24 are milliseconds.
func parseTimeOfLength(length int, value any) (int64, bool) {
	if text, ok := value.(string); !ok || len(text) != length {
		return 0, false
	}
	return parseTime(value)
}

func isTime(value any) bool    { _, ok := parseTime(value); return ok }
func isSeconds(value any) bool { _, ok := parseTimeOfLength(20, value); return ok }
func isInstant(value any) bool { _, ok := parseTimeOfLength(24, value); return ok }
func isDay(value any) bool {
	text, ok := value.(string)
	return ok && isSeconds(text+"T00:00:00Z")
}

// dayOf returns the UTC day of a Receipt id; "" if it is not one, or its year is beyond 9999.
func dayOf(receiptID string) string {
	if !receiptIDForm.MatchString(receiptID) {
		return ""
	}
	at := time.UnixMilli(ulidTime(receiptID)).UTC()
	if at.Year() > 9999 {
		return ""
	}
	return at.Format("2006-01-02")
}

// ulidTime returns the milliseconds since the epoch of the ULID at the end of an id.
func ulidTime(id string) int64 {
	var ms int64
	for _, character := range []byte(id[len(id)-26 : len(id)-16]) {
		ms = ms*32 + int64(strings.IndexByte("0123456789ABCDEFGHJKMNPQRSTVWXYZ", character))
	}
	return ms
}
