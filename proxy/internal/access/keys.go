package access

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// Limits on the age of keys and on the rate of fetches.
const (
	fresh        = 15 * time.Minute // keys are fetched again when they are this old
	keep         = 24 * time.Hour   // maximum age of keys that could not be fetched again; older ones are dropped
	pause        = 30 * time.Second // minimum time after a successful fetch before an unknown key causes another one
	pauseFailed  = 5 * time.Second  // minimum time before a failed fetch is repeated
	fetchTimeout = 10 * time.Second
)

// Limits on a key set.
const (
	maxSet     = 1 << 20 // maximum size of the set in bytes
	maxKeys    = 100
	minRSABits = 2048
)

// keys holds the keys published by an issuer. At most one fetch runs at a time. mu guards the
// fields below it.
type keys struct {
	options Options

	mu       sync.Mutex
	set      []jose.JSONWebKey
	count    int           // number of times that the set has been fetched or dropped
	fetched  time.Time     // time of the latest fetch; zero if the set was never fetched
	next     time.Time     // earliest time for the next fetch
	fetching chan struct{} // closed when the current fetch ends; nil if none is running
}

// find returns the key for verifying a token. An unknown key may be a new one, so find fetches the
// set again, unless the set was fetched very recently.
func (k *keys) find(ctx context.Context, id string, alg jose.SignatureAlgorithm) (any, error) {
	key, done := k.look(id, alg)
	if key == nil && done != nil {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout+time.Second)
		defer cancel()
		wait.For(ctx, done)
		key, _ = k.look(id, alg)
	}
	if key != nil {
		return key, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.set) == 0 {
		return nil, &Denial{Kind: Unavailable, Reason: "cannot verify tokens now: cannot fetch their issuer's keys"}
	}
	return nil, invalid("the token is signed with a key that its issuer does not publish")
}

// look finds a key in the current set. If the key is missing or the set is old, it starts a fetch,
// unless the latest one was very recent. It also returns a channel that is closed when the current
// fetch ends, or nil if no fetch is running.
func (k *keys) look(id string, alg jose.SignatureAlgorithm) (key any, done <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.age()
	key = pick(k.set, id, alg)
	if key == nil {
		k.refresh()
	}
	return key, k.fetching
}

// setNumber returns the version number of the current key set. If the set is old, it starts a fetch
// first.
func (k *keys) setNumber() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.age()
	return k.count
}

// age starts a fetch if the set is old, and drops the set if it is too old to use. The caller must
// hold mu.
func (k *keys) age() {
	age := k.options.Now().Sub(k.fetched)
	if age > keep && k.set != nil {
		k.set = nil
		k.count++
	}
	if age > fresh {
		k.refresh()
	}
}

// pick returns the key with the given ID that fits the algorithm. For an empty ID, it returns the
// only key that fits. It returns nil if no key fits or, for an empty ID, if several do.
func pick(set []jose.JSONWebKey, id string, alg jose.SignatureAlgorithm) any {
	var found []any
	for _, key := range set {
		if (id == "" || key.KeyID == id) && fitsAlgorithm(key, alg) {
			found = append(found, key.Key)
		}
	}
	if len(found) == 0 || id == "" && len(found) > 1 {
		return nil
	}
	return found[0]
}

// fitsAlgorithm reports whether the key can be used with the algorithm.
func fitsAlgorithm(key jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
	if key.Algorithm != "" && key.Algorithm != string(alg) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return alg[0] == 'R' || alg[0] == 'P'
	case *ecdsa.PublicKey:
		curve := map[jose.SignatureAlgorithm]elliptic.Curve{jose.ES256: elliptic.P256(), jose.ES384: elliptic.P384(), jose.ES512: elliptic.P521()}
		return curve[alg] == public.Curve
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	}
	return false
}

// refresh starts a fetch, unless one is running or the latest one was too recent. The caller must
// hold mu.
func (k *keys) refresh() {
	if k.fetching != nil || k.options.Now().Before(k.next) {
		return
	}
	done := make(chan struct{})
	k.fetching = done
	k.options.Background(func(ctx context.Context) {
		defer close(done)
		set, err := k.fetch(ctx)
		k.install(set, err)
	})
}

