package svckit

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonicalize writes the RFC 8785 form of plain JSON: nil, bool, int, int64, float64, string, []any, []string and
// map[string]any. It fails for values without such a form: NaN, an infinity, an integer beyond 2^53-1, text that is not
// UTF-8, nesting deeper than 64, another type.
func Canonicalize(value any) (string, error) {
	var text strings.Builder
	if err := write(&text, value, 0); err != nil {
		return "", err
	}
	return text.String(), nil
}

func write(text *strings.Builder, value any, depth int) error {
	switch value := value.(type) {
	case nil:
		text.WriteString("null")
	case bool:
		text.WriteString(strconv.FormatBool(value))
	case int:
		return write(text, int64(value), depth)
	case int64:
		if value > maxInteger || value < -maxInteger {
			return errors.New("integer beyond 2^53-1")
		}
		text.WriteString(strconv.FormatInt(value, 10))
	case float64:
		return writeNumber(text, value)
	case string:
		return writeString(text, value)
	case []string:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = item
		}
		return write(text, items, depth)
	case []any:
		return writeArray(text, value, depth)
	case map[string]any:
		return writeObject(text, value, depth)
	default:
		return fmt.Errorf("%T is not JSON", value)
	}
	return nil
}

func writeArray(text *strings.Builder, items []any, depth int) error {
	if depth >= 64 {
		return errors.New("nested too deep")
	}
	text.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := write(text, item, depth+1); err != nil {
			return err
		}
	}
	text.WriteByte(']')
	return nil
}

func writeObject(text *strings.Builder, members map[string]any, depth int) error {
	if depth >= 64 {
		return errors.New("nested too deep")
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return isBeforeInUTF16(names[i], names[j]) })
	text.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := writeString(text, name); err != nil {
			return err
		}
		text.WriteByte(':')
		if err := write(text, members[name], depth+1); err != nil {
			return err
		}
	}
	text.WriteByte('}')
	return nil
}

// isBeforeInUTF16 compares code units, as ECMAScript does; UTF-8 bytes would sort U+FFFF before a surrogate pair.
func isBeforeInUTF16(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func writeString(text *strings.Builder, value string) error {
	if !utf8.ValidString(value) {
		return errors.New("text that is not UTF-8")
	}
	text.WriteByte('"')
	for _, character := range value {
		if escape, isEscaped := escapes[character]; isEscaped {
			text.WriteString(escape)
		} else if character < 0x20 {
			fmt.Fprintf(text, `\u%04x`, character)
		} else {
			text.WriteRune(character)
		}
	}
	text.WriteByte('"')
	return nil
}

// writeNumber is ECMAScript's Number::toString. Go finds the same shortest digits and only formats them differently.
func writeNumber(text *strings.Builder, value float64) error {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return errors.New("number not finite")
	}
	if value == 0 {
		text.WriteByte('0')
		return nil
	}
	if abs := math.Abs(value); abs >= 1e-6 && abs < 1e21 {
		text.WriteString(strconv.FormatFloat(value, 'f', -1, 64))
		return nil
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', -1, 64), "e")
	sign, digits := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	text.WriteString(mantissa + "e" + sign + digits)
	return nil
}
