// Package pin knows the PIN that a person types with an approval, by its hash alone.
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
	rounds    = 600_000 // of PBKDF2 with HMAC-SHA-256
	minRounds = 100_000
	maxRounds = 10_000_000
	hashBytes = 32
	saltBytes = 16
	minLength = 6 // characters

	tries = 5                // wrong ones within a while, before none counts for as long
	pause = 10 * time.Minute // that while
)

// Errors of [PIN.Check].
var (
	ErrMissing = errors.New("this needs the PIN of the proxy, and none was typed")
	ErrWrong   = errors.New("the PIN is wrong")
)

// A PIN is what a person types with an approval, so that the account in which the answer is
// given is not enough. Spaces around it do not count. It is known as its hash by PBKDF2 (RFC 8018) alone. It is safe for concurrent use.
type PIN struct {
	rounds     int
	salt, hash []byte
	now        func() time.Time
	key        []byte // of this process

	mu    sync.Mutex
	right []byte    // the PIN that was right, as its HMAC with the key; nil: none was yet
	wrong int       // since first
	first time.Time // when the first of them was given
	until time.Time // no PIN counts before
}

// Hash returns the text by which a configuration knows the PIN.
func Hash(pin string) (string, error) {
	pin = strings.TrimSpace(pin)
	if utf8.RuneCountInString(pin) < minLength {
		return "", fmt.Errorf("a PIN has at least %d characters", minLength)
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	hash, err := pbkdf2.Key(sha256.New, pin, salt, rounds, hashBytes)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("pbkdf2-sha256:%d:%s:%s", rounds, base64.RawURLEncoding.EncodeToString(salt), base64.RawURLEncoding.EncodeToString(hash)), nil
}

// Parse reads the text of [Hash].
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

// Check returns why a PIN does not count, or nil. A nil PIN lets all pass. The first time it
// takes a while, on purpose.
func (p *PIN) Check(pin string) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock() // one at a time, so that many tries at once are no way around the pause
	now := p.now()
	pin = strings.TrimSpace(pin)
	switch {
	case pin == "":
		return ErrMissing
	case now.Before(p.until):
		return fmt.Errorf("a wrong PIN was given %d times: none counts for the next %s", tries, p.until.Sub(now).Round(time.Second))
	}
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(pin))
	known := mac.Sum(nil)
	if p.right != nil && hmac.Equal(known, p.right) {
		return nil
	}
	hash, err := pbkdf2.Key(sha256.New, pin, p.salt, p.rounds, hashBytes)
	if err == nil && subtle.ConstantTimeCompare(hash, p.hash) == 1 {
		p.right = known
		return nil
	}
	if now.Sub(p.first) > pause {
		p.wrong, p.first = 0, now
	}
	if p.wrong++; p.wrong >= tries { // right ones between them change nothing: they are another person's
		p.wrong, p.until = 0, now.Add(pause)
	}
	return ErrWrong
}
