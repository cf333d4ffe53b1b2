package access_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/proxy/internal/access"
	"github.com/petrigate/petrigate/proxy/internal/access/issuertest"
)

func TestMain(m *testing.M) { leftover.Main(m) }

// A desk is a verifier with its issuer and a clock.
type desk struct {
	t      *testing.T
	issuer *issuertest.Issuer
	*access.Verifier

	mu  sync.Mutex
	now time.Time
}

func newDesk(t *testing.T, change func(*access.Options)) *desk {
	t.Helper()
	d := &desk{t: t, issuer: issuertest.New(t), now: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}
	o := access.Options{
		JWT: access.JWT{Issuer: d.issuer.Name(), Audience: issuertest.Audience, JWKS: d.issuer.URL, Scopes: []string{"mcp"}}, Now: d.time,
		Background: func(f func(context.Context)) { // the cleanup waits until f returns
			done := make(chan struct{})
			go func() { defer close(done); f(context.Background()) }()
			t.Cleanup(func() { <-done })
		},
	}
	if change != nil {
		change(&o)
	}
	v, err := access.New(o)
	if err != nil {
		t.Fatal(err)
	}
	d.Verifier = v
	return d
}

func (d *desk) time() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) move(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

// publish adds keys and makes sure that they are fetched when needed, that is, after the first
// fetch, which may have started without them, and after the pause.
func (d *desk) publish(ids ...string) {
	d.t.Helper()
	if got := d.kind(d.token(nil)); got != taken {
		d.t.Fatal(got)
	}
	for _, id := range ids {
		d.issuer.Add(id)
	}
	d.move(time.Minute)
}

// claims returns valid claims with the given changes. A nil value removes a claim.
func (d *desk) claims(changes map[string]any) map[string]any {
	c := d.issuer.Claims("ann", d.time())
	for name, value := range changes {
		c[name] = value
		if value == nil {
			delete(c, name)
		}
	}
	return c
}

func (d *desk) token(changes map[string]any) string {
	return d.issuer.Sign("ec", jose.ES256, nil, d.claims(changes))
}

// kind returns the kind of denial for a token. It returns -1 if the token is accepted.
func (d *desk) kind(token string) access.Kind {
	d.t.Helper()
	grant, err := d.Verify(d.t.Context(), token)
	var denial *access.Denial
	switch {
	case err == nil && grant.Principal == "":
		d.t.Error("a grant to nobody")
	case err == nil:
		return -1
	case grant != (access.Grant{}):
		d.t.Errorf("a denial with the grant %+v", grant)
	case !errors.As(err, &denial):
		d.t.Errorf("%T: %v", err, err)
	case token != "" && strings.Contains(err.Error(), token):
		d.t.Error("the error holds the token")
	default:
		return denial.Kind
	}
	return -2
}

const taken = access.Kind(-1)

// TestClaims covers E004: issuer, audience, validity period and scopes of a token are checked.
func TestClaims(t *testing.T) {
	d := newDesk(t, nil)
	at := func(by time.Duration) int64 { return d.time().Add(by).Unix() }
	cases := []struct {
		name    string
		changes map[string]any
		want    access.Kind
	}{
		{"as it should be", nil, taken},
		{"one of several audiences", map[string]any{"aud": []string{"x", issuertest.Audience}}, taken},
		{"other audience", map[string]any{"aud": "https://gate.example/mcp/"}, access.Invalid},
		{"no audience", map[string]any{"aud": nil}, access.Invalid},
		{"empty audience", map[string]any{"aud": []string{}}, access.Invalid},
		{"audience is a number", map[string]any{"aud": 7}, access.Invalid},
		{"other issuer", map[string]any{"iss": "https://issuer.example/"}, access.Invalid},
		{"no issuer", map[string]any{"iss": nil}, access.Invalid},
		{"expired", map[string]any{"exp": at(-30 * time.Second)}, access.Invalid},
		{"expired within the leeway", map[string]any{"exp": at(-29 * time.Second)}, taken},
		{"never expires", map[string]any{"exp": nil}, access.Invalid},
		{"expires at a word", map[string]any{"exp": "never"}, access.Invalid},
		{"not yet", map[string]any{"nbf": at(31 * time.Second)}, access.Invalid},
		{"soon", map[string]any{"nbf": at(30 * time.Second), "iat": at(30 * time.Second)}, taken},
		{"from the future", map[string]any{"iat": at(31 * time.Second)}, access.Invalid},
		{"no other times", map[string]any{"iat": nil, "nbf": nil}, taken},
		{"nobody", map[string]any{"sub": nil}, access.Invalid},
		{"empty name", map[string]any{"sub": ""}, access.Invalid},
		{"name is a number", map[string]any{"sub": 7}, access.Invalid},
		{"control in the name", map[string]any{"sub": "a\nb"}, access.Invalid},
		{"long name", map[string]any{"sub": strings.Repeat("a", 256)}, access.Invalid},
		{"no scope", map[string]any{"scope": nil}, access.Scope},
		{"other scope", map[string]any{"scope": "mcpx MCP"}, access.Scope},
		{"scp as a list", map[string]any{"scope": nil, "scp": []string{"a", "mcp"}}, taken},
		{"scp as a text", map[string]any{"scope": nil, "scp": "a mcp"}, taken},
		{"scope is a number", map[string]any{"scope": 7}, access.Scope},
	}
	for _, c := range cases {
		if got := d.kind(d.token(c.changes)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if n := d.issuer.Fetches(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// TestPrincipal checks that the principal consists of the issuer and the claim, and that the grant
// has the token's expiry.
func TestPrincipal(t *testing.T) {
	d := newDesk(t, func(o *access.Options) { o.PrincipalClaim = "email" })
	g, err := d.Verify(t.Context(), d.token(map[string]any{"email": "ann@example.com", "exp": d.time().Add(time.Minute).Unix()}))
	want := access.Grant{Principal: "https://issuer.example#ann@example.com", Expires: d.time().Add(90 * time.Second)}
	if err != nil || g.Principal != want.Principal || !g.Expires.Equal(want.Expires) {
		t.Errorf("%+v %v, want %+v", g, err, want)
	}
	if got := d.kind(d.token(nil)); got != access.Invalid {
		t.Errorf("without the claim: %d", got)
	}
}

// TestRemembered checks that a cached grant is valid until the token expires.
func TestRemembered(t *testing.T) {
	d := newDesk(t, nil)
	token := d.token(map[string]any{"exp": d.time().Add(time.Minute).Unix()})
	for _, step := range []struct {
		by   time.Duration
		want access.Kind
	}{{0, taken}, {0, taken}, {89 * time.Second, taken}, {time.Second, access.Invalid}, {0, access.Invalid}} {
		d.move(step.by)
		if got := d.kind(token); got != step.want {
			t.Errorf("%+v: %d", step, got)
		}
	}
}

// TestForgedSignaturesAreRefused checks that a signature counts only with a published key and an
// algorithm that fits the key.
func TestForgedSignaturesAreRefused(t *testing.T) {
	d := newDesk(t, nil)
	d.publish("rs", "ed")
	good := d.token(nil)
	part := strings.Split(good, ".")
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	public, err := x509.MarshalPKIXPublicKey(d.issuer.Secret("rs").Public())
	if err != nil {
		t.Fatal(err)
	}
	claims := d.claims(nil)
	duplicate := `{"iss":"` + d.issuer.Name() + `","sub":"ann","sub":"root",` + fmt.Sprintf(`"aud":%q,"scope":"mcp","exp":%d}`, issuertest.Audience, d.time().Add(time.Hour).Unix())
	other := issuertest.New(t)
	sign := func(id string, alg jose.SignatureAlgorithm, header map[string]any) string {
		return d.issuer.Sign(id, alg, header, claims)
	}
	embedded := map[string]any{"jwk": jose.JSONWebKey{Key: other.Secret("ec").Public(), KeyID: "ec"}, "kid": "ec"}
	cases := []struct {
		name, token string
		want        access.Kind
	}{
		{"ES256", good, taken},
		{"EdDSA", sign("ed", jose.EdDSA, nil), taken},
		{"RS256", sign("rs", jose.RS256, nil), taken},
		{"PS512", sign("rs", jose.PS512, nil), taken},
		{"access token", sign("ec", jose.ES256, map[string]any{"typ": "at+JWT"}), taken},
		{"no type", sign("ec", jose.ES256, map[string]any{"typ": nil}), taken},
		{"proof", sign("ec", jose.ES256, map[string]any{"typ": "dpop+jwt"}), access.Invalid},
		{"type is a number", sign("ec", jose.ES256, map[string]any{"typ": 7}), access.Invalid},
		{"no key named, one fits", sign("ec", jose.ES256, map[string]any{"kid": nil}), taken},
		{"key of another", sign("ec", jose.ES256, map[string]any{"kid": "ed"}), access.Invalid},
		{"unknown key", sign("ec", jose.ES256, map[string]any{"kid": "ec2"}), access.Invalid},
		{"none", encode(`{"alg":"none"}`) + "." + part[1] + ".", access.Invalid},
		{"None", encode(`{"alg":"None","kid":"ec"}`) + "." + part[1] + "." + part[2], access.Invalid},
		{"public key as a secret", issuertest.SignWith(t, public, jose.HS256, map[string]any{"kid": "rs"}, claims), access.Invalid},
		{"other issuer's key", issuertest.SignWith(t, other.Secret("ec"), jose.ES256, map[string]any{"kid": "ec"}, claims), access.Invalid},
		{"key in the token", issuertest.SignWith(t, other.Secret("ec"), jose.ES256, embedded, claims), access.Invalid},
		{"key at an address", issuertest.SignWith(t, other.Secret("ec"), jose.ES256, map[string]any{"jku": other.URL, "kid": "ec"}, claims), access.Invalid},
		{"other payload", part[0] + "." + encode(`{"sub":"root"}`) + "." + part[2], access.Invalid},
		{"other header", encode(`{"alg":"ES256","kid":"ec","x":1}`) + "." + part[1] + "." + part[2], access.Invalid},
		{"no signature", part[0] + "." + part[1] + ".", access.Invalid},
		{"two parts", part[0] + "." + part[1], access.Invalid},
		{"five parts", good + ".a.b", access.Invalid},
		{"JSON", `{"payload":"` + part[1] + `","protected":"` + part[0] + `","signature":"` + part[2] + `"}`, access.Invalid},
		{"padding", good + "==", access.Invalid},
		{"space", " " + good, access.Invalid},
		{"a member twice", d.issuer.Sign("ec", jose.ES256, nil, duplicate), access.Invalid},
		{"no object", d.issuer.Sign("ec", jose.ES256, nil, `"ann"`), access.Invalid},
		{"critical", sign("ec", jose.ES256, map[string]any{"crit": []string{"exp"}, "exp": 1}), access.Invalid},
		{"no JWT", "abcdefghijklmnop", access.Invalid},
		{"long", good + strings.Repeat("A", 40<<10), access.Invalid},
		{"nothing", "", access.Missing},
	}
	for _, c := range cases {
		if got := d.kind(c.token); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if other.Fetches() != 0 {
		t.Error("an address in a token was fetched")
	}
}

// TestAmbiguous checks that a token without a key ID is refused if two keys fit.
func TestAmbiguous(t *testing.T) {
	d := newDesk(t, nil)
	d.publish("ec2")
	if got := d.kind(d.issuer.Sign("ec2", jose.ES256, nil, d.claims(nil))); got != taken {
		t.Errorf("named: %d", got)
	}
	if got := d.kind(d.issuer.Sign("ec2", jose.ES256, map[string]any{"kid": nil}, d.claims(nil))); got != access.Invalid {
		t.Errorf("unnamed: %d", got)
	}
}

// TestRotation checks that a new key is found at once, that an old one is dropped within a quarter
// of an hour, and that clients can cause at most one fetch per pause.
func TestRotation(t *testing.T) {
	d := newDesk(t, nil)
	old := d.token(map[string]any{"exp": d.time().Add(48 * time.Hour).Unix()})
	if got := d.kind(old); got != taken {
		t.Fatal(got)
	}
	d.issuer.Add("ec2")
	d.issuer.Remove("ec")
	d.move(31 * time.Second)
	var all sync.WaitGroup
	for range 50 { // concurrent requests cause a single fetch
		all.Go(func() {
			if got := d.kind(d.issuer.Sign("ec2", jose.ES256, nil, d.claims(nil))); got != taken {
				t.Errorf("the new key: %d", got)
			}
		})
	}
	all.Wait()
	if n := d.issuer.Fetches(); n != 2 {
		t.Errorf("%d fetches, want 2", n)
	}
	if got := d.kind(old); got != access.Invalid {
		t.Errorf("the old key: %d", got)
	}
	for i := range 200 { // unknown keys
		d.kind(d.issuer.Sign("ec2", jose.ES256, map[string]any{"kid": fmt.Sprint(i)}, d.claims(nil)))
	}
	if n := d.issuer.Fetches(); n != 2 {
		t.Errorf("%d fetches after a flood, want 2", n)
	}
}

// TestIssuerDown checks that known keys are valid for a day. Without keys no client is admitted,
// not even as anonymous.
func TestIssuerDown(t *testing.T) {
	d := newDesk(t, nil)
	long := map[string]any{"exp": d.time().Add(480 * time.Hour).Unix()}
	if got := d.kind(d.token(long)); got != taken {
		t.Fatal(got)
	}
	answers := map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"elsewhere": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusFound)
		},
		"no set":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<html>`)) },
		"an empty": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"no end":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"too many": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[` + strings.Repeat(`{},`, 200) + `{}]}`))
		},
		"hung up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half of it": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"keys"`))
		},
		"only others": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[{"kty":"oct","k":"AAAA","kid":"ec"}]}`))
		},
	}
	for name, answer := range answers {
		d.issuer.Answer(answer)
		d.move(time.Hour)
		before := d.issuer.Fetches()
		if got := d.kind(d.token(long)); got != taken {
			t.Errorf("%s: %d", name, got)
		}
		await(t, func() bool { return d.issuer.Fetches() > before })
		// Waiting for an unknown key ends when the fetch ends.
		d.kind(d.issuer.Sign("ec", jose.ES256, map[string]any{"kid": "x"}, d.claims(long)))
	}
	d.move(24 * time.Hour)
	if got := d.kind(d.token(long)); got != access.Unavailable {
		t.Errorf("after a day: %d", got)
	}
	if got := d.kind(d.token(long)); got != access.Unavailable {
		t.Errorf("in the pause: %d", got)
	}
	d.issuer.Answer(nil)
	d.move(6 * time.Second)
	if got := d.kind(d.token(long)); got != taken {
		t.Errorf("up again: %d", got)
	}
}

