package svckit

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxInteger is 2^53-1; other readers round larger integers.
const maxInteger = 1<<53 - 1

// ParseJSON reads strict JSON (protocol §1): nil, bool, int64, string, []any and map[string]any. It refuses a byte
// order mark, text that is not UTF-8, a duplicate member, nesting deeper than 32, lone surrogates and U+0000. Numbers
// must be integers within ±(2^53-1), written without fraction and exponent. -0 is 0.
func ParseJSON(text string) (any, error) {
	return parse(text, reader{maxDepth: 32})
}

// ParseJSONOfAnyNumbers is the same, but also accepts every number of RFC 8259, as float64, U+0000, and nesting up to
// 64: everything that Canonicalize can write.
func ParseJSONOfAnyNumbers(text string) (any, error) {
	return parse(text, reader{maxDepth: 64, isLoose: true})
}

func parse(text string, r reader) (any, error) {
	if !utf8.ValidString(text) {
		return nil, refuse("malformed-json", "not UTF-8")
	}
	r.text = text
	r.skipSpace()
	value, err := r.value(0)
	if err != nil {
		return nil, err
	}
	r.skipSpace()
	if r.at != len(text) {
		return nil, r.fail("text after the value")
	}
	return value, nil
}

// reader sets `at` to the position after what it has read. A byte order mark is not a JSON token, so it is refused like
// any other character.
type reader struct {
	text     string
	at       int
	maxDepth int
	isLoose  bool
}

func (r *reader) fail(problem string) error {
	return refuse("malformed-json", "%s at byte %d", problem, r.at)
}

// peek returns 0 at the end. A NUL in the text is not a token, so the two need not be distinguished.
func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) take(character byte) bool {
	if r.peek() != character {
		return false
	}
	r.at++
	return true
}

func (r *reader) skipSpace() {
	for strings.IndexByte(" \t\r\n", r.peek()) >= 0 {
		r.at++
	}
}

func (r *reader) value(depth int) (any, error) {
	switch c := r.peek(); {
	case c == '"':
		return r.string()
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '-' || isDigit(c):
		return r.number()
	}
	for word, value := range map[string]any{"true": true, "false": false, "null": nil} {
		if strings.HasPrefix(r.text[r.at:], word) {
			r.at += len(word)
			return value, nil
		}
	}
	return nil, r.fail("expected a value")
}

func (r *reader) array(depth int) (any, error) {
	items := []any{}
	err := r.list(depth, ']', func() error {
		item, err := r.value(depth + 1)
		items = append(items, item)
		return err
	})
	return items, err
}

func (r *reader) object(depth int) (any, error) {
	members := map[string]any{}
	err := r.list(depth, '}', func() error {
		if r.peek() != '"' {
			return r.fail("expected a member name")
		}
		name, err := r.string()
		if err != nil {
			return err
		}
		if _, isKnown := members[name]; isKnown {
			return r.fail("duplicate member")
		}
		r.skipSpace()
		if !r.take(':') {
			return r.fail("expected a colon")
		}
		r.skipSpace()
		members[name], err = r.value(depth + 1)
		return err
	})
	return members, err
}

// list reads what is between brackets, item by item.
func (r *reader) list(depth int, end byte, item func() error) error {
	if depth >= r.maxDepth {
		return r.fail("nested too deep")
	}
	r.at++
	r.skipSpace()
	if r.take(end) {
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		r.skipSpace()
		if r.take(end) {
			return nil
		}
		if !r.take(',') {
			return r.fail("expected a comma or the end")
		}
		r.skipSpace()
	}
}

func (r *reader) number() (any, error) {
	start := r.at
	r.take('-')
	first := r.at
	r.digits()
	if r.at == first || (r.text[first] == '0' && r.at > first+1) {
		return nil, r.fail("number malformed")
	}
	if c := r.peek(); r.isLoose || c == '.' || c == 'e' || c == 'E' {
		return r.float(start)
	}
	value, err := strconv.ParseInt(r.text[start:r.at], 10, 64)
	if err != nil || value > maxInteger || value < -maxInteger {
		return nil, r.fail("number out of range")
	}
	return value, nil
}

func (r *reader) digits() {
	for isDigit(r.peek()) {
		r.at++
	}
}

func (r *reader) float(start int) (any, error) {
	if !r.isLoose {
		return nil, r.fail("number not an integer")
	}
	if r.take('.') {
		if !isDigit(r.peek()) {
			return nil, r.fail("number malformed")
		}
		r.digits()
	}
	if r.take('e') || r.take('E') {
		if !r.take('+') {
			r.take('-')
		}
		if !isDigit(r.peek()) {
			return nil, r.fail("number malformed")
		}
		r.digits()
	}
	value, err := strconv.ParseFloat(r.text[start:r.at], 64)
	if err != nil || math.IsInf(value, 0) {
		return nil, r.fail("number out of range")
	}
	return value, nil
}

var shortEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (r *reader) string() (string, error) {
	r.at++
	var text strings.Builder
	for {
		run := r.at
		for r.at < len(r.text) && r.text[r.at] != '"' && r.text[r.at] != '\\' && r.text[r.at] >= 0x20 {
			r.at++
		}
		text.WriteString(r.text[run:r.at])
		switch {
		case r.at == len(r.text):
			return "", r.fail("unterminated string")
		case r.take('"'):
			return text.String(), nil
		case !r.take('\\'):
			return "", r.fail("control character in a string")
		}
		if short, isShort := shortEscapes[r.peek()]; isShort {
			text.WriteByte(short)
			r.at++
			continue
		}
		unit, err := r.unicodeEscape()
		if err != nil {
			return "", err
		}
		text.WriteRune(unit)
	}
}

// unicodeEscape reads what follows the backslash: one code unit, or the two of a surrogate pair, both escaped.
func (r *reader) unicodeEscape() (rune, error) {
	unit, ok := r.codeUnit()
	switch {
	case !ok:
		return 0, r.fail("invalid escape")
	case unit == 0 && !r.isLoose:
		return 0, r.fail("U+0000")
	case unit < 0xd800 || unit > 0xdfff:
		return unit, nil
	}
	isPair := unit < 0xdc00 && r.take('\\')
	low, ok := rune(0), false
	if isPair {
		low, ok = r.codeUnit()
	}
	if !ok || low < 0xdc00 || low > 0xdfff {
		return 0, r.fail("lone surrogate")
	}
	return (unit-0xd800)<<10 + (low - 0xdc00) + 0x10000, nil
}

func (r *reader) codeUnit() (rune, bool) {
	if !r.take('u') || len(r.text)-r.at < 4 {
		return 0, false
	}
	var unit rune
	for _, digit := range []byte(r.text[r.at : r.at+4]) {
		value := strings.IndexByte("0123456789abcdef", digit|0x20)
		if value < 0 || (digit < 'A' && !isDigit(digit)) {
			return 0, false
		}
		unit = unit<<4 | rune(value)
	}
	r.at += 4
	return unit, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
