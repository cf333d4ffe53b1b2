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

// leeway is how far the clocks of the issuer and of this machine may differ.
const leeway = 30 * time.Second

// maxToken is more than any token needs: headers have a limit of their own.
const maxToken = 32 << 10

// algorithms are those whose keys can be published. A shared secret or none
// at all is no signature. Read-only.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Options says whose tokens are taken, and for what.
type Options struct {
	Issuer         string   // as it stands in the tokens
	Audience       string   // who the tokens must be for
	JWKS           string   // URL of the issuer's keys; "": the issuer is asked for it
	Resource       string   // URL by which clients know this endpoint; "": the audience
	Path           string   // of this endpoint; "": /mcp
	PrincipalClaim string   // the claim that names who calls; "": sub
	Scopes         []string // all of which a token must have

	Client *http.Client     // fetches the keys; nil: one that follows no redirect
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now

	// Background runs what fetches keys, and does not wait for it; the context
	// ends when that is to end. nil: a goroutine that ends by itself.
	Background func(func(context.Context))
}

// A Grant is what a token says of who brings it.
type Grant struct {
	Principal string    // the issuer and the subject; never the same for two of them
	Expires   time.Time // when the token does, leeway and all
}

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options   Options
	keys      *keys
	memory    memory
	resource  *url.URL
	challenge string
}

// New checks the options and begins to fetch the keys.
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
	v.keys.number() // which begins to fetch them: a wrong address is in the log from the start
	return v, nil
}

// trustworthy checks where the keys come from.
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

// notInScope: RFC 6749, section 3.3.
func notInScope(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }

// Trustworthy reports whether what is fetched from an address comes from who
// has it: by https, or from this machine.
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

// Verify says who brings a token, or returns a [Denial].
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

// examine verifies a token that is not known.
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

// accessType: RFC 9068, and what most issuers write. Tokens that say to be
// something else, like a proof or a logout, are not for this.
func accessType(typ any) bool {
	text, ok := typ.(string)
	return typ == nil || ok && slices.Contains([]string{"jwt", "at+jwt", "application/at+jwt"}, strings.ToLower(text))
}
