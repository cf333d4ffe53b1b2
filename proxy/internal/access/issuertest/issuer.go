// Package issuertest provides an authorization server for tests. It publishes keys and signs tokens
// with arbitrary claims.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Audience is the value of the aud claim in [Issuer.Claims].
const Audience = "https://gate.example/mcp"

// An Issuer publishes public keys at URL. It starts with one key, named "ec".
type Issuer struct {
	t   testing.TB
	URL string // URL of the keys

	Base string // URL of the server, without a path

	mu      sync.Mutex
	secret  map[string]crypto.Signer
	fetches int
	answer  http.HandlerFunc // handles requests for the keys; if nil, the keys are served
	name    string
	pages   map[string]http.HandlerFunc // extra pages, keyed by path
	extra   []any                       // additional elements of the key set
}

// New starts an issuer that runs until the test ends.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t, secret: map[string]crypto.Signer{}, name: "https://issuer.example", pages: map[string]http.HandlerFunc{}}
	i.Add("ec")
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.Base, i.URL = server.URL, server.URL+"/keys"
	return i
}

// lock locks the issuer and returns a function that unlocks it.
func (i *Issuer) lock() (unlock func()) {
	i.mu.Lock()
	return i.mu.Unlock
}

// Name returns the issuer's name, as it appears in tokens.
func (i *Issuer) Name() string {
	defer i.lock()()
	return i.name
}

// Rename changes the issuer's name in tokens.
func (i *Issuer) Rename(name string) {
	defer i.lock()()
	i.name = name
}

// Page makes h serve the requests for a path.
func (i *Issuer) Page(path string, h http.HandlerFunc) {
	defer i.lock()()
	i.pages[path] = h
}

// Metadata returns a handler that serves the metadata of an issuer.
func Metadata(issuer, jwks string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": issuer, "jwks_uri": jwks, "response_types_supported": []string{"code"}})
	}
}

// Add generates a key and publishes it. The key is an ECDSA key if the ID begins with "ec", an
// Ed25519 key if it begins with "ed", and an RSA key otherwise.
func (i *Issuer) Add(id string) {
	i.t.Helper()
	key := i.key(id)
	defer i.lock()()
	i.secret[id] = key
}

func (i *Issuer) key(id string) crypto.Signer {
	i.t.Helper()
	var key crypto.Signer
	var err error
	switch id[:2] {
	case "ec":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ed":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return key
}

// Remove removes a key from the published set.
func (i *Issuer) Remove(id string) {
	defer i.lock()()
	delete(i.secret, id)
}

// Publish adds a JSON value, which need not be a valid key, to the published set.
func (i *Issuer) Publish(key any) {
	defer i.lock()()
	i.extra = append(i.extra, key)
}

// Answer makes h respond to requests for the keys. If h is nil, the issuer serves its keys again.
func (i *Issuer) Answer(h http.HandlerFunc) {
	defer i.lock()()
	i.answer = h
}

// Fetches returns how many times the keys were requested.
func (i *Issuer) Fetches() int {
	defer i.lock()()
	return i.fetches
}

// ServeHTTP serves the pages added with Page. For a well-known path without a page, it responds
// with "not found". For any other path, it serves the keys.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	if page := i.pages[r.URL.Path]; page != nil || strings.Contains(r.URL.Path, "/.well-known/") {
		i.mu.Unlock()
		if page == nil {
			page = http.NotFound
		}
		page(w, r)
		return
	}
	i.fetches++
	set := append([]any{}, i.extra...)
	for id, key := range i.secret {
		set = append(set, jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
	}
	answer := i.answer
	i.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": set})
}

// Secret returns the private key with the given ID.
func (i *Issuer) Secret(id string) crypto.Signer {
	defer i.lock()()
	return i.secret[id]
}

// Claims returns claims for a token that is valid for an hour from now.
func (i *Issuer) Claims(subject string, now time.Time) map[string]any {
	return map[string]any{
		"iss": i.Name(), "aud": Audience, "sub": subject, "scope": "mcp extra",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}

// Token returns a token for the given subject, signed with the key "ec".
func (i *Issuer) Token(subject string) string {
	i.t.Helper()
	return i.Sign("ec", jose.ES256, nil, i.Claims(subject, time.Now()))
}

// Sign signs claims with the key that has the given ID. If claims is a string, it is signed
// unchanged, even if it is not JSON.
func (i *Issuer) Sign(id string, alg jose.SignatureAlgorithm, header map[string]any, claims any) string {
	i.t.Helper()
	return SignWith(i.t, i.Secret(id), alg, merged(map[string]any{"kid": id, "typ": "JWT"}, header), claims)
}

func merged(a, b map[string]any) map[string]any {
	maps.Copy(a, b)
	maps.DeleteFunc(a, func(_ string, value any) bool { return value == nil })
	return a
}

// SignWith signs claims with any key. If claims is a string, it is signed unchanged, even if it is
// not JSON.
func SignWith(t testing.TB, key any, alg jose.SignatureAlgorithm, header map[string]any, claims any) string {
	t.Helper()
	o := &jose.SignerOptions{}
	for name, value := range header {
		o.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := claims.(string)
	if !ok {
		b, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		payload = string(b)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
