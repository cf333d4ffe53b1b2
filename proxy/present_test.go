package proxy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestListSessions: the short list is the long one without nets, and has the last use of each
// session.
func TestListSessions(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], proxytest.CanElicit)
	s.Connect(proxytest.Legs()[1], "")
	q := c.Asks("deploy", `{}`)
	long, err := s.Proxy.AllSessions()
	if err != nil {
		t.Fatal(err)
	}
	short, err := s.Proxy.ListSessions()
	if err != nil || len(short) != 2 {
		t.Fatal(short, err)
	}
	for i := range long {
		if time.Since(short[i].Used) > time.Hour {
			t.Errorf("%s was used %s", short[i].ID, short[i].Used)
		}
		long[i].Nets, short[i].Used = []proxy.NetInfo{}, time.Time{}
		if fmt.Sprintf("%+v", long[i]) != fmt.Sprintf("%+v", short[i]) {
			t.Errorf("%+v\n%+v", long[i], short[i])
		}
	}
	if short[0].Waiting+short[1].Waiting != 1 {
		t.Errorf("%+v", short)
	}
	q.Answer(proxytest.Decline)
}

// TestChannelsOf: a form in the client is a channel only if the client can show it.
func TestChannelsOf(t *testing.T) {
	for capabilities, want := range map[string]bool{proxytest.CanElicit: true, "": false} {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Approval.Channels = []string{"elicit", "cli"} }})
		s.Connect(proxytest.Legs()[0], capabilities)
		got, err := s.Proxy.ChannelsOf(s.Proxy.Sessions()[0].ID)
		if err != nil || slices.Contains(got, "elicit") != want || !slices.Contains(got, "cli") {
			t.Errorf("%q: %v %v", capabilities, got, err)
		}
	}
	s := proxytest.Start(t, proxytest.Setup{})
	if _, err := s.Proxy.ChannelsOf("nobody"); err == nil {
		t.Error("an unknown session has channels")
	}
}

// TestState: the copy is the state of the session, and moves nothing.
func TestState(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], "")
	session := s.Proxy.Sessions()[0].ID
	marking := func(id string) (all string) {
		t.Helper()
		state, err := s.Proxy.State(id)
		if err != nil || len(state.Tools) == 0 {
			t.Fatal(state, err)
		}
		for _, n := range state.Policy().NetsOf(state) {
			all += n.Name + " " + n.Marking.String() + "\n"
		}
		state.Apply(state.Policy().Reset(state)) // its own copy
		return all
	}
	before := marking(session)
	if fresh := marking(""); fresh != before {
		t.Errorf("a session that begins now\n%sis not as one without calls\n%s", fresh, before)
	}
	c.Must("push", `{}`)
	if after := marking(session); after == before || marking(session) != after {
		t.Errorf("after a call\n%s", after)
	}
	if _, err := s.Proxy.State("nobody"); err == nil {
		t.Error("an unknown session has a state")
	}
}
