// Package seal encrypts and authenticates state that the proxy leaves with a client.
package seal

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Sealer creates the requestState for clients that use revision 2026-07-28. A client keeps the
// state while a person decides on its call, or while it collects the input that the upstream has
// requested. The state is encrypted, authenticated, and bound to its subject, which is an approval
// or a call. A client gains nothing by sending a state twice, because an approval can be used only
// once, and a state continues its call only once.
//
// Replicas that share a database also share a key, which they store in the database. Each replica
// can thus open the states of the others. Without a database, a Sealer has its own key. A Sealer is
// safe for concurrent use; mu guards the fields below it.
type Sealer struct {
	key  Key // reads the shared key; nil if the sealer has its own
	now  func() time.Time
	salt [saltSize]byte // random, so that no two sealers encrypt with the same derived key

	mu    sync.Mutex
	known []byte      // current key
	own   cipher.AEAD // cipher whose key is derived from the current key and the salt
	read  time.Time   // when the key was last read
}

// A Key returns the key shared by all replicas: 32 random bytes.
type Key func(context.Context) ([]byte, error)

const (
	saltSize = 16
	keyWait  = 10 * time.Second // timeout for reading the key
	reread   = time.Second      // minimum time between attempts to read a new key when states cannot be opened
)

// A Round is the content of a requestState. It belongs either to an approval that the proxy asks
// for, or to a call whose upstream has asked for input.
type Round struct {
	Subject  string    `json:"k"` // hash of the approval key or of the call's identity
	Approval string    `json:"a,omitempty"`
	Channel  string    `json:"c,omitempty"` // approval channel (form or page) that the client must show to its user; empty if the client must show neither
	Pause    string    `json:"p,omitempty"`
	State    *string   `json:"s,omitempty"` // the upstream's own requestState
	Beside   string    `json:"b,omitempty"` // hash of the params, other than the name, the arguments and _meta, that a person has approved; empty if no person was asked
	Number   int       `json:"n"`           // number of times that the client has been told to call again, including this time; 0 if Channel is not empty
	Expires  time.Time `json:"e"`

	Elsewhere bool `json:"-"` // whether another process has sealed the state
}

// For reports whether the round belongs to the given subject, which is an approval or a call.
func (r Round) For(subject []byte) bool { return r.Subject == wire.Digest(subject) }

// ErrState is returned for every refused state, regardless of the reason.
var ErrState = errors.New("requestState is not from petrigate for this call, or is too old")

// New returns a sealer that uses the key shared by all replicas or, if key is nil, its own key.
func New(key Key, now func() time.Time) *Sealer {
	s := &Sealer{key: key, now: now}
	_, _ = rand.Read(s.salt[:]) // Read never fails
	if key == nil {
		own := make([]byte, 32)
		_, _ = rand.Read(own)
		_, _ = s.use(own) // cannot fail for a key of this size
	}
	return s
}

// Ready reads the key, unless the key is already known. Ready must succeed before Seal is called.
func (s *Sealer) Ready(ctx context.Context) error {
	s.mu.Lock()
	known := s.known != nil
	s.mu.Unlock()
	if known {
		return nil
	}
	_, err := s.readKey(ctx)
	return err
}

// readKey reads the key and reports whether it has changed.
func (s *Sealer) readKey(ctx context.Context) (another bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, keyWait)
	defer cancel()
	key, err := s.key(ctx)
	if err != nil {
		return false, fmt.Errorf("the requestState key: %w", err)
	}
	return s.use(key)
}

func (s *Sealer) use(key []byte) (another bool, err error) {
	own, err := derive(key, s.salt[:])
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	another = !bytes.Equal(key, s.known)
	s.known, s.own, s.read = key, own, time.Now()
	return another, nil
}

// derive returns a cipher derived from a key and a salt.
func derive(key, salt []byte) (cipher.AEAD, error) {
	own, err := hkdf.Key(sha256.New, key, salt, "petrigate requestState", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal returns r in sealed form, bound to the subject. [Sealer.Ready] must have succeeded before.
func (s *Sealer) Seal(r Round, subject []byte) string {
	r.Subject = wire.Digest(subject)
	plain, err := json.Marshal(r)
	if err != nil {
		panic(err) // cannot happen: a Round can always be encoded
	}
	s.mu.Lock()
	own := s.own
	s.mu.Unlock()
	return base64.RawURLEncoding.EncodeToString(own.Seal(s.salt[:], nil, plain, nil))
}

// Open opens a state sealed by this sealer or by another one with the same key. The caller must
// then check [Round.For].
func (s *Sealer) Open(ctx context.Context, state string) (r Round, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || strings.ContainsAny(state, "\r\n") || len(raw) < saltSize { // line breaks are refused here, because the decoder ignores them
		return r, ErrState
	}
	if err := s.Ready(ctx); err != nil {
		return r, err
	}
	plain, err := s.open(ctx, raw[:saltSize], raw[saltSize:])
	if err != nil || json.Unmarshal(plain, &r) != nil || s.now().After(r.Expires) {
		return Round{}, ErrState
	}
	r.Elsewhere = !bytes.Equal(raw[:saltSize], s.salt[:])
	return r, nil
}

// open opens a state sealed with the given salt. If that fails, it reads the key again, because the
// key may have been replaced.
func (s *Sealer) open(ctx context.Context, salt, sealed []byte) ([]byte, error) {
	s.mu.Lock()
	plain, err := s.openWithCurrent(salt, sealed)
	again := err != nil && s.key != nil && time.Since(s.read) >= reread
	if again {
		s.read = time.Now()
	}
	s.mu.Unlock()
	if !again {
		return plain, err
	}
	if another, err := s.readKey(ctx); err != nil || !another {
		return nil, ErrState
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openWithCurrent(salt, sealed)
}

// openWithCurrent opens a state with the current key. The caller must hold mu.
func (s *Sealer) openWithCurrent(salt, sealed []byte) ([]byte, error) {
	by := s.own
	if !bytes.Equal(salt, s.salt[:]) {
		var err error
		if by, err = derive(s.known, salt); err != nil {
			return nil, err
		}
	}
	return by.Open(nil, nil, sealed, nil)
}
