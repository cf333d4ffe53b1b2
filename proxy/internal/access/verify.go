package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// New returns a verifier and starts fetching the keys. It returns an error if the options are
// invalid.
func New(o Options) (*Verifier, error) {
	switch {
	case o.Issuer == "":
		return nil, errors.New("the issuer of tokens is missing")
	case o.Audience == "":
		return nil, errors.New("the audience of tokens is missing: tokens for other servers would be accepted")
	}
	if err := o.checkKeysURL(); err != nil {
		return nil, err
	}
	o.Resource = cmp.Or(o.Resource, o.Audience)
	resource, err := url.Parse(o.Resource)
	if err != nil || resource.Scheme != "http" && resource.Scheme != "https" || resource.Host == "" || resource.Fragment != "" {
		return nil, fmt.Errorf("%q is not a URL of this endpoint: set the resource that clients should use", o.Resource)
	}
	for _, s := range o.Scopes {
		if s == "" || strings.ContainsFunc(s, notInScope) {
			return nil, fmt.Errorf("%q is not a scope", s)
		}
	}
	o = o.withDefaults()
	v := &Verifier{options: o, resource: resource, keys: &keys{options: o}}
	v.challenge = v.bearer()
	v.keys.setNumber() // starts a fetch, so that a wrong address is logged at startup
	return v, nil
}

// checkKeysURL returns an error if the keys could be forged in transit; see [checkTrustworthy].
func (o Options) checkKeysURL() error {
	if o.JWKS == "" {
		if _, err := locations(o.Issuer); err != nil {
			return fmt.Errorf("cannot fetch the issuer's keys: %w", err)
		}
		return nil
	}
	if err := checkTrustworthy(o.JWKS); err != nil {
		return fmt.Errorf("the address of the issuer's keys: %w", err)
	}
	return nil
}

// notInScope reports whether the character r is forbidden in a scope (RFC 6749, section 3.3).
func notInScope(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }

// maxToken is the maximum length of a token in bytes.
const maxToken = 32 << 10

// algorithms lists the accepted signature algorithms. All of them are asymmetric, because a shared
// secret does not prove that the issuer created the token. The list must not be modified.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Verify verifies a token and returns its grant. The error is a [Denial].
func (v *Verifier) Verify(ctx context.Context, token string) (Grant, error) {
	if token == "" {
		return Grant{}, &Denial{Kind: Missing, Reason: "a bearer token is required"}
	}
	if len(token) > maxToken {
		return Grant{}, invalid("the token is too long")
	}
	digest, set := sha256.Sum256([]byte(token)), v.keys.setNumber()
	if grant, ok := v.memory.get(digest, set, v.options.Now()); ok {
		return grant, nil
	}
	grant, err := v.examine(ctx, token)
	if err == nil {
		v.memory.put(digest, set, grant)
	}
	return grant, err
}

// examine verifies a token that is not in the cache.
func (v *Verifier) examine(ctx context.Context, token string) (Grant, error) {
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return Grant{}, invalid("the token is not a JWT with an accepted signature algorithm")
	}
	header := parsed.Headers[0]
	if !accessType(header.ExtraHeaders[jose.HeaderType]) {
		return Grant{}, invalid("the token has another type")
	}
	key, err := v.keys.find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err != nil {
		return Grant{}, err
	}
	var all claims
	if err := parsed.Claims(key, &all.registered, &all.named); err != nil {
		return Grant{}, invalid("the token's signature is not from its issuer")
	}
	return v.checkClaims(all)
}

// accessType reports whether a token with the given typ header can be an access token. The header
// can be missing. Otherwise, it must be "at+jwt" or "application/at+jwt" (RFC 9068), or "jwt", the
// value that most issuers use. Tokens of other types, such as logout tokens, are rejected.
func accessType(typ any) bool {
	text, ok := typ.(string)
	return typ == nil || ok && slices.Contains([]string{"jwt", "at+jwt", "application/at+jwt"}, strings.ToLower(text))
}

// maxName is the maximum length of a principal's name in bytes.
const maxName = 255

// claims holds the claims of a token with a verified signature.
type claims struct {
	registered jwt.Claims
	named      map[string]any
}

