package conn

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestShut checks that a connection ends for a new handshake only if no request that may be doing
// work is waiting. It must wait for requests that are answered quickly, and accept no others.
func TestShut(t *testing.T) {
	exchange := func(id int64, method string) *Exchange { return NewExchange(nil, Request{Method: method}, id) }
	shut := func(t *testing.T, p *Pending, ctx context.Context) (ended bool, result <-chan bool) {
		t.Helper()
		done := make(chan bool, 1)
		go func() { done <- p.Shut(ctx, func() { ended = true }) }()
		synctest.Wait()
		return ended, done
	}
	t.Run("nothing waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPending()
			p.Add(exchange(1, "subscriptions/listen"))
			if ended, done := shut(t, p, t.Context()); !ended || !<-done || p.Add(exchange(2, "tools/call")) > 0 {
				t.Error("it is not shut")
			}
		})
	})
	t.Run("work waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPending()
			p.Add(exchange(1, "tools/list"))
			p.Add(exchange(2, "tools/call"))
			if ended, done := shut(t, p, t.Context()); ended || <-done || p.Add(exchange(3, "tools/call")) == 0 {
				t.Error("it is shut")
			}
		})
	})
	t.Run("work comes while a list is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPending()
			p.Add(exchange(1, "tools/list"))
			ended, done := shut(t, p, t.Context())
			p.Add(exchange(2, "tools/call"))
			p.Take(1)
			if ended || <-done {
				t.Error("it is shut")
			}
		})
	})
	t.Run("lists are waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPending()
			p.Add(exchange(1, "tools/list"))
			p.Add(exchange(2, "logging/setLevel"))
			ended, done := shut(t, p, t.Context())
			p.Take(1)
			synctest.Wait()
			if ended || len(done) > 0 {
				t.Error("one is not waited for")
			}
			p.Take(2)
			if !<-done || p.Add(exchange(3, "ping")) > 0 {
				t.Error("it is not shut")
			}
		})
	})
	t.Run("a list that is never answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPending()
			p.Add(exchange(1, "prompts/list"))
			ctx, cancel := context.WithCancel(t.Context())
			ended, done := shut(t, p, ctx)
			cancel()
			if ended || <-done || p.Add(exchange(2, "ping")) == 0 {
				t.Error("it is shut")
			}
		})
	})
	t.Run("the connection is lost meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewPending()
			p.Add(exchange(1, "ping"))
			ended, done := shut(t, p, t.Context())
			p.Close()
			if ended || !<-done {
				t.Error("it is still waited for")
			}
		})
	})
}

func TestForgottenCancellations(t *testing.T) {
	p := NewPending()
	var first *Exchange
	for i := range int64(maxCancelled + 1) {
		x := NewExchange(nil, Request{Token: i + 1}, i)
		if i == 0 {
			first = x
		}
		p.Add(x)
		if forgotten := p.Cancel(x); (forgotten != nil) != (i == maxCancelled) || forgotten != nil && forgotten != first {
			t.Fatalf("%d: %v", i, forgotten)
		}
	}
	if len(p.byID) != maxCancelled || len(p.byToken) != maxCancelled || len(p.Close()) != maxCancelled {
		t.Error(len(p.byID), len(p.byToken))
	}
	if p.Add(first) > 0 {
		t.Error("it is closed")
	}
}
