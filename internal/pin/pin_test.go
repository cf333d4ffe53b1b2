package pin

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestPIN checks that the correct PIN is accepted, wrong ones are not, and several wrong ones block
// all PINs for a while.
func TestPIN(t *testing.T) {
	if _, err := Hash("12345"); err == nil {
		t.Error("a short one is taken")
	}
	hash, err := Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	p, err := Parse(hash, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(""); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	for n := range maxWrong {
		if err := p.Check("correct horsE"); !errors.Is(err, ErrWrong) {
			t.Errorf("try %d: %v", n, err)
		}
	}
	if err := p.Check("correct horse"); err == nil || !strings.Contains(err.Error(), "no PIN is accepted for the next 10m0s") {
		t.Errorf("after %d wrong ones: %v", maxWrong, err)
	}
	now = now.Add(pause)
	if err := p.Check("correct horse"); err != nil {
		t.Error(err)
	}
	for n := range maxWrong - 1 {
		if err := errors.Join(p.Check("correct horse"), p.Check("correct horsE")); err == nil || strings.Contains(err.Error(), "counts for") {
			t.Errorf("try %d: %v", n, err)
		}
	}
	now = now.Add(2 * pause)
	if err := p.Check("correct horse"); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := p.Check("correct horsE"); !errors.Is(err, ErrWrong) {
		t.Errorf("after a right one: %v", err)
	}
	var none *PIN
	if err := none.Check(""); err != nil {
		t.Errorf("without a PIN: %v", err)
	}
	for _, text := range []string{"", "1234", strings.Replace(hash, "600000", "1", 1), strings.Replace(hash, "600000", "99999999999", 1), strings.Replace(hash, "pbkdf2", "md5", 1), hash[:len(hash)-3], hash + ":", strings.Replace(hash, ":6", "::6", 1)} {
		if _, err := Parse(text, time.Now); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
