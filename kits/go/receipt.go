package svckit

import (
	"regexp"
	"strings"
)

// VerifiedReceipt is a Receipt that the service signed, read from the signed bytes.
type VerifiedReceipt struct {
	// Receipt has the members of the body, and the JWS as "receipt".
	Receipt map[string]any
	// Decision is ALLOW or DENY.
	Decision string
	KID      string
	// untimely says why the date of the Receipt is outside its key's time; "" if it is not.
	untimely string
}

// VerifyReceipt verifies the text of a Receipt (protocol §7, §8): its form, its signature, and that all members agree.
// Success means that the service signed exactly this and that it is consistent. It does not mean that the Receipt is
// about your request (compare request_hash), nor that it is an ALLOW. For a Receipt with the code key-not-in-force, use
// VerifyIncludedReceipt.
func VerifyReceipt(receipt string, keys *ServiceKeys) (*VerifiedReceipt, error) {
	verified, err := verifySigned(receipt, keys)
	if err == nil && verified.untimely != "" {
		return nil, refuse("key-not-in-force", "%s: it takes the inclusion proof and the attestation", verified.untimely)
	}
	return verified, err
}

func verifySigned(text string, keys *ServiceKeys) (*VerifiedReceipt, error) {
	if keys == nil {
		return nil, errNoKeys
	}
	shown := objectOf(text)
	if shown == nil || len(text) > 1_048_576 {
		if _, err := splitJWS(text, 65_536); err == nil {
			return nil, refuse("malformed-receipt", "this is a JWS: pass the whole answer")
		}
		return nil, refuse("malformed-receipt", "the Receipt must be a strict JSON object")
	}
	return verifyShown(shown, keys)
}

func verifyShown(shown map[string]any, keys *ServiceKeys) (*VerifiedReceipt, error) {
	given, isThere := shown["receipt"]
	jws, isText := given.(string)
	if !isThere {
		return nil, refuse("missing-member", "/receipt is missing")
	}
	if !isText {
		return nil, refuse("malformed-member", "/receipt must be a compact JWS")
	}
	parts, err := splitJWS(jws, 65_536)
	if err != nil {
		return nil, err
	}
	kid, err := exactKID(parts.headerText, "svc-receipt+jwt")
	if err != nil {
		return nil, err
	}
	body := objectOf(parts.payloadText)
	if canonical, err := Canonicalize(body); body == nil || err != nil || canonical != parts.payloadText {
		return nil, refuse("payload-not-canonical", "the payload must be the RFC 8785 form of a JSON object")
	}
	if canonical, err := Canonicalize(without(shown, "receipt")); err != nil || canonical != parts.payloadText {
		return nil, refuse("payload-mismatch", "the members beside the JWS are not those that were signed")
	}
	if err := checkBody(body); err != nil {
		return nil, err
	}
	at, _ := parseTime(body["evaluated_at"])
	untimely, err := keys.check("receipt", kid, parts, &at)
	if err != nil {
		return nil, err
	}
	decision := body["decision"].(string)
	body["receipt"] = jws
	return &VerifiedReceipt{body, decision, kid, untimely}, nil
}

func without(object map[string]any, left string) map[string]any {
	rest := make(map[string]any, len(object))
	for name, value := range object {
		if name != left {
			rest[name] = value
		}
	}
	return rest
}

// A shape checks the form of a value; path is its JSON pointer.
type shape func(value any, path string) error

func scalar(right string, isRight func(any) bool) shape {
	return func(value any, path string) error {
		if !isRight(value) {
			return refuse("malformed-member", "%s must be %s", path, right)
		}
		return nil
	}
}

func form(right, pattern string) shape {
	compiled := regexp.MustCompile(`^(?:` + pattern + `)$`)
	return scalar(right, func(value any) bool { return is(compiled, value) })
}

type members map[string]shape

// closed is an object with these members and no others.
func closed(required, optional members) shape {
	return func(value any, path string) error {
		object, ok := value.(map[string]any)
		if !ok {
			return refuse("malformed-member", "%s must be an object", path)
		}
		for name := range object {
			if required[name] == nil && optional[name] == nil {
				return refuse("unknown-member", "%s/%s is unknown", path, name)
			}
		}
		for name := range required {
			if _, isThere := object[name]; !isThere {
				return refuse("missing-member", "%s/%s is missing", path, name)
			}
		}
		for name, member := range object {
			check := required[name]
			if check == nil {
				check = optional[name]
			}
			if err := check(member, path+"/"+name); err != nil {
				return err
			}
		}
		return nil
	}
}

