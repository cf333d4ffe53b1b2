package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

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
	if err := o.trustworthy(); err != nil {
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
	v.keys.setNumber() // this starts a fetch, so that a wrong address is logged at startup
	return v, nil
}

// trustworthy returns an error if the keys would come from an untrustworthy address.
func (o Options) trustworthy() error {
	if o.JWKS == "" {
		if _, err := locations(o.Issuer); err != nil {
			return fmt.Errorf("cannot fetch the issuer's keys: %w", err)
		}
		return nil
	}
	if err := Trustworthy(o.JWKS); err != nil {
		return fmt.Errorf("the address of the issuer's keys: %w", err)
	}
	return nil
}

// notInScope reports whether the character r is not allowed in a scope (RFC 6749, section 3.3).
func notInScope(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }

// maxToken is greater than the length of any real token. The size of headers is limited separately.
const maxToken = 32 << 10

// algorithms lists the signature algorithms that are accepted. All of them are asymmetric, because
// a shared secret, or no signature at all, proves nothing. The list must not be modified.
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

// accessType reports whether the header typ marks the token as an access token, either as in RFC
// 9068 or as most issuers write it. Tokens of other types, such as proofs or logout tokens, are
// rejected.
func accessType(typ any) bool {
	text, ok := typ.(string)
	return typ == nil || ok && slices.Contains([]string{"jwt", "at+jwt", "application/at+jwt"}, strings.ToLower(text))
}
