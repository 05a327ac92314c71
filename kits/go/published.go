package svckit

import "strings"

// publishedCheck is a row of the table of checks (protocol §7).
type publishedCheck struct {
	id                string
	requires, reasons []string
	// looksUp means that the check depends on a look-up, which can be unavailable.
	looksUp bool
}

// publishedProfile has every hash under which the profile was ever published; all have the same table.
type publishedProfile struct {
	hashes     map[any]bool
	checks     []publishedCheck
	hasBudgets bool
}

// The format of table is `id: requirements: reasons`; `+` marks a look-up, `*` requires every check above.
const table = `
P1::GRANT_MALFORMED UNSUPPORTED_FEATURE
T1+:P1:ISSUER_UNKNOWN
T2:T1:ISSUER_UNVERIFIED
T3:T1:ISSUER_KEY_COMPROMISED
P2+:P1 T1 T3:ISSUER_KEY_NOT_FOUND
P3:P2:GRANT_SIGNATURE_INVALID
P4:P3:GRANT_NOT_YET_VALID
P5:P3:GRANT_EXPIRED
P6+:P3:AUTHORITY_REVOKED
P7:P3:AUDIENCE_MISMATCH
P8::PROOF_MALFORMED
P9:P8:PROOF_SIGNATURE_INVALID
P10:P3 P9:PROOF_AGENT_MISMATCH
P11:P3 P9:PROOF_GRANT_MISMATCH
P12:P9:PROOF_AUDIENCE_MISMATCH
P13:P9:PROOF_EXPIRED
P15::ACTION_MALFORMED
P14:P9 P15:PROOF_ACTION_MISMATCH
P16:P3 P15:ACTION_NOT_AUTHORIZED
P17:P16:UNKNOWN_CONSTRAINT
P18:P17:CURRENCY_NOT_AUTHORIZED
P19:P18:AMOUNT_EXCEEDS_AUTHORITY
P20:P19:RESOURCE_NOT_AUTHORIZED
T5+:*:PROOF_REPLAYED
`

func readTable(text string) []publishedCheck {
	var checks []publishedCheck
	var above []string
	for _, row := range strings.Fields(strings.ReplaceAll(strings.ReplaceAll(text, " ", ","), "\n", " ")) {
		cells := strings.Split(row, ":")
		split := func(cell string) []string {
			return strings.FieldsFunc(cell, func(character rune) bool { return character == ',' })
		}
		check := publishedCheck{strings.TrimSuffix(cells[0], "+"), split(cells[1]), split(cells[2]), strings.HasSuffix(cells[0], "+")}
		if cells[1] == "*" {
			check.requires = append([]string{}, above...)
		}
		checks, above = append(checks, check), append(above, check.id)
	}
	return checks
}

// Entries are added and never changed, because a Receipt is verified by the table under which it was decided.
var profiles = map[string]publishedProfile{
	"svc-base-v1": {
		hashes: map[any]bool{
			"sha256:0975a6dc1ec391b4d27271459c10281b9436849c527bd0519abab4d8e339aec2": true,
			"sha256:5f9de5299c5a12702418fdd6410521928d41780ff72c884c97229ac2e8f50950": true,
		},
		checks: readTable(table),
	},
	"svc-base-v2": {
		hashes: map[any]bool{
			"sha256:752ae3be25a7f0b9531efa9da92b7620f359b25dd88b9371100e5546ed415b96": true,
			"sha256:6177b922e8dd4dd844ff6a0d3235660ce3a3ed62e59858051a1de5096dc9fd05": true,
		},
		checks:     readTable(strings.Replace(table, "\nP19:", "\nP19+:", 1)),
		hasBudgets: true,
	},
}

type publishedTrustConfig struct {
	hash                                string
	didDocumentMaxAgeMs, statusMaxAgeMs int64
}

var trustConfigs = map[string]publishedTrustConfig{
	"svc-trust-config-1": {"sha256:0c4a5230f05be003701063986b5d01534d64cdf8423c322f83eb12ba7123c78e", 3_600_000, 30_000},
}

var reasonCodes = func() map[any]bool {
	codes := map[any]bool{"SERVICE_UNAVAILABLE": true, "ISSUER_NOT_TRUSTED": true}
	for _, profile := range profiles {
		for _, check := range profile.checks {
			for _, reason := range check.reasons {
				codes[reason] = true
			}
		}
	}
	return codes
}()

// profilesWith has, for each check, the number of profiles that have it.
var profilesWith = func() map[string]int {
	counts := map[string]int{}
	for _, profile := range profiles {
		for _, check := range profile.checks {
			counts[check.id]++
		}
	}
	return counts
}()