var (
	anything     = scalar("", func(any) bool { return true })
	aSHA256      = scalar(`"sha256:" and 64 lower-case hex characters`, func(value any) bool { return is(sha256Form, value) })
	aDidWeb      = scalar("a did:web DID", isDidWeb)
	anInstant    = scalar("a time as YYYY-MM-DDThh:mm:ss.sssZ", isInstant)
	aCount       = scalar("an integer, 0 to 2^53-1", isCount)
	aText        = scalar("a non-empty string", func(value any) bool { text, _ := value.(string); return text != "" })
	aResult      = form("PASS or FAIL", "PASS|FAIL")
	anOutcome    = scalar(`true, false or "skipped"`, func(value any) bool { return value == true || value == false || value == "skipped" })
	noMembers    = members{}
	capabilities = map[any]shape{
		"commerce:purchase": aCapability("commerce:purchase", members{"maxTotal": anything, "maxPerPeriod": anything, "period": anything, "maxUses": anything},
			members{"currency": scalar("three upper-case letters", func(value any) bool { return is(currencyForm, value) }), "maxAmount": aCount}),
		"api:call": aCapability("api:call", members{"maxUses": anything}, members{"methods": scalar("1 to 16 distinct upper-case HTTP methods", func(value any) bool {
			_, ok := distinct(value, 16, func(item any) bool { return is(methodForm, item) })
			return ok
		})}),
	}
	bodyShape = closed(members{
		"decision":     form("ALLOW or DENY", "ALLOW|DENY"),
		"evaluated_at": anInstant,
		"evidence": closed(members{"trust_config_hash": aSHA256, "trust_config_version": aText}, members{
			"consumption":       closed(members{"key": aSHA256, "snapshot_hash": aSHA256, "version": aCount}, noMembers),
			"issuer_resolution": closed(members{"did": aDidWeb, "did_document_hash": aSHA256, "resolved_at": anInstant}, noMembers),
			"status": closed(members{
				"checked_at":      anInstant,
				"credential_hash": aSHA256,
				"credential_url": scalar("an http or https URL", func(value any) bool {
					text, _ := value.(string)
					return len(text) <= 2048 && uriForm.MatchString(text)
				}),
				"status_list_index": scalar("a decimal integer", func(value any) bool { return is(indexForm, value) }),
			}, members{"valid_from": scalar("an RFC 3339 time in UTC", isTime)}),
		}),
		"grant_hash":      aSHA256,
		"proof_hash":      aSHA256,
		"protocol":        closed(members{"checks": outcomesOf("P"), "profile": aText, "profile_hash": aSHA256, "result": aResult}, noMembers),
		"reason":          scalar("a reason code or null", func(value any) bool { return value == nil || isReason(value) }),
		"receipt_id":      scalar(`"drc_" and a ULID`, func(value any) bool { return is(receiptIDForm, value) }),
		"receipt_version": form("svc-receipt-v1", "svc-receipt-v1"),
		"relying_party":   aDidWeb,
		"trust":           closed(members{"checks": outcomesOf("T"), "policy_version": form("svc-trust-v1", "svc-trust-v1"), "result": aResult}, noMembers),
	}, members{
		"agent":        form("an Ed25519 did:key DID", "did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}"),
		"authority":    anAuthority,
		"expires_at":   scalar("a time as YYYY-MM-DDThh:mm:ssZ", isSeconds),
		"grant_id":     scalar(`"urn:svc:grant:" and a ULID`, func(value any) bool { return is(grantIDForm, value) }),
		"principal":    closed(members{"id": aDidWeb, "verification": form("domain or unverified", "domain|unverified")}, noMembers),
		"request_hash": aSHA256,
	})
)

func isReason(value any) bool {
	text, ok := value.(string)
	return ok && reasonCodes[text]
}

// outcomesOf covers the checks of a group; checkNamed checks those that only some profiles have.
func outcomesOf(group string) shape {
	ofEach, ofSome := members{}, members{}
	for id, count := range profilesWith {
		if strings.HasPrefix(id, group) && count == len(profiles) {
			ofEach[id] = anOutcome
		} else if strings.HasPrefix(id, group) {
			ofSome[id] = anOutcome
		}
	}
	return closed(ofEach, ofSome)
}