// checkClaims returns an error if the claims do not satisfy the options. The token's signature must
// already have been verified.
func (v *Verifier) checkClaims(c claims) (Grant, error) {
	r := c.registered
	switch now := v.options.Now(); {
	case r.Issuer != v.options.Issuer:
		return Grant{}, invalid("the token is from another issuer")
	case !r.Audience.Contains(v.options.Audience):
		return Grant{}, invalid("the token is for another audience")
	case r.Expiry == nil:
		return Grant{}, invalid("the token never expires")
	case !now.Before(r.Expiry.Time().Add(leeway)):
		return Grant{}, invalid("the token has expired")
	case r.NotBefore != nil && now.Add(leeway).Before(r.NotBefore.Time()):
		return Grant{}, invalid("the token is not valid yet")
	case r.IssuedAt != nil && now.Add(leeway).Before(r.IssuedAt.Time()):
		return Grant{}, invalid("the token is from the future")
	}
	name, ok := c.named[v.options.PrincipalClaim].(string)
	if !ok || !isUnambiguous(name) {
		return Grant{}, invalid("the token has no subject")
	}
	had := c.scopes()
	missing := slices.DeleteFunc(slices.Clone(v.options.Scopes), func(s string) bool { return slices.Contains(had, s) })
	if len(missing) > 0 {
		return Grant{}, &Denial{Kind: Scope, Reason: "the token lacks the scope " + strings.Join(missing, " ")}
	}
	return Grant{Principal: v.options.Issuer + "#" + name, Expires: r.Expiry.Time().Add(leeway)}, nil
}

// isUnambiguous reports whether the name is short, valid UTF-8 without control characters. People
// and programs could misread other names.
func isUnambiguous(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// scopes returns the scopes in the scope and scp claims. A scope claim separates its scopes with
// spaces. The scp claim, which some issuers use instead, may be a list.
func (c claims) scopes() []string {
	var all []string
	for _, name := range []string{"scope", "scp"} {
		switch value := c.named[name].(type) {
		case string:
			all = append(all, strings.Fields(value)...)
		case []any:
			for _, item := range value {
				if s, ok := item.(string); ok {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// leeway is the accepted difference between the issuer's and this machine's clocks.
const leeway = 30 * time.Second

// Answer returns the HTTP status and the WWW-Authenticate header for an error from
// [Verifier.Verify]. If the issuer's keys are unavailable, the client gets the same response as for
// a missing token.
func (v *Verifier) Answer(err error) (status int, challenge string) {
	d, ok := errors.AsType[*Denial](err)
	if !ok {
		d = &Denial{Kind: Unavailable}
	}
	switch d.Kind {
	case Invalid:
		return http.StatusUnauthorized, v.challenge + `, error="invalid_token", error_description="` + d.Reason + `"`
	case Scope:
		return http.StatusForbidden, v.challenge + `, error="insufficient_scope", error_description="` + d.Reason + `"`
	default:
		return http.StatusUnauthorized, v.challenge
	}
}

// wellKnown is the path of the protected resource metadata (RFC 9728).
const wellKnown = "/.well-known/oauth-protected-resource"

// bearer returns the first part of the WWW-Authenticate header. That part is the same for all
// denials.
func (v *Verifier) bearer() string {
	at := *v.resource
	at.Path, at.RawPath = wellKnown+strings.TrimSuffix(at.Path, "/"), ""
	challenge := `Bearer resource_metadata="` + at.String() + `"`
	if len(v.options.Scopes) > 0 {
		challenge += `, scope="` + strings.Join(v.options.Scopes, " ") + `"`
	}
	return challenge
}

// Metadata returns the protected resource metadata for the given path, or nil if no metadata is
// published there. The metadata names the authorization server of this endpoint.
func (v *Verifier) Metadata(path string) []byte {
	if path != wellKnown && path != wellKnown+v.options.Path && path != wellKnown+strings.TrimSuffix(v.resource.Path, "/") {
		return nil
	}
	b, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{v.options.Resource, []string{v.options.Issuer}, v.options.Scopes, []string{"header"}})
	if err != nil {
		return nil
	}
	return b
}