func await(t *testing.T, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("waited in vain")
		}
	}
}

// TestUnusableKeysAreIgnored checks that keys of other kinds, keys for other uses, weak keys and
// private keys are ignored, and that all others are used.
func TestUnusableKeysAreIgnored(t *testing.T) {
	d := newDesk(t, func(o *access.Options) { o.Background = func(func(context.Context)) {} })
	hidden := d.issuer.Secret("ec")
	for _, key := range []any{
		map[string]any{"kty": "XYZ", "kid": "odd"}, 7, "key", nil, map[string]any{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "ec"},
		map[string]any{"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "kid": "oct"},
		jose.JSONWebKey{Key: hidden, KeyID: "private"},
		jose.JSONWebKey{Key: hidden.Public(), KeyID: "enc", Use: "enc"},
		jose.JSONWebKey{Key: hidden.Public(), KeyID: "other-alg", Algorithm: "ES384"},
	} {
		d.issuer.Publish(key)
	}
	d = &desk{t: t, issuer: d.issuer, now: d.now}
	v, err := access.New(access.Options{JWT: access.JWT{Issuer: d.issuer.Name(), Audience: issuertest.Audience, JWKS: d.issuer.URL}, Now: d.time})
	if err != nil {
		t.Fatal(err)
	}
	d.Verifier = v
	for id, want := range map[string]access.Kind{"ec": taken, "private": access.Invalid, "enc": access.Invalid, "other-alg": access.Invalid, "odd": access.Invalid} {
		if got := d.kind(issuertest.SignWith(t, hidden, jose.ES256, map[string]any{"kid": id}, d.claims(nil))); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
}

// TestDisconnectedClientDoesNotWaitForIssuer checks that a client that has disconnected does not
// wait for the issuer.
func TestDisconnectedClientDoesNotWaitForIssuer(t *testing.T) {
	held := make(chan struct{})
	v := newDesk(t, nil)
	v.issuer.Answer(func(http.ResponseWriter, *http.Request) { <-held })
	d := newDesk(t, func(o *access.Options) { o.JWKS = v.issuer.URL })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Verify(ctx, d.token(nil))
	var denial *access.Denial
	if !errors.As(err, &denial) || denial.Kind != access.Unavailable {
		t.Error(err)
	}
	close(held)
}

// TestOptions checks that options that would accept tokens of any issuer or for any audience are
// refused.
func TestOptions(t *testing.T) {
	good := access.Options{JWT: access.JWT{Issuer: "https://i.example", Audience: "https://g.example/mcp", JWKS: "http://127.0.0.1:1/keys"}, Background: func(func(context.Context)) {}}
	for name, change := range map[string]func(*access.Options){
		"no issuer":              func(o *access.Options) { o.Issuer = "" },
		"no audience":            func(o *access.Options) { o.Audience = "" },
		"nobody to ask":          func(o *access.Options) { o.JWKS, o.Issuer = "", "issuer" },
		"asking in the clear":    func(o *access.Options) { o.JWKS, o.Issuer = "", "http://i.example" },
		"asking with a query":    func(o *access.Options) { o.JWKS, o.Issuer = "", "https://i.example/?a=b" },
		"asking with a fragment": func(o *access.Options) { o.JWKS, o.Issuer = "", "https://i.example/#a" },
		"keys in the clear":      func(o *access.Options) { o.JWKS = "http://i.example/keys" },
		"keys like this machine": func(o *access.Options) { o.JWKS = "http://localhost.example/keys" },
		"keys in a file":         func(o *access.Options) { o.JWKS = "file:///keys" },
		"keys with a password":   func(o *access.Options) { o.JWKS = "https://a:b@i.example/keys" },
		"audience is no URL":     func(o *access.Options) { o.Audience = "gate" },
		"resource is no URL":     func(o *access.Options) { o.Resource = "mailto:x" },
		"scope with a space":     func(o *access.Options) { o.Scopes = []string{"a b"} },
		"scope with a quote":     func(o *access.Options) { o.Scopes = []string{`a"`} },
	} {
		o := good
		change(&o)
		if _, err := access.New(o); err == nil {
			t.Errorf("%s is taken", name)
		} else if strings.Contains(err.Error(), "a:b") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*access.Options){
		"good":               func(*access.Options) {},
		"IPv6":               func(o *access.Options) { o.JWKS = "http://[::1]/keys" },
		"named audience":     func(o *access.Options) { o.Audience, o.Resource = "gate", "https://g.example/mcp" },
		"issuer to ask":      func(o *access.Options) { o.JWKS = "" },
		"keys from anywhere": func(o *access.Options) { o.JWKS = "https://i.example/keys" },
	} {
		o := good
		change(&o)
		if _, err := access.New(o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnswer checks the responses to clients without a valid token (RFC 9728, RFC 6750).
func TestAnswer(t *testing.T) {
	d := newDesk(t, func(o *access.Options) { o.Scopes = []string{"mcp", "more"} })
	const base = `Bearer resource_metadata="https://gate.example/.well-known/oauth-protected-resource/mcp", scope="mcp more"`
	cases := []struct {
		err    error
		status int
		want   string
	}{
		{&access.Denial{Kind: access.Missing}, 401, base},
		{&access.Denial{Kind: access.Unavailable}, 401, base},
		{errors.New("secret"), 401, base},
		{&access.Denial{Kind: access.Invalid, Reason: "why"}, 401, base + `, error="invalid_token", error_description="why"`},
		{&access.Denial{Kind: access.Scope, Reason: "why"}, 403, base + `, error="insufficient_scope", error_description="why"`},
	}
	for _, c := range cases {
		if status, got := d.Answer(c.err); status != c.status || got != c.want {
			t.Errorf("%v: %d %s", c.err, status, got)
		}
	}
	want := `{"resource":"https://gate.example/mcp","authorization_servers":["https://issuer.example"],"scopes_supported":["mcp","more"],"bearer_methods_supported":["header"]}`
	for path, found := range map[string]bool{
		"/.well-known/oauth-protected-resource": true, "/.well-known/oauth-protected-resource/mcp": true,
		"/.well-known/oauth-protected-resource/": false, "/.well-known/oauth-protected-resource/x": false, "/": false, "": false,
	} {
		got := d.Metadata(path)
		if (got != nil) != found || found && string(got) != want || found && !json.Valid(got) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
