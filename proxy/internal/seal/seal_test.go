package seal

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSeal: a state opens until its time is over, for what it was made for, and
// with no other key.
func TestSeal(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	s, err := New(clock)
	if err != nil {
		t.Fatal(err)
	}
	theirs := "the upstream's own"
	state := s.Seal(Round{Approval: "ap_1", State: &theirs, Number: 3, Expires: now.Add(time.Minute)}, []byte("this call"))
	if strings.Contains(state, "ap_1") || state == s.Seal(Round{Approval: "ap_1", State: &theirs, Number: 3, Expires: now.Add(time.Minute)}, []byte("this call")) {
		t.Error("a client can tell what it carries")
	}
	r, err := s.Open(state)
	if err != nil || r.Approval != "ap_1" || *r.State != theirs || r.Number != 3 || !r.For([]byte("this call")) || r.For([]byte("another")) {
		t.Errorf("%+v, %v", r, err)
	}
	other, err := New(clock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Open(state); !errors.Is(err, ErrState) {
		t.Errorf("another process opens it: %v", err)
	}
	now = now.Add(time.Minute + 1)
	if r, err := s.Open(state); !errors.Is(err, ErrState) || r.Approval != "" {
		t.Errorf("it is too old: %+v, %v", r, err)
	}
}

// FuzzOpen: nothing but a state as we made it opens.
func FuzzOpen(f *testing.F) {
	s, err := New(time.Now)
	if err != nil {
		f.Fatal(err)
	}
	state := s.Seal(Round{Number: 1, Expires: time.Now().Add(time.Hour)}, nil)
	for _, seed := range []string{"", state, state + "=", state + "\n", state[1:], strings.ToUpper(state), "A" + state[1:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := s.Open(text); (err == nil) != (text == state) || err != nil && r != (Round{}) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	})
}
