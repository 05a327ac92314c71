package svckit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

const (
	proofTyp = "svc-proof+jwt"
	grantTyp = "vc+jwt"
)

var (
	grantContext = []string{"https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/undefined-terms/v2"}
	grantType    = []string{"VerifiableCredential", "SvcGrant"}
	uriForm      = regexp.MustCompile(`^https?://[\x21-\x7e]+$`)
	indexForm    = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,15})$`)
	asterisks    = regexp.MustCompile(`\*+`)
	periods      = map[any]bool{"hour": true, "day": true, "week": true, "month": true}
	budgetKeys   = map[string][]string{
		"commerce:purchase": {"maxTotal", "maxPerPeriod", "period", "maxUses"},
		"api:call":          {"maxUses"},
	}
)

// Action is an Action as JSON (protocol §5): type, resource, and amount and currency, or method.
type Action = map[string]any

// Purchase returns a commerce:purchase; amount is in minor units.
func Purchase(resource string, amount int64, currency string) Action {
	return Action{"type": "commerce:purchase", "resource": resource, "amount": amount, "currency": currency}
}

// APICall returns an api:call.
func APICall(method, url string) Action {
	return Action{"type": "api:call", "method": method, "resource": url}
}

// CheckAction returns a *Refused with ACTION_MALFORMED for a value that is not a well-formed Action.
func CheckAction(value any) error {
	wrong := func(problem string) error { return refuse("ACTION_MALFORMED", "action%s", problem) }
	action, ok := value.(map[string]any)
	if !ok {
		return wrong(" must be a JSON object")
	}
	names := map[any][]string{
		"commerce:purchase": {"type", "resource", "amount", "currency"},
		"api:call":          {"type", "method", "resource"},
	}
	kind, _ := action["type"].(string)
	if names[kind] == nil || !hasExactly(action, names[kind]) {
		return wrong(": another type, or other members than those of its type")
	}
	resource, ok := action["resource"].(string)
	if length := utf16Length(resource); !ok || length < 1 || length > 2048 || strings.ContainsRune(resource, 0) {
		return wrong(".resource must be a string of 1 to 2,048 characters without U+0000")
	}
	if kind == "commerce:purchase" {
		if !isCount(action["amount"]) || !is(currencyForm, action["currency"]) {
			return wrong(": amount must be an integer of minor units, currency three upper-case letters")
		}
		return nil
	}
	_, isURL := NormalizeHTU(resource)
	if !is(methodForm, action["method"]) || !isURL || !strings.HasPrefix(resource, "http://") && !strings.HasPrefix(resource, "https://") {
		return wrong(": method must be 1 to 32 upper-case letters, resource an absolute http or https URL")
	}
	return nil
}

func hasExactly(object map[string]any, names []string) bool {
	for _, name := range names {
		if _, ok := object[name]; !ok {
			return false
		}
	}
	return len(object) == len(names)
}

// RequestHash returns the request_hash of a Receipt about this Action and HTTP request.
func RequestHash(action Action, method, url string) (string, error) {
	htu, ok := NormalizeHTU(url)
	if !ok {
		return "", errors.New("not a URL that anybody can sign for")
	}
	text, err := Canonicalize(map[string]any{"action": action, "htm": method, "htu": htu})
	return SHA256(text), err
}

// Proof is a well-formed Proof. IsSigned says whether the Agent signed it.
type Proof struct {
	Agent, Audience, GrantID, Method string
	// URL is in normal form.
	URL    string
	Action Action
	// IAT is in seconds since the epoch.
	IAT int64
	JTI string
	jws jwsParts
}

// IsSigned says whether the signature is strict and by the Agent that the Proof names.
func (p *Proof) IsSigned() bool {
	return p != nil && verifyStrict(decodeDidKey(p.Agent), []byte(p.jws.signingInput), p.jws.signature)
}

// ParseProof reads a Proof (protocol §3); its code for every fault of form is PROOF_MALFORMED.
func ParseProof(text string) (*Proof, error) {
	wrong := func(problem string) error { return refuse("PROOF_MALFORMED", "%s", problem) }
	jws, err := parseJWS(text, 8192)
	if err != nil {
		return nil, wrong(err.Error())
	}
	var found findings
	kid := headerKID(jws.header, proofTyp, "", &found)
	if err := found.worst(); err != nil {
		return nil, wrong(err.Error())
	}
	claims := jws.payload
	if !hasExactly(claims, []string{"iss", "aud", "grant_id", "htm", "htu", "action", "iat", "jti"}) {
		return nil, wrong("another set of members than that of a Proof")
	}
	agent, _ := claims["iss"].(string)
	if decodeDidKey(agent) == nil || kid != agent+"#"+agent[len("did:key:"):] {
		return nil, wrong("iss must be an Ed25519 did:key, and kid its key")
	}
	if !isDidWeb(claims["aud"]) || !is(grantIDForm, claims["grant_id"]) || !is(methodForm, claims["htm"]) || !is(jtiForm, claims["jti"]) {
		return nil, wrong("aud, grant_id, htm or jti has not its form")
	}
	url, _ := claims["htu"].(string)
	normal, isURL := NormalizeHTU(url)
	iat, isInteger := claims["iat"].(int64)
	if !isURL || !isInteger {
		return nil, wrong("htu must be an absolute http or https URL, iat an integer of seconds")
	}
	if err := CheckAction(claims["action"]); err != nil {
		return nil, wrong(err.Error())
	}
	text4 := func(name string) string { return claims[name].(string) }
	return &Proof{
		Agent: agent, Audience: text4("aud"), GrantID: text4("grant_id"), Method: text4("htm"), URL: normal,
		Action: claims["action"].(map[string]any), IAT: iat, JTI: text4("jti"), jws: jws,
	}, nil
}

// ProofRequest is what a Proof covers: one HTTP request, under one Grant, to one relying party.
type ProofRequest struct {
	GrantID string
	// Audience is the did:web DID of the relying party.
	Audience string
	// Method and URL are those of the HTTP request that will carry the Proof; the URL is absolute.
	Method, URL string
	// Action is what the request does, in the relying party's terms.
	Action Action
	// Now is the present time unless given.
	Now time.Time
	// JTI has 22 to 64 base64url characters, never used before; random unless given.
	JTI string
}

// SignProof signs a Proof for the header Svc-Proof of one request; it is valid for one use. A Proof with a wrong form,
// or one that does not match its own request, is refused here as the service would refuse it.
func SignProof(agent Agent, request ProofRequest) (string, error) {
	if err := CheckAction(request.Action); err != nil {
		return "", err
	}
	htu, ok := NormalizeHTU(request.URL)
	if !ok {
		return "", refuse("PROOF_MALFORMED", "the URL must be an absolute http or https URL without user info")
	}
	if request.Action["type"] == "api:call" {
		resource, _ := NormalizeHTU(request.Action["resource"].(string))
		if request.Action["method"] != request.Method || resource != htu {
			return "", refuse("PROOF_ACTION_MISMATCH", "an api:call is the request itself: method and URL must agree")
		}
	}
	if request.Now.IsZero() {
		request.Now = time.Now()
	}
	if request.JTI == "" {
		nonce := make([]byte, 32)
		if _, err := rand.Read(nonce); err != nil {
			return "", err
		}
		request.JTI = encodeBase64url(nonce)
	}
	proof, err := signJWS(agent.Signer, proofTyp, map[string]any{
		"iss": agent.DID, "aud": request.Audience, "grant_id": request.GrantID, "htm": request.Method, "htu": htu,
		"action": request.Action, "iat": request.Now.Unix(), "jti": request.JTI,
	})
	if err != nil {
		return "", err
	}
	_, err = ParseProof(proof)
	return proof, err
}

// Grant is a well-formed Grant. Only the issuer's DID document tells whether its signature is valid.
type Grant struct {
	KID, ID, Issuer, Agent, ValidFrom, ValidUntil string
	// Audience is nil for any registered relying party.
	Audience     []string
	Capabilities []any
	// BudgetProblem is the fault in the form of the budgets. A profile that supports budgets denies the Grant as
	// malformed; another profile denies it for unknown constraints.
	BudgetProblem string
	jws           jwsParts
}

// IsSignedBy says whether the signature is strict and by this raw Ed25519 key.
func (g *Grant) IsSignedBy(key []byte) bool {
	return g != nil && verifyStrict(key, []byte(g.jws.signingInput), g.jws.signature)
}

// Of the findings, a malformed form takes precedence over unknown features (protocol §2).
type findings struct{ isMalformed, isUnsupported, budget string }

func (f *findings) malformed(format string, arguments ...any) {
	if f.isMalformed == "" {
		f.isMalformed = fmt.Sprintf(format, arguments...)
	}
}

func (f *findings) unsupported(format string, arguments ...any) {
	if f.isUnsupported == "" {
		f.isUnsupported = fmt.Sprintf(format, arguments...)
	}
}

func (f *findings) unknown(object map[string]any, at string, known ...string) {
	for name := range object {
		isKnown := false
		for _, one := range known {
			isKnown = isKnown || one == name
		}
		if !isKnown {
			f.unsupported("%s has an unknown member %q", at, name)
		}
	}
}

func (f *findings) worst() error {
	if f.isMalformed != "" {
		return refuse("GRANT_MALFORMED", "%s", f.isMalformed)
	}
	if f.isUnsupported != "" {
		return refuse("UNSUPPORTED_FEATURE", "%s", f.isUnsupported)
	}
	return nil
}

// headerKID demands exactly alg, typ and kid, and for a Grant also cty. Any other member would change what a signature
// means.
func headerKID(header map[string]any, typ, cty string, found *findings) string {
	known := []string{"alg", "typ", "kid"}
	if cty != "" && header["cty"] == cty {
		known = append(known, "cty")
	}
	found.unknown(header, "the header", known...)
	if alg, ok := header["alg"].(string); !ok {
		found.malformed("header alg must be a string")
	} else if alg != "EdDSA" && alg != "Ed25519" {
		found.unsupported("header alg %q is not EdDSA", alg)
	}
	if header["typ"] != typ {
		found.malformed("header typ must be %q", typ)
	}
	kid, _ := header["kid"].(string)
	if length := utf16Length(kid); length < 1 || length > 1024 {
		found.malformed("header kid must be a string of 1 to 1,024 characters")
	}
	return kid
}

// ParseGrant reads a Grant (protocol §2); its code is GRANT_MALFORMED, or UNSUPPORTED_FEATURE if only features are
// unknown.
func ParseGrant(text string) (*Grant, error) {
	jws, err := parseJWS(text, 16_384)
	if err != nil {
		return nil, refuse("GRANT_MALFORMED", "%s", err)
	}
	var found findings
	grant := Grant{KID: headerKID(jws.header, grantTyp, "vc", &found), jws: jws}
	claims := jws.payload
	found.unknown(claims, "the Grant", "@context", "id", "type", "issuer", "validFrom", "validUntil", "credentialStatus",
		"credentialSubject", "iss", "sub", "jti", "iat")
	if !isList(claims["@context"], grantContext) || !isList(claims["type"], grantType) {
		found.malformed("@context or type is not that of a Grant")
	}
	if !is(grantIDForm, claims["id"]) || !isDidWeb(claims["issuer"]) {
		found.malformed("id or issuer has not its form")
	}
	begin, hasBegin := parseTimeOfLength(20, claims["validFrom"])
	end, hasEnd := parseTimeOfLength(20, claims["validUntil"])
	if !hasBegin || !hasEnd || end <= begin || end-begin > 90*86_400_000 {
		found.malformed("validFrom and validUntil must be YYYY-MM-DDThh:mm:ssZ, the second later by at most 90 days")
	}
	checkStatus(claims["credentialStatus"], &found)
	checkSubject(claims["credentialSubject"], &grant, &found)
	grant.ID, _ = claims["id"].(string)
	grant.Issuer, _ = claims["issuer"].(string)
	grant.ValidFrom, _ = claims["validFrom"].(string)
	grant.ValidUntil, _ = claims["validUntil"].(string)
	checkJWTClaims(claims, &grant, &found)
	grant.BudgetProblem = found.budget
	if err := found.worst(); err != nil {
		return nil, err
	}
	return &grant, nil
}

func isList(value any, right []string) bool {
	items, ok := value.([]any)
	if !ok || len(items) != len(right) {
		return false
	}
	for i, item := range items {
		if item != right[i] {
			return false
		}
	}
	return true
}

func checkStatus(value any, found *findings) {
	status, ok := value.(map[string]any)
	if !ok {
		found.malformed("credentialStatus must be an object")
		return
	}
	found.unknown(status, "credentialStatus", "id", "type", "statusPurpose", "statusListIndex", "statusListCredential")
	for name, right := range map[string]string{"type": "BitstringStatusListEntry", "statusPurpose": "revocation"} {
		if text, ok := status[name].(string); !ok {
			found.malformed("credentialStatus.%s must be a string", name)
		} else if text != right {
			found.unsupported("credentialStatus.%s is not known", name)
		}
	}
	for _, name := range []string{"id", "statusListCredential"} {
		if uri, _ := status[name].(string); len(uri) > 2048 || !uriForm.MatchString(uri) {
			found.malformed("credentialStatus.%s must be an http(s) URI", name)
		}
	}
	if !is(indexForm, status["statusListIndex"]) {
		found.malformed("credentialStatus.statusListIndex must be a decimal string")
	}
}

func checkSubject(value any, grant *Grant, found *findings) {
	if _, isArray := value.([]any); isArray {
		found.unsupported("several credential subjects")
		return
	}
	subject, ok := value.(map[string]any)
	if !ok {
		found.malformed("credentialSubject must be an object")
		return
	}
	found.unknown(subject, "credentialSubject", "id", "audience", "capabilities")
	if id, _ := subject["id"].(string); decodeDidKey(id) != nil {
		grant.Agent = id
	} else {
		found.malformed("credentialSubject.id must be an Ed25519 did:key")
	}
	if audience, isGiven := subject["audience"]; isGiven {
		if grant.Audience, ok = distinct(audience, 64, isDidWeb); !ok {
			found.malformed("audience must be 1 to 64 distinct did:web DIDs")
		}
	}
	grant.Capabilities, _ = subject["capabilities"].([]any)
	if len(grant.Capabilities) < 1 || len(grant.Capabilities) > 16 {
		found.malformed("capabilities must be an array of 1 to 16")
		return
	}
	for i, capability := range grant.Capabilities {
		checkCapability(capability, fmt.Sprintf("capabilities[%d]", i), found)
	}
}

// distinct returns 1 to most different strings that all pass isRight.
func distinct(value any, most int, isRight func(any) bool) ([]string, bool) {
	items, _ := value.([]any)
	seen, texts := map[string]bool{}, []string{}
	for _, item := range items {
		text, ok := item.(string)
		if !ok || !isRight(item) || seen[text] {
			return nil, false
		}
		seen[text] = true
		texts = append(texts, text)
	}
	return texts, len(items) >= 1 && len(items) <= most
}

// isResourcePattern: 1 to 512 characters with at most 8 runs of asterisks (protocol §6).
func isResourcePattern(value any) bool {
	text, _ := value.(string)
	length := utf16Length(text)
	return length >= 1 && length <= 512 && len(asterisks.FindAllString(text, -1)) <= 8
}

// arePatterns: 1 to 64 resource patterns.
func arePatterns(value any) bool {
	items, _ := value.([]any)
	for _, item := range items {
		if !isResourcePattern(item) {
			return false
		}
	}
	return len(items) >= 1 && len(items) <= 64
}

func checkCapability(value any, at string, found *findings) {
	capability, ok := value.(map[string]any)
	if !ok {
		found.malformed("%s must be an object", at)
		return
	}
	found.unknown(capability, at, "action", "constraints", "resources")
	constraints, ok := capability["constraints"].(map[string]any)
	if !ok {
		found.malformed("%s.constraints must be an object", at)
	}
	if resources, isGiven := capability["resources"]; isGiven && !arePatterns(resources) {
		found.malformed("%s.resources must be 1 to 64 patterns of 1 to 512 characters with at most 8 runs of *", at)
	}
	action, _ := capability["action"].(string)
	switch {
	case action == "":
		found.malformed("%s.action must be a string", at)
	case budgetKeys[action] == nil:
		found.unsupported("%s.action is not of this profile", at)
	case ok:
		if !areConstraints(action, constraints) {
			found.malformed("%s.constraints must have maxAmount and currency, or methods", at)
		}
		if problem := findBudgetProblem(action, constraints); problem != "" && found.budget == "" {
			found.budget = at + ".constraints: " + problem
		}
	}
}

// areConstraints says whether the required constraints are present and well-formed.
func areConstraints(action string, constraints map[string]any) bool {
	if action == "commerce:purchase" {
		return isCount(constraints["maxAmount"]) && is(currencyForm, constraints["currency"])
	}
	_, ok := distinct(constraints["methods"], 16, func(item any) bool { return is(methodForm, item) })
	return ok
}

// findBudgetProblem returns the fault in the form of the budgets in these constraints (protocol §11), or "".
func findBudgetProblem(action string, constraints map[string]any) string {
	for _, name := range budgetKeys[action] {
		value, isGiven := constraints[name]
		if text, _ := value.(string); isGiven && name == "period" && !periods[text] {
			return "period must be one of hour, day, week, month"
		}
		if isGiven && name != "period" && !isCount(value) {
			return name + " must be an integer, 0 to 2^53-1"
		}
	}
	_, hasPeriod := constraints["period"]
	_, hasLimit := constraints["maxPerPeriod"]
	if action == "commerce:purchase" && hasPeriod != hasLimit {
		return "period and maxPerPeriod must come together"
	}
	return ""
}

// checkJWTClaims demands that iss, sub and jti repeat what the credential says. iat must be an integer and is not used.
func checkJWTClaims(claims map[string]any, grant *Grant, found *findings) {
	for name, right := range map[string]string{"iss": grant.Issuer, "sub": grant.Agent, "jti": grant.ID} {
		value, isGiven := claims[name]
		text, isText := value.(string)
		if isGiven && (!isText || text != right && !(name == "sub" && right == "")) {
			found.malformed("%s must be what the credential says", name)
		}
	}
	if iat, isGiven := claims["iat"]; isGiven {
		if _, isInteger := iat.(int64); !isInteger {
			found.malformed("iat must be an integer")
		}
	}
}

// Allocation is the answer of POST /grants.
type Allocation struct {
	ID     string `json:"id"`
	Issuer string `json:"issuer"`
	Agent  string `json:"agent"`
	Status struct {
		ID         string `json:"id"`
		Type       string `json:"type"`
		Purpose    string `json:"statusPurpose"`
		Index      string `json:"statusListIndex"`
		Credential string `json:"statusListCredential"`
	} `json:"credentialStatus"`
}

// GrantRequest is the content of a Grant, besides what the service allocates.
type GrantRequest struct {
	// Capabilities has 1 to 16 Capabilities, as JSON.
	Capabilities []any
	// Audience has the did:web DIDs of the 1 to 64 relying parties at which the Grant is valid.
	Audience []string
	// AnyAudience, in place of Audience, makes the Grant valid at any registered relying party. An empty Audience does not
	// mean that, because it may be the result of a filter.
	AnyAudience bool
	// ValidFrom is in whole seconds. The default is one second before the service allocated the Grant, by its clock.
	// Without ValidFrom, SignGrant fails more than five minutes after the allocation, and if the clock here differs from
	// the service's by more than that.
	ValidFrom time.Time
	// Lifetime is DefaultLifetime or another one, in whole seconds, at most 90 days. It must be given; otherwise a
	// lifetime that was computed as zero would mean the default.
	Lifetime time.Duration
}

// DefaultLifetime is that of the TypeScript and the Python libraries.
const DefaultLifetime = 30 * 24 * time.Hour

// check refuses a request whose missing members would allow more.
func (r GrantRequest) check() error {
	switch {
	case r.AnyAudience && len(r.Audience) > 0:
		return refuse("GRANT_MALFORMED", "Audience or AnyAudience, not both")
	case !r.AnyAudience && len(r.Audience) == 0:
		return refuse("GRANT_MALFORMED", "Audience names no relying party: set AnyAudience for any registered one")
	case r.Lifetime < time.Second:
		return refuse("GRANT_MALFORMED", "Lifetime must be a second or more, such as DefaultLifetime")
	}
	return nil
}

const (
	// Longest time from the allocation of a Grant to its signature, and largest difference between the clock here and the service's.
	clocksApart = 5 * time.Minute
	// Largest difference between the clocks of two nodes of the service.
	nodesApart = time.Second
)

// presentOf returns a present that no node of the service considers to be in the future. Each node decides by its own
// clock when a Grant becomes valid. The present comes from the Grant's id, which contains the time of the allocation by
// one node's clock. If the clock here differs from that by more than clocksApart, presentOf returns an error: one of
// the clocks is wrong, or the allocation is old.
func presentOf(grantID string) (time.Time, error) {
	now := time.Now()
	if !is(grantIDForm, grantID) {
		return now, nil
	}
	allocated := time.UnixMilli(ulidTime(grantID))
	if ahead := now.Sub(allocated); ahead > clocksApart {
		return now, misused("by the clock here the service allocated the Grant %d s ago: sign within five minutes, set the clock if it is ahead, or give ValidFrom; nothing was signed", ahead/time.Second)
	} else if ahead < -clocksApart {
		return now, misused("the clock here is %d s behind the time at which the service allocated the Grant: set it, or give ValidFrom; nothing was signed", -ahead/time.Second)
	}
	return allocated.Add(-nodesApart), nil
}

// SignGrant signs the Grant that was reserved by POST /grants, with the Principal's key. A Grant with a wrong form is
// refused here as the service would refuse it.
func SignGrant(signer Signer, allocation Allocation, request GrantRequest) (string, error) {
	if err := request.check(); err != nil {
		return "", err
	}
	issuer, _, _ := strings.Cut(signer.KID, "#")
	if allocation.Issuer != issuer {
		return "", refuse("GRANT_MALFORMED", "allocated to %s, but the signer's key is of %s", allocation.Issuer, issuer)
	}
	if !isStrictPublicKey(decodeDidKey(allocation.Agent)) {
		return "", refuse("GRANT_MALFORMED", "agent must be the did:key of a usable Ed25519 key")
	}
	if request.ValidFrom.IsZero() {
		present, err := presentOf(allocation.ID)
		if err != nil {
			return "", err
		}
		request.ValidFrom = present
	}
	begin, status := request.ValidFrom.UTC().Truncate(time.Second), allocation.Status
	subject := map[string]any{"id": allocation.Agent, "capabilities": request.Capabilities}
	if !request.AnyAudience {
		subject["audience"] = request.Audience
	}
	grant, err := signJWS(signer, grantTyp, map[string]any{
		"@context": grantContext, "id": allocation.ID, "type": grantType, "issuer": issuer,
		"validFrom": begin.Format(time.RFC3339), "validUntil": begin.Add(request.Lifetime).Format(time.RFC3339),
		"credentialStatus": map[string]any{
			"id": status.ID, "type": status.Type, "statusPurpose": status.Purpose,
			"statusListIndex": status.Index, "statusListCredential": status.Credential,
		},
		"credentialSubject": subject,
	})
	if err != nil {
		return "", err
	}
	signed, err := ParseGrant(grant)
	if err == nil && signed.BudgetProblem != "" {
		err = refuse("GRANT_MALFORMED", "%s", signed.BudgetProblem)
	}
	return grant, err
}