func aCapability(action string, budgets, constraints members) shape {
	check := closed(members{"action": anything, "constraints": closed(constraints, budgets)}, members{
		"resources": scalar("1 to 64 resource patterns", func(value any) bool {
			items, _ := value.([]any)
			for _, item := range items {
				if text, _ := item.(string); strings.ContainsRune(text, 0) {
					return false
				}
			}
			return arePatterns(value)
		}),
	})
	return func(value any, path string) error {
		if err := check(value, path); err != nil {
			return err
		}
		if problem := findBudgetProblem(action, value.(map[string]any)["constraints"].(map[string]any)); problem != "" {
			return refuse("malformed-member", "%s/constraints: %s", path, problem)
		}
		return nil
	}
}

func anAuthority(value any, path string) error {
	if value == nil {
		return nil
	}
	capability, _ := value.(map[string]any)
	action, isText := capability["action"].(string)
	if _, isThere := capability["action"]; capability != nil && !isThere {
		return refuse("missing-member", "%s/action is missing", path)
	}
	if check := capabilities[action]; isText && check != nil {
		return check(value, path)
	}
	return refuse("malformed-member", "%s must be a Capability of a known action", path)
}

// body is a well-formed body of a Receipt, with values that several rules use.
type body struct {
	all, evidence map[string]any
	outcomes      map[string]any
	profile       publishedProfile
	config        publishedTrustConfig
}

func (b *body) passed(ids ...string) bool {
	for _, id := range ids {
		if b.outcomes[id] != true {
			return false
		}
	}
	return true
}

