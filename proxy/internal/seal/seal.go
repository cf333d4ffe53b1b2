// Package seal lets a client carry what we want to know again, without reading
// or changing it.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Sealer makes the requestState that a client of 2026-07-28 carries between
// the rounds of an approval, or of a call whose upstream asks for input. It is
// encrypted and authenticated, and bound to what it was made for; the approval
// itself is used up on our side, so a state that is sent twice opens nothing
// twice. The key lives as long as the approvals do, which is as long as the
// process.
type Sealer struct {
	aead cipher.AEAD
	now  func() time.Time
}

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
}

// For reports whether a state that was opened was made for the subject.
func (r Round) For(subject []byte) bool { return r.Subject == wire.Digest(subject) }

// ErrState is all that is said of a state that was not taken.
var ErrState = errors.New("requestState is not one of ours for this call, or is too old")

// New makes a sealer with a key of its own.
func New(now func() time.Time) (*Sealer, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Sealer{aead: aead, now: now}, nil
}

// Seal binds r to the subject it may be used for.
func (s *Sealer) Seal(r Round, subject []byte) string {
	r.Subject = wire.Digest(subject)
	plain, err := json.Marshal(r)
	if err != nil {
		panic(err) // a round is plain data
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// Open reads a state of ours, as it was sent. The caller asks whether it is
// [Round.For] what it is used for.
func (s *Sealer) Open(state string) (r Round, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || strings.ContainsAny(state, "\r\n") { // which the decoder passes over
		return r, ErrState
	}
	plain, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil || json.Unmarshal(plain, &r) != nil || s.now().After(r.Expires) {
		return Round{}, ErrState
	}
	return r, nil
}
