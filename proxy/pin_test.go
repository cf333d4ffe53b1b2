package proxy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestPINOfOrders: with a PIN, orders that could let a call pass without approval count only with
// it: settling a call, resetting a session, accepting a tool's definition, switching a net on,
// ending a stop. Stopping needs none. Wrong PINs are recorded, and block further attempts for a
// while.
func TestPINOfOrders(t *testing.T) {
	soak.Bulk(t)
	hash, err := pin.Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string]func(*site, *proxy.Pins, proxy.Actor) error{
		"reset the session": func(s *site, _ *proxy.Pins, a proxy.Actor) error {
			return s.proxy.ResetSession(s.proxy.Sessions()[0].ID, a)
		},
		"settle a call": func(s *site, _ *proxy.Pins, a proxy.Actor) error {
			session := s.proxy.Sessions()[0]
			return s.proxy.SettleCall(session.ID, session.Calls[0].Number, true, a)
		},
		"accept the tool up.deploy": func(_ *site, pins *proxy.Pins, a proxy.Actor) error {
			return pins.Accept("up.deploy", pins.Changes()[0].Hash, a)
		},
		"let stopped calls pass again": func(s *site, _ *proxy.Pins, a proxy.Actor) error {
			_, err := s.proxy.StartAgain("", a)
			return err
		},
		"switch a net on": func(s *site, _ *proxy.Pins, a proxy.Actor) error {
			if err := s.proxy.SwitchNet("chain", true, a); err == nil || !strings.Contains(err.Error(), "already active") {
				return err
			}
			return nil
		},
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			of, pins := pinned(t, true)
			of.policy = chain(t, "die", "push")
			change := of.change
			of.change = func(o *proxy.Options) {
				change(o)
				o.Approval.PIN = hash
			}
			s := start(t, of)
			c := s.connect(legs()[0], "")
			s.awaitSubscribed()
			if r := c.do("die", `{}`); !r.isError() {
				t.Errorf("%s", r.raw)
			}
			s.upstream.AddTool(poisoned())
			s.eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
			if _, err := s.proxy.Stop("", "ann", ""); err != nil {
				t.Error(err)
			}
			if !s.proxy.Status().PIN {
				t.Error("nobody is told that the PIN is needed")
			}
			before := s.state()
			if err := order(s, pins, proxy.Actor{Name: "ann"}); !errors.Is(err, pin.ErrMissing) {
				t.Errorf("without a PIN: %v", err)
			}
			if err := order(s, pins, proxy.Actor{Name: "ann", PIN: "wrong horse"}); !errors.Is(err, pin.ErrWrong) {
				t.Errorf("with a wrong PIN: %v", err)
			}
			if !s.recordsHave(`"event":"wrong pin"`) || !s.recordsHave(`"actor":"ann","reason":"to `+name+`"`) || s.recordsHave("horse") {
				t.Error("the wrong PIN is not on record, or what was typed is")
			}
			if now := s.state(); now != before || len(pins.Changes()) != 1 || len(s.proxy.Status().Stopped) != 1 {
				t.Errorf("something was done: %s, before %s", now, before)
			}
			if err := order(s, pins, proxy.Actor{Name: "ann", PIN: " correct horse "}); err != nil {
				t.Errorf("with the PIN: %v", err)
			}
			for range 4 {
				_, _ = s.proxy.StartAgain("", proxy.Actor{Name: "ann", PIN: "wrong horse"})
			}
			if _, err := s.proxy.StartAgain("", proxy.Actor{Name: "ann", PIN: "correct horse"}); err == nil || !strings.Contains(err.Error(), "none counts for the next") {
				t.Errorf("after five wrong ones: %v", err)
			}
		})
	}
}
