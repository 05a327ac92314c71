package svckit

import (
	"regexp"
	"strconv"
	"strings"
)

const htuMaxChars = 2048

var (
	plainURL   = regexp.MustCompile(`^(?:[!-$&-\[\]-~]|%[0-9A-Fa-f]{2})*$`)
	escapeForm = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	regName    = regexp.MustCompile(`^(?:[a-z0-9._~!$&'()*+,;=-]|%[89A-F][0-9A-F])+$`)
	portForm   = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,4})$`)
	h16        = regexp.MustCompile(`^[0-9a-f]{1,4}$`)
	ipv4       = regexp.MustCompile(`^` + octet + `(?:\.` + octet + `){3}$`)
)

const octet = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`

// NormalizeHTU returns the normal form in which URLs are compared (protocol §4), without query and fragment; false if
// the text is not an acceptable absolute http or https URL.
func NormalizeHTU(url string) (string, bool) {
	if len(url) > htuMaxChars || !plainURL.MatchString(url) {
		return "", false
	}
	scheme, rest, _ := strings.Cut(url, "://")
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" || !strings.Contains(url, "://") {
		return "", false
	}
	end := indexAny(rest, "/?#")
	authority, ok := normalizeAuthority(rest[:end], map[string]string{"http": "80", "https": "443"}[scheme])
	path := rest[end:]
	normal := scheme + "://" + authority + removeDotSegments(normalizeEscapes(path[:indexAny(path, "?#")], false))
	return normal, ok && len(normal) <= htuMaxChars
}

func indexAny(text, characters string) int {
	if index := strings.IndexAny(text, characters); index >= 0 {
		return index
	}
	return len(text)
}

func normalizeAuthority(authority, defaultPort string) (string, bool) {
	end := indexAny(authority, ":")
	if strings.HasPrefix(authority, "[") {
		end = strings.IndexByte(authority, ']') + 1
	}
	host, ok := normalizeHost(authority[:end])
	rest := authority[end:]
	if !ok || rest != "" && rest[0] != ':' {
		return "", false
	}
	port := strings.TrimPrefix(rest, ":")
	if port == "" || port == defaultPort {
		return host, true
	}
	number, _ := strconv.Atoi(port)
	return host + ":" + port, portForm.MatchString(port) && number <= 65_535
}

func normalizeHost(text string) (string, bool) {
	text = strings.ToLower(text)
	if strings.HasPrefix(text, "[") {
		return text, isIPv6(text[1 : len(text)-1])
	}
	host := normalizeEscapes(text, true)
	return host, regName.MatchString(host)
}

// normalizeEscapes writes escapes in upper case and decodes those of unreserved characters.
func normalizeEscapes(text string, isHost bool) string {
	return escapeForm.ReplaceAllStringFunc(text, func(escape string) string {
		value, _ := strconv.ParseUint(escape[1:], 16, 8)
		character := string(rune(value))
		if !segmentForm.MatchString(character) && character != "~" {
			return strings.ToUpper(escape)
		}
		if isHost {
			return strings.ToLower(character)
		}
		return character
	})
}

// removeDotSegments is RFC 3986 §5.2.4. Empty segments count as segments.
func removeDotSegments(path string) string {
	segments := strings.Split(path, "/")[1:]
	if path == "" {
		return "/"
	}
	kept := []string{}
	for i, segment := range segments {
		if segment != "." && segment != ".." {
			kept = append(kept, segment)
			continue
		}
		if segment == ".." && len(kept) > 0 {
			kept = kept[:len(kept)-1]
		}
		if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// isIPv6 is RFC 3986 §3.2.2 in lower case.
func isIPv6(text string) bool {
	halves := strings.Split(text, "::")
	if len(halves) > 2 {
		return false
	}
	head, ok := countGroups(halves[0], len(halves) == 1)
	if len(halves) == 1 {
		return ok && head == 8
	}
	tail, isTail := countGroups(halves[1], true)
	return ok && isTail && head+tail <= 7
}

// countGroups counts 16-bit groups. Only the end of an address may be dotted IPv4.
func countGroups(text string, endsAddress bool) (int, bool) {
	if text == "" {
		return 0, true
	}
	groups, count := strings.Split(text, ":"), 0
	for i, group := range groups {
		switch {
		case h16.MatchString(group):
			count++
		case endsAddress && i == len(groups)-1 && ipv4.MatchString(group):
			count += 2
		default:
			return 0, false
		}
	}
	return count, true
}
