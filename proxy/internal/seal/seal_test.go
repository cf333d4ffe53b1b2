package seal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSeal checks that a state can be opened until it expires, only for its own purpose and only
// with its own key.
func TestSeal(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	s := New(nil, clock)
	theirs := "the upstream's own"
	state := s.Seal(Round{Approval: "ap_1", State: &theirs, Number: 3, Expires: now.Add(time.Minute)}, []byte("this call"))
	if strings.Contains(state, "ap_1") || state == s.Seal(Round{Approval: "ap_1", State: &theirs, Number: 3, Expires: now.Add(time.Minute)}, []byte("this call")) {
		t.Error("a client can tell what it carries")
	}
	r, err := s.Open(t.Context(), state)
	if err != nil || r.Elsewhere || r.Approval != "ap_1" || *r.State != theirs || r.Number != 3 || !r.For([]byte("this call")) || r.For([]byte("another")) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := New(nil, clock).Open(t.Context(), state); !errors.Is(err, ErrState) {
		t.Errorf("another process opens it: %v", err)
	}
	now = now.Add(time.Minute + 1)
	if r, err := s.Open(t.Context(), state); !errors.Is(err, ErrState) || r.Approval != "" {
		t.Errorf("it is too old: %+v, %v", r, err)
	}
}

// TestSharedKey checks that a process can open the states of another one with the same key, even if
// the key was replaced or could not be read at first.
func TestSharedKey(t *testing.T) {
	var away error
	key, reads := []byte(strings.Repeat("k", 32)), 0
	shared := func(context.Context) ([]byte, error) { reads++; return key, away }
	a, b := New(shared, time.Now), New(shared, time.Now)
	round := Round{Approval: "ap_1", Expires: time.Now().Add(time.Minute)}
	if err := a.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	away = errors.New("away")
	if _, err := b.Open(t.Context(), a.Seal(round, nil)); !errors.Is(err, away) {
		t.Errorf("without a key: %v", err)
	}
	away = nil
	if r, err := b.Open(t.Context(), a.Seal(round, nil)); err != nil || r.Approval != "ap_1" || !r.Elsewhere {
		t.Errorf("%+v, %v", r, err)
	}
	key, b.read = []byte(strings.Repeat("K", 32)), time.Time{}
	c := New(shared, time.Now)
	if err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Open(t.Context(), c.Seal(round, nil)); err != nil || r.Approval != "ap_1" {
		t.Errorf("after the key was replaced: %+v, %v", r, err)
	}
	before := reads
	for range 100 {
		if _, err := b.Open(t.Context(), a.Seal(round, nil)); !errors.Is(err, ErrState) {
			t.Errorf("of the key before: %v", err)
		}
	}
	if reads > before+1 {
		t.Errorf("the key was read %d times for states that do not open", reads-before)
	}
}

// FuzzOpen checks that only an unchanged state opens.
func FuzzOpen(f *testing.F) {
	s := New(nil, time.Now)
	state := s.Seal(Round{Number: 1, Expires: time.Now().Add(time.Hour)}, nil)
	for _, seed := range []string{"", state, state + "=", state + "\n", state[1:], strings.ToUpper(state), "A" + state[1:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := s.Open(t.Context(), text); (err == nil) != (text == state) || err != nil && r != (Round{}) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	})
}