// install replaces the set with a fetched one. If err is not nil, the old keys remain.
func (k *keys) install(set []jose.JSONWebKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.options.Now()
	k.fetching = nil
	if err != nil {
		k.next = now.Add(pauseFailed)
		k.options.Logger.Warn("cannot fetch the issuer's keys", "jwks", cmp.Or(k.options.JWKS, "of "+k.options.Issuer), "error", err.Error())
		return
	}
	k.set, k.fetched, k.next = set, now, now.Add(pause)
	k.count++
}

// fetch fetches the key set. It discovers the URL each time, because an issuer may publish new keys
// at a different URL.
func (k *keys) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	where := k.options.JWKS
	if where == "" {
		var err error
		if where, err = k.discover(ctx); err != nil {
			return nil, err
		}
	}
	body, err := k.get(ctx, where, "application/jwk-set+json, application/json", maxSet)
	if err != nil {
		return nil, err
	}
	return parseSet(body)
}

// parseSet returns the usable keys in a set. It ignores keys of unknown types (RFC 7517, section
// 5), keys for other uses, and weak keys.
func parseSet(body []byte) ([]jose.JSONWebKey, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, errors.New("the response is not a key set")
	}
	if len(document.Keys) > maxKeys {
		return nil, errors.New("the key set has too many keys")
	}
	var set []jose.JSONWebKey
	for _, raw := range document.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(raw, &key); err == nil && usable(key) {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil, errors.New("the key set has no public signature key")
	}
	return set, nil
}

func usable(key jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" || !key.Valid() || !key.IsPublic() {
		return false
	}
	public, ok := key.Key.(*rsa.PublicKey)
	return !ok || public.N.BitLen() >= minRSABits
}

// maxMetadata is the maximum size of an issuer's metadata in bytes.
const maxMetadata = 256 << 10

// locations returns the possible URLs of an issuer's metadata, for an authorization server (RFC
// 8414, section 3.1) and for an OpenID provider. RFC 8414 puts the well-known part before the
// issuer's path. Some OpenID providers put it after the path.
func locations(issuer string) ([]string, error) {
	if err := checkTrustworthy(issuer); err != nil {
		return nil, err
	}
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("%q has a query or a fragment", issuer)
	}
	host, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	all := []string{host + "/.well-known/oauth-authorization-server" + path, host + "/.well-known/openid-configuration" + path}
	if path != "" {
		all = append(all, host+path+"/.well-known/openid-configuration")
	}
	return all, nil
}

// discover fetches the issuer's metadata and returns the URL of the keys. It uses the first
// response that names this issuer.
func (k *keys) discover(ctx context.Context) (jwks string, err error) {
	places, err := locations(k.options.Issuer)
	if err != nil {
		return "", err
	}
	var problems []error
	for _, place := range places {
		body, err := k.get(ctx, place, "application/json", maxMetadata)
		if err == nil {
			jwks, err = k.keysURL(body)
		}
		if err == nil {
			return jwks, nil
		}
		problems = append(problems, fmt.Errorf("%s: %w", place, err))
		if ctx.Err() != nil {
			break
		}
	}
	return "", errors.Join(problems...)
}

// keysURL returns the URL of the keys in an issuer's metadata. It returns an error if the metadata
// names a different issuer, even if only a slash differs (RFC 8414, section 3.3).
func (k *keys) keysURL(body []byte) (string, error) {
	var metadata struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &metadata); err != nil {
		return "", errors.New("the response is not metadata")
	}
	switch {
	case metadata.Issuer != k.options.Issuer:
		return "", fmt.Errorf("the metadata belongs to the issuer %.100q", metadata.Issuer)
	case metadata.JWKS == "":
		return "", errors.New("the metadata has no jwks_uri")
	}
	if err := checkTrustworthy(metadata.JWKS); err != nil {
		return "", fmt.Errorf("the metadata's jwks_uri: %w", err)
	}
	if strings.HasPrefix(k.options.Issuer, "https:") && !strings.HasPrefix(metadata.JWKS, "https:") {
		return "", errors.New("the metadata's jwks_uri does not begin with https://")
	}
	return metadata.JWKS, nil
}

// get fetches a document of at most limit bytes.
func (k *keys) get(ctx context.Context, address, accept string, limit int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	response, err := k.options.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the response is %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, errors.New("the response is too large")
	}
	return body, nil
}
