package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// leeway is the accepted difference between the clocks of the issuer and of this machine.
const leeway = 30 * time.Second

// maxToken exceeds the length of any real token: headers have a limit of their own.
const maxToken = 32 << 10

// algorithms are the accepted signature algorithms, all of them asymmetric: a shared secret, or no
// signature, proves nothing. It must not be modified.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Options configures a Verifier.
type Options struct {
	Issuer         string   // iss claim of the tokens
	Audience       string   // aud claim that tokens must have
	JWKS           string   // URL of the issuer's keys; empty: from its metadata
	Resource       string   // public URL of this endpoint; empty: the audience
	Path           string   // path of this endpoint; empty: /mcp
	PrincipalClaim string   // claim that identifies the caller; empty: sub
	Scopes         []string // scopes that a token must have, all of them

	Client *http.Client     // client that fetches the keys; nil: one that follows no redirects
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now

	// Background runs a function that fetches keys, without waiting for it; its context ends at
	// shutdown. nil: a new goroutine without shutdown.
	Background func(func(context.Context))
}

// A Grant is the result of verifying a token.
type Grant struct {
	Principal string    // issuer and subject; unique for each caller
	Expires   time.Time // expiry of the token, including the leeway
}

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options   Options
	keys      *keys
	memory    memory
	resource  *url.URL
	challenge string
}

// New returns a Verifier, which begins to fetch the keys. It returns an error for invalid options.
func New(o Options) (*Verifier, error) {
	switch {
	case o.Issuer == "":
		return nil, errors.New("the issuer of tokens is not named")
	case o.Audience == "":
		return nil, errors.New("the audience of tokens is not named: tokens for others would be taken")
	}
	if err := o.trustworthy(); err != nil {
		return nil, err
	}
	o.Resource = cmp.Or(o.Resource, o.Audience)
	resource, err := url.Parse(o.Resource)
	if err != nil || resource.Scheme != "http" && resource.Scheme != "https" || resource.Host == "" || resource.Fragment != "" {
		return nil, fmt.Errorf("%q is not the URL of this endpoint, which clients are told: name the resource", o.Resource)
	}
	for _, s := range o.Scopes {
		if s == "" || strings.ContainsFunc(s, notInScope) {
			return nil, fmt.Errorf("%q is no scope", s)
		}
	}
	o = o.withDefaults()
	v := &Verifier{options: o, resource: resource, keys: &keys{options: o}}
	v.challenge = v.bearer()
	v.keys.number() // begins a fetch, so that a wrong address is logged at the start
	return v, nil
}

// trustworthy checks the origin of the keys.
func (o Options) trustworthy() error {
	if o.JWKS == "" {
		if _, err := locations(o.Issuer); err != nil {
			return fmt.Errorf("the issuer cannot be asked for its keys: %w", err)
		}
		return nil
	}
	if err := Trustworthy(o.JWKS); err != nil {
		return fmt.Errorf("the address of the issuer's keys: %w", err)
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Path = cmp.Or(o.Path, "/mcp")
	o.PrincipalClaim = cmp.Or(o.PrincipalClaim, "sub")
	o.Client = cmp.Or(o.Client, newClient())
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Background == nil {
		o.Background = func(f func(context.Context)) { go f(context.Background()) }
	}
	return o
}

// notInScope reports whether a scope must not contain r (RFC 6749, section 3.3).
func notInScope(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }

// Trustworthy returns an error if documents from an address could be forged on the way: it must use
// https, or be on this machine.
func Trustworthy(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q is no URL", address)
	case u.User != nil:
		return errors.New("credentials do not belong into a URL")
	case u.Scheme == "https":
		return nil
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q must begin with https://", address)
}

// Verify returns the grant of a valid token, or a [Denial].
func (v *Verifier) Verify(ctx context.Context, token string) (Grant, error) {
	if token == "" {
		return Grant{}, &Denial{Kind: Missing, Reason: "a bearer token is needed"}
	}
	if len(token) > maxToken {
		return Grant{}, invalid("the token is too long")
	}
	digest, set := sha256.Sum256([]byte(token)), v.keys.number()
	if grant, ok := v.memory.recall(digest, set, v.options.Now()); ok {
		return grant, nil
	}
	grant, err := v.examine(ctx, token)
	if err == nil {
		v.memory.keep(digest, set, grant)
	}
	return grant, err
}

// examine verifies a token that is not cached.
func (v *Verifier) examine(ctx context.Context, token string) (Grant, error) {
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return Grant{}, invalid("the token is no JWT with a signature that is taken here")
	}
	header := parsed.Headers[0]
	if !accessType(header.ExtraHeaders[jose.HeaderType]) {
		return Grant{}, invalid("the token is of another type")
	}
	key, err := v.keys.find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err != nil {
		return Grant{}, err
	}
	var all claims
	if err := parsed.Claims(key, &all.registered, &all.named); err != nil {
		return Grant{}, invalid("the signature of the token is not that of its issuer")
	}
	return v.judge(all)
}

// accessType reports whether the typ header is that of an access token: by RFC 9068, or as most
// issuers write it. Tokens of other types, such as proofs or logout tokens, are refused.
func accessType(typ any) bool {
	text, ok := typ.(string)
	return typ == nil || ok && slices.Contains([]string{"jwt", "at+jwt", "application/at+jwt"}, strings.ToLower(text))
}
