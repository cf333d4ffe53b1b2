// Package pin checks the PIN that a person enters with an approval. It compares the PIN with a
// stored hash.
package pin

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	rounds    = 600_000 // number of iterations of PBKDF2 with HMAC-SHA-256
	minRounds = 100_000
	maxRounds = 10_000_000
	hashBytes = 32
	saltBytes = 16
	minLength = 6 // minimum number of characters in a PIN

	maxWrong = 5                // after this number of wrong PINs, Check rejects all PINs for a while
	pause    = 10 * time.Minute // how long Check counts wrong PINs, and how long it rejects all PINs after too many
)

// Errors returned by [PIN.Check].
var (
	ErrMissing = errors.New("the proxy requires its PIN, and none was typed")
	ErrWrong   = errors.New("the PIN is wrong")
)

// A PIN is a secret number or text that a person must enter to approve a call. It protects against
// someone who has gained access to the person's account. White space around it is ignored. Only a
// PBKDF2 hash (RFC 8018) of the PIN is stored. A PIN is safe for concurrent use.
type PIN struct {
	rounds     int
	salt, hash []byte
	now        func() time.Time
	key        []byte // random HMAC key, known only to this process

	mu          sync.Mutex
	lastCorrect []byte    // HMAC of the correct PIN under key; nil until a correct PIN has been entered
	wrong       int       // number of wrong PINs counted since first
	first       time.Time // time of the wrong PIN that started the count
	until       time.Time // all PINs are rejected until this time
}

// Hash returns the hash of a PIN in the form stored in configurations.
func Hash(pin string) (string, error) {
	pin = strings.TrimSpace(pin)
	if utf8.RuneCountInString(pin) < minLength {
		return "", fmt.Errorf("a PIN must have at least %d characters", minLength)
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	hash, err := pbkdf2.Key(sha256.New, pin, salt, rounds, hashBytes)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("pbkdf2-sha256:%d:%s:%s", rounds, base64.RawURLEncoding.EncodeToString(salt), base64.RawURLEncoding.EncodeToString(hash)), nil
}

// Parse parses a hash returned by [Hash]. The returned PIN gets the current time from the given
// function.
func Parse(text string, now func() time.Time) (*PIN, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 4 || parts[0] != "pbkdf2-sha256" {
		return nil, errors.New("it is not what petrigate approvals pin prints")
	}
	n, err := strconv.Atoi(parts[1])
	salt, saltErr := base64.RawURLEncoding.DecodeString(parts[2])
	hash, hashErr := base64.RawURLEncoding.DecodeString(parts[3])
	if err = errors.Join(err, saltErr, hashErr); err != nil || n < minRounds || n > maxRounds || len(salt) < saltBytes || len(hash) != hashBytes {
		return nil, errors.New("it is not what petrigate approvals pin prints")
	}
	return &PIN{rounds: n, salt: salt, hash: hash, now: now, key: []byte(rand.Text())}, nil
}

// Check returns nil if the PIN is correct, and otherwise the reason why it is rejected. A nil *PIN
// accepts everything. The first successful check is deliberately slow.
func (p *PIN) Check(pin string) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock() // hold the lock during the whole check, so that concurrent attempts cannot exceed maxWrong
	now := p.now()
	pin = strings.TrimSpace(pin)
	switch {
	case pin == "":
		return ErrMissing
	case now.Before(p.until):
		return fmt.Errorf("a wrong PIN was entered %d times: no PIN is accepted for the next %s", maxWrong, p.until.Sub(now).Round(time.Second))
	}
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(pin))
	known := mac.Sum(nil)
	if p.lastCorrect != nil && hmac.Equal(known, p.lastCorrect) {
		return nil
	}
	hash, err := pbkdf2.Key(sha256.New, pin, p.salt, p.rounds, hashBytes)
	if err == nil && subtle.ConstantTimeCompare(hash, p.hash) == 1 {
		p.lastCorrect = known
		return nil
	}
	if now.Sub(p.first) > pause {
		p.wrong, p.first = 0, now
	}
	if p.wrong++; p.wrong >= maxWrong { // a correct PIN does not reset the count, because it may come from a different person than the wrong PINs
		p.wrong, p.until = 0, now.Add(pause)
	}
	return ErrWrong
}
