package access

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

// How long things are good for. Whoever sends tokens with keys that nobody
// knows makes us fetch once in a pause, and no more often.
const (
	fresh        = 15 * time.Minute // keys are fetched anew after it
	keep         = 24 * time.Hour   // keys are forgotten after it, if they cannot be
	pause        = 30 * time.Second // between two fetches
	pauseFailed  = 5 * time.Second  // the same, if the first has failed
	fetchTimeout = 10 * time.Second
)

// Limits of a set of keys.
const (
	maxSet     = 1 << 20 // bytes
	maxKeys    = 100
	minRSABits = 2048
)

// keys are those that an issuer publishes. One fetch at a time is under way.
type keys struct {
	options Options

	mu       sync.Mutex
	set      []jose.JSONWebKey
	count    int           // of the sets there were
	fetched  time.Time     // the set; zero: never
	next     time.Time     // no fetch before it
	fetching chan struct{} // closed when the fetch under way is done; nil: there is none
}

// newClient follows no redirect: the address of the keys is the one that the
// operator wrote. It keeps no connection, since it is rarely used.
func newClient() *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true
		client.Transport = t
	}
	return client
}

// find is the key with which a token must be signed. A key that is not known
// may be a new one: the set is fetched again, if that was not just done.
func (k *keys) find(ctx context.Context, id string, alg jose.SignatureAlgorithm) (any, error) {
	key, done := k.look(id, alg)
	if key == nil && done != nil {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout+time.Second)
		defer cancel()
		select {
		case <-done:
		case <-ctx.Done():
		}
		key, _ = k.look(id, alg)
	}
	if key != nil {
		return key, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.set) == 0 {
		return nil, &Denial{Kind: Unavailable, Reason: "tokens cannot be verified now: the keys of their issuer cannot be fetched"}
	}
	return nil, invalid("the token is signed with a key that its issuer does not publish")
}

// look finds a key among those at hand. The channel is that of a fetch under
// way, nil if there is none.
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

// number tells the sets apart that there have been.
func (k *keys) number() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.age()
	return k.count
}

// age renews a set that is not fresh, and forgets one that cannot be. The
// caller has the lock.
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

// pick is the key of that id; without one, the only key that could be meant.
func pick(set []jose.JSONWebKey, id string, alg jose.SignatureAlgorithm) any {
	var found []any
	for _, key := range set {
		if (id == "" || key.KeyID == id) && fits(key, alg) {
			found = append(found, key.Key)
		}
	}
	if len(found) == 0 || id == "" && len(found) > 1 {
		return nil
	}
	return found[0]
}

// fits reports whether a key may be used with an algorithm.
func fits(key jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
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

// refresh begins a fetch, unless there is one or it is too early. The caller
// has the lock.
func (k *keys) refresh() {
	if k.fetching != nil || k.options.Now().Before(k.next) {
		return
	}
	done := make(chan struct{})
	k.fetching = done
	k.options.Background(func(ctx context.Context) {
		defer close(done)
		set, err := k.fetch(ctx)
		k.arrived(set, err)
	})
}

// arrived takes over a set. Keys that could not be fetched leave those that
// are there.
func (k *keys) arrived(set []jose.JSONWebKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.options.Now()
	k.fetching = nil
	if err != nil {
		k.next = now.Add(pauseFailed)
		k.options.Logger.Warn("the keys of the issuer cannot be fetched", "jwks", cmp.Or(k.options.JWKS, "of "+k.options.Issuer), "error", err.Error())
		return
	}
	k.set, k.fetched, k.next = set, now, now.Add(pause)
	k.count++
}

// fetch fetches the set. Where it is has to be asked anew each time: an issuer
// may have moved its keys when it made new ones.
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

// parseSet leaves out keys of kinds that nobody here knows (RFC 7517, section
// 5), that are for something else, or that are weak.
func parseSet(body []byte) ([]jose.JSONWebKey, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, errors.New("the answer is no set of keys")
	}
	if len(document.Keys) > maxKeys {
		return nil, errors.New("the set has too many keys")
	}
	var set []jose.JSONWebKey
	for _, raw := range document.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(raw, &key); err == nil && usable(key) {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil, errors.New("the set has no public key for signatures")
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
