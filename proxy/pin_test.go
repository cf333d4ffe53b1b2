package proxy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestPINOfOrders: with a PIN, orders that could let a call pass without approval count only with
// it: settling a call, resetting a session, accepting a tool's definition, switching a net on,
// ending a stop. Stopping needs none. Wrong PINs are recorded, and block further attempts for a
// while.
func TestPINOfOrders(t *testing.T) {
	t.Parallel()
	soak.Bulk(t)
	orders := map[string]func(*proxytest.Site, *proxy.Pins, proxy.Actor) error{
		"reset the session": func(s *proxytest.Site, _ *proxy.Pins, a proxy.Actor) error {
			return s.Proxy.ResetSession(s.Proxy.Sessions()[0].ID, a)
		},
		"settle a call": func(s *proxytest.Site, _ *proxy.Pins, a proxy.Actor) error {
			session := s.Proxy.Sessions()[0]
			return s.Proxy.SettleCall(session.ID, session.Calls[0].Number, true, a)
		},
		"accept the tool up.deploy": func(_ *proxytest.Site, pins *proxy.Pins, a proxy.Actor) error {
			return pins.Accept("up.deploy", pins.Changes()[0].Hash, a)
		},
		"let stopped calls pass again": func(s *proxytest.Site, _ *proxy.Pins, a proxy.Actor) error {
			_, err := s.Proxy.StartAgain("", a)
			return err
		},
		"switch a net on": func(s *proxytest.Site, _ *proxy.Pins, a proxy.Actor) error {
			if err := s.Proxy.SwitchNet("chain", true, a); err == nil || !strings.Contains(err.Error(), "already active") {
				return err
			}
			return nil
		},
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			of, pins := proxytest.PinnedSetup(t, true)
			of.Policy = proxytest.ChainPolicy(t, "die", "push")
			change := of.Change
			of.Change = func(o *proxy.Options) {
				change(o)
				o.Approval.PIN = proxytest.PINHash
			}
			s := proxytest.Start(t, of)
			c := s.Connect(proxytest.Legs()[0], "")
			s.AwaitSubscribed()
			if r := c.Do("die", `{}`); !r.IsError() {
				t.Errorf("%s", r.Raw)
			}
			s.Upstream.AddTool(proxytest.PoisonedTool())
			s.Eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
			if _, err := s.Proxy.Stop("", "ann", ""); err != nil {
				t.Error(err)
			}
			if !s.Proxy.Status().PIN {
				t.Error("nobody is told that the PIN is needed")
			}
			before := s.State()
			if err := order(s, pins, proxy.Actor{Name: "ann"}); !errors.Is(err, pin.ErrMissing) {
				t.Errorf("without a PIN: %v", err)
			}
			if err := order(s, pins, proxy.Actor{Name: "ann", PIN: "wrong horse"}); !errors.Is(err, pin.ErrWrong) {
				t.Errorf("with a wrong PIN: %v", err)
			}
			if !s.RecordsHave(`"event":"wrong pin"`) || !s.RecordsHave(`"actor":"ann","reason":"to `+name+`"`) || s.RecordsHave("horse") {
				t.Error("the wrong PIN is not on record, or what was typed is")
			}
			if now := s.State(); now != before || len(pins.Changes()) != 1 || len(s.Proxy.Status().Stopped) != 1 {
				t.Errorf("something was done: %s, before %s", now, before)
			}
			if err := order(s, pins, proxy.Actor{Name: "ann", PIN: " correct horse "}); err != nil {
				t.Errorf("with the PIN: %v", err)
			}
			for range 4 {
				_, _ = s.Proxy.StartAgain("", proxy.Actor{Name: "ann", PIN: "wrong horse"})
			}
			if _, err := s.Proxy.StartAgain("", proxy.Actor{Name: "ann", PIN: "correct horse"}); err == nil || !strings.Contains(err.Error(), "no PIN is accepted for the next") {
				t.Errorf("after five wrong ones: %v", err)
			}
		})
	}
}