// checkBody returns the first fault of a body, in form or in consistency.
func checkBody(all map[string]any) error {
	if err := bodyShape(all, ""); err != nil {
		return err
	}
	b := &body{all: all, evidence: all["evidence"].(map[string]any), outcomes: map[string]any{}}
	for _, group := range []string{"protocol", "trust"} {
		for id, outcome := range all[group].(map[string]any)["checks"].(map[string]any) {
			b.outcomes[id] = outcome
		}
	}
	if at, _ := parseTime(all["evaluated_at"]); ulidTime(all["receipt_id"].(string)) != at {
		return refuse("wrong-time", "evaluated_at must be the time in receipt_id")
	}
	for _, rule := range []func() error{b.checkPublished, b.checkNamed, b.checkOutcomes, b.checkPresence, b.checkAuthority, b.checkTimes} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

func (b *body) checkPublished() error {
	protocol := b.all["protocol"].(map[string]any)
	profile, isKnown := profiles[protocol["profile"].(string)]
	if !isKnown {
		return refuse("unknown-profile", "the profile %q is not known to this version; a later one may know it", protocol["profile"])
	}
	if !profile.hashes[protocol["profile_hash"]] {
		return refuse("wrong-profile-hash", "the hash of %s is not known to this version; a later one may know it", protocol["profile"])
	}
	config, isKnown := trustConfigs[b.evidence["trust_config_version"].(string)]
	if !isKnown {
		return refuse("unknown-trust-config", "the trust configuration %q is not known to this version; a later one may know it", b.evidence["trust_config_version"])
	}
	if b.evidence["trust_config_hash"] != config.hash {
		return refuse("wrong-trust-config-hash", "the hash of %s is not known to this version; a later one may know it", b.evidence["trust_config_version"])
	}
	b.profile, b.config = profile, config
	return nil
}

// checkNamed demands exactly the checks of the profile.
func (b *body) checkNamed() error {
	profile := b.all["protocol"].(map[string]any)["profile"]
	named := map[string]bool{}
	for _, check := range b.profile.checks {
		named[check.id] = true
		if _, isThere := b.outcomes[check.id]; !isThere {
			return refuse("missing-member", "the check %s is missing: %s has it", check.id, profile)
		}
	}
	for id := range b.outcomes {
		if !named[id] {
			return refuse("unknown-member", "%s has no check %s", profile, id)
		}
	}
	return nil
}

func (b *body) checkOutcomes() error {
	var reasons []string
	for _, check := range b.profile.checks {
		outcome, canRun := b.outcomes[check.id], b.passed(check.requires...)
		if !canRun && outcome != "skipped" {
			return refuse("wrong-outcome", `%s must be "skipped": what it requires did not pass`, check.id)
		}
		isUnavailable := canRun && outcome == "skipped"
		if isUnavailable && !check.looksUp {
			return refuse("wrong-outcome", "%s must be true or false: it needs nothing that can be unavailable", check.id)
		}
		if reasons == nil && isUnavailable {
			reasons = []string{"SERVICE_UNAVAILABLE"}
		} else if reasons == nil && outcome == false {
			reasons = check.reasons
		}
	}
	decision := map[bool]string{true: "ALLOW", false: "DENY"}[reasons == nil]
	if b.all["decision"] != decision {
		return refuse("wrong-decision", "decision must be %s by the checks", decision)
	}
	isRight := reasons == nil && b.all["reason"] == nil
	for _, reason := range reasons {
		isRight = isRight || b.all["reason"] == reason
	}
	if !isRight {
		return refuse("wrong-reason", "reason must be one of %v, null on ALLOW", reasons)
	}
	for _, group := range []string{"protocol", "trust"} {
		result := "PASS"
		for _, outcome := range b.all[group].(map[string]any)["checks"].(map[string]any) {
			if outcome != true {
				result = "FAIL"
			}
		}
		if b.all[group].(map[string]any)["result"] != result {
			return refuse("wrong-result", "%s.result must be %s by its checks", group, result)
		}
	}
	return nil
}

func (b *body) checkPresence() error {
	for name, ids := range map[string][]string{
		"principal": {"P3"}, "grant_id": {"P3"}, "expires_at": {"P3"}, "authority": {"P3"}, "agent": {"P9"}, "request_hash": {"P9", "P15"},
	} {
		if _, isThere := b.all[name]; isThere != b.passed(ids...) {
			return refuse("wrong-presence", "/%s must be there exactly where %v passed", name, ids)
		}
	}
	canBe := map[string]bool{
		"issuer_resolution": b.passed("P1", "T1", "T3"),
		"status":            b.passed("P3") && b.outcomes["P6"] != "skipped",
	}
	for name, id := range map[string]string{"issuer_resolution": "P2", "status": "P6"} {
		_, isThere := b.evidence[name]
		if isThere && !canBe[name] || !isThere && b.passed(id) {
			return refuse("wrong-presence", "/evidence/%s contradicts %s", name, id)
		}
	}
	return nil
}

func (b *body) checkAuthority() error {
	value, isThere := b.all["authority"]
	if isThere && (value == nil) != (b.all["decision"] == "DENY") {
		return refuse("contradiction", "authority must be null on DENY, and a Capability on ALLOW")
	}
	hasBudget := false
	if authority, ok := value.(map[string]any); ok {
		for _, name := range budgetKeys[authority["action"].(string)] {
			_, isLimited := authority["constraints"].(map[string]any)[name]
			hasBudget = hasBudget || isLimited
		}
	}
	if hasBudget && !b.profile.hasBudgets {
		return refuse("contradiction", "the profile knows no budgets")
	}
	consumption, isConsumed := b.evidence["consumption"].(map[string]any)
	if isConsumed != hasBudget {
		return refuse("wrong-presence", "/evidence/consumption must be there exactly where authority has a budget")
	}
	if text, err := Canonicalize(value); hasBudget && (err != nil || consumption["key"] != SHA256(text)) {
		return refuse("contradiction", "/evidence/consumption/key must be the hash of authority")
	}
	if principal, ok := b.all["principal"].(map[string]any); ok {
		if principal["verification"] != map[bool]string{true: "domain", false: "unverified"}[b.passed("T2")] {
			return refuse("contradiction", "principal.verification contradicts T2")
		}
		if resolution, ok := b.evidence["issuer_resolution"].(map[string]any); ok && resolution["did"] != principal["id"] {
			return refuse("contradiction", "the DID document must be that of the Principal")
		}
	}
	return nil
}

func (b *body) checkTimes() error {
	at, _ := parseTime(b.all["evaluated_at"])
	if expires, ok := parseTime(b.all["expires_at"]); ok && b.passed("P5") != (floorSeconds(at) < expires) {
		return refuse("contradiction", "P5 contradicts expires_at")
	}
	for _, seen := range []struct {
		name, member string
		most         int64
	}{{"issuer_resolution", "resolved_at", b.config.didDocumentMaxAgeMs}, {"status", "checked_at", b.config.statusMaxAgeMs}} {
		evidence, _ := b.evidence[seen.name].(map[string]any)
		ms, ok := parseTime(evidence[seen.member])
		if ok && ms > at {
			return refuse("contradiction", "/evidence/%s/%s must not be after evaluated_at", seen.name, seen.member)
		}
		if ok && at-ms > seen.most {
			return refuse("stale-evidence", "/evidence/%s/%s is too old", seen.name, seen.member)
		}
	}
	return nil
}

// floorSeconds rounds the time of a ULID down to whole seconds; it is never before the epoch.
func floorSeconds(ms int64) int64 { return ms / 1000 * 1000 }
