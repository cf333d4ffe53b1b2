package proxy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A sealer makes the requestState that a client of 2026-07-28 carries between
// the rounds of an approval, or of a call whose upstream asks for input. It is
// encrypted and authenticated, and bound to what it was made for; the approval
// itself is used up on our side, so a state that is sent twice opens nothing
// twice. The key lives as long as the approvals do, which is as long as the
// process.
type sealer struct {
	aead cipher.AEAD
	now  func() time.Time
}

// round is what a requestState holds: of an approval of ours, or of a call
// whose upstream asked for input.
type round struct {
	Subject  string    `json:"k"` // what it may be used for, by its hash
	Approval string    `json:"a,omitempty"`
	Pause    string    `json:"p,omitempty"`
	State    *string   `json:"s,omitempty"` // the upstream's own
	Number   int       `json:"n"`           // of the rounds so far
	Expires  time.Time `json:"e"`
}

var errState = errors.New("requestState is not one of ours for this call, or is too old")

func newSealer(now func() time.Time) (*sealer, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{aead: aead, now: now}, nil
}

// seal binds r to the subject it may be used for.
func (s *sealer) seal(r round, subject []byte) string {
	r.Subject = wire.Digest(subject)
	plain, err := json.Marshal(r)
	if err != nil {
		panic(err) // a round is plain data
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// open reads a state of ours. The caller compares the subject.
func (s *sealer) open(state string) (r round, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil {
		return r, errState
	}
	plain, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil || json.Unmarshal(plain, &r) != nil || s.now().After(r.Expires) {
		return round{}, errState
	}
	return r, nil
}
