// Package seal lets a client carry what we want to know again, without reading
// or changing it.
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

// A Sealer makes the requestState that a client of 2026-07-28 carries between
// the rounds of an approval, or of a call whose upstream asks for input. It is
// encrypted and authenticated, and bound to what it was made for; the approval
// itself is used up on our side, so a state that is sent twice opens nothing
// twice. The key lives as long as the approvals do: as long as the process, or as
// long as the database that several processes share, where each of them opens what
// another has sealed.
type Sealer struct {
	key  Key // nil: it is made here
	now  func() time.Time
	salt [saltSize]byte // of this sealer: no two seal under the same key

	mu    sync.Mutex
	known []byte      // the key
	own   cipher.AEAD // of the salt
	read  time.Time   // when the key was last asked for
}

// A Key is where the key of a sealer is kept, of 32 random bytes.
type Key func(context.Context) ([]byte, error)

const (
	saltSize = 16
	keyWait  = 10 * time.Second // for the key
	reread   = time.Second      // how often the key is read again for states that do not open
)

// A Round is what a requestState holds: of an approval of ours, or of a call
// whose upstream asked for input.
type Round struct {
	Subject  string    `json:"k"` // what it may be used for, by its hash
	Approval string    `json:"a,omitempty"`
	Channel  string    `json:"c,omitempty"` // by which the round put the question of the approval; empty: it carried none
	Pause    string    `json:"p,omitempty"`
	State    *string   `json:"s,omitempty"` // the upstream's own
	Beside   string    `json:"b,omitempty"` // of a call that a person approved: what they were shown beside its arguments, by its hash
	Number   int       `json:"n"`           // of the rounds so far
	Expires  time.Time `json:"e"`

	Elsewhere bool `json:"-"` // another process has sealed it
}

// For reports whether a state that was opened was made for the subject.
func (r Round) For(subject []byte) bool { return r.Subject == wire.Digest(subject) }

// ErrState is all that is said of a state that was not taken.
var ErrState = errors.New("requestState is not one of ours for this call, or is too old")

// New returns a sealer with the key that processes share, or, where key is nil, with
// one of its own.
func New(key Key, now func() time.Time) *Sealer {
	s := &Sealer{key: key, now: now}
	_, _ = rand.Read(s.salt[:]) // it never fails
	if key == nil {
		own := make([]byte, 32)
		_, _ = rand.Read(own)
		_, _ = s.use(own) // nor does this, for a key of that size
	}
	return s
}

// Ready reads the key unless that was done. Nothing can be sealed before.
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

// readKey reads the key, and reports whether it is another one than before.
func (s *Sealer) readKey(ctx context.Context) (another bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, keyWait)
	defer cancel()
	key, err := s.key(ctx)
	if err != nil {
		return false, fmt.Errorf("the key of requestState: %w", err)
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

// derive returns what seals under the key for one salt.
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

// Seal binds r to the subject it may be used for. It requires that the sealer is
// [Sealer.Ready].
func (s *Sealer) Seal(r Round, subject []byte) string {
	r.Subject = wire.Digest(subject)
	plain, err := json.Marshal(r)
	if err != nil {
		panic(err) // a round is plain data
	}
	s.mu.Lock()
	own := s.own
	s.mu.Unlock()
	return base64.RawURLEncoding.EncodeToString(own.Seal(s.salt[:], nil, plain, nil))
}

// Open reads a state of ours, as it was sent, or of another process with the same key. The
// caller asks whether it is [Round.For] what it is used for.
func (s *Sealer) Open(ctx context.Context, state string) (r Round, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || strings.ContainsAny(state, "\r\n") || len(raw) < saltSize { // which the decoder passes over
		return r, ErrState
	}
	if err := s.Ready(ctx); err != nil {
		return r, err
	}
	plain, err := s.open(ctx, raw[:saltSize], raw[saltSize:])
	if err != nil || json.Unmarshal(plain, &r) != nil || s.now().After(r.Expires) {
		return Round{}, ErrState
	}
	r.Elsewhere = !s.sealedHere(raw)
	return r, nil
}

func (s *Sealer) sealedHere(raw []byte) bool { return bytes.Equal(raw[:saltSize], s.salt[:]) }

// open opens what was sealed for the salt. Where it does not open, the key may have been
// replaced since it was read.
func (s *Sealer) open(ctx context.Context, salt, sealed []byte) ([]byte, error) {
	s.mu.Lock()
	plain, err := s.openBy(salt, sealed)
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
	return s.openBy(salt, sealed)
}

// openBy requires the lock.
func (s *Sealer) openBy(salt, sealed []byte) ([]byte, error) {
	by := s.own
	if !bytes.Equal(salt, s.salt[:]) {
		var err error
		if by, err = derive(s.known, salt); err != nil {
			return nil, err
		}
	}
	return by.Open(nil, nil, sealed, nil)
}
