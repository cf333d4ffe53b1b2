//go:build unix

package session_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// isolating is a site in front of a child of 2025-11-25 that asks its clients.
func isolating(t *testing.T, isolation string, change func(*proxy.Upstream)) *proxytest.Site {
	u, _ := proxytest.ChildUpstream(t, "--tools asking --era legacy")
	u.Isolation = isolation
	if change != nil {
		change(&u)
	}
	return proxytest.Start(t, proxytest.Setup{Rules: "limit ask to 1000 per session\n", Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{u} }})
}

// pidOf returns the process that serves the client.
func pidOf(c *proxytest.Client) string {
	c.T.Helper()
	return c.Must("pid", `{}`).Text()
}

// gone waits for the end of a process.
func gone(s *proxytest.Site, pid string) {
	s.T.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Eventually("process "+pid+" is gone", func() bool { return syscall.Kill(n, 0) == syscall.ESRCH })
}

// asksFor answers the question that a call of ask causes, and fails unless it is the right one.
func asksFor(c *proxytest.Client, word string) {
	c.T.Helper()
	args := `{"message":"` + word + `"}`
	id := c.Call("ask", args)
	if c.Leg.Modern {
		r := c.Reply(id)
		if got := proxytest.Member(r.Result, "inputRequests", "request-1", "params", "message"); got != `"`+word+`"` {
			c.T.Errorf("asked %s, want %q: %s", got, word, r.Raw)
			return
		}
		id = c.CallWith("ask", args, "", `,"inputResponses":{"request-1":{"action":"accept","content":{"w":"`+word+`"}}},"requestState":`+proxytest.Member(r.Result, "requestState"))
	} else {
		q := c.AwaitRequest("elicitation/create")
		if got := proxytest.Member(q.Params, "message"); got != `"`+word+`"` {
			c.T.Errorf("asked %s, want %q", got, word)
		}
		c.Respond(q.ID, `{"action":"accept","content":{"w":"`+word+`"}}`)
	}
	if r := c.Reply(id); proxytest.Member(r.Result, "heard", "result", "content", "w") != `"`+word+`"` {
		c.T.Errorf("%s", r.Raw)
	}
}

// TestIsolationSession: each session has a process of its own, which starts with its first call and
// ends with the session; questions caused by one client's call go to that client only, concurrently
// and repeatedly.
func TestIsolationSession(t *testing.T) {
	t.Parallel()
	s := isolating(t, proxy.IsolateSession, nil)
	all := []*proxytest.Client{s.Connect(proxytest.Legs()[0], proxytest.CanElicit), s.Connect(proxytest.Legs()[1], proxytest.CanElicit), s.Connect(proxytest.Legs()[1], proxytest.CanElicit), s.Connect(proxytest.Legs()[2], proxytest.CanElicit)}
	if n := s.Proxy.Status().Upstreams[0].Sessions; n != 0 {
		t.Errorf("%d processes before the first call", n)
	}
	var work sync.WaitGroup
	for i, c := range all {
		work.Go(func() {
			for j := range 5 {
				asksFor(c, strconv.Itoa(i)+"-"+strconv.Itoa(j))
			}
		})
	}
	work.Wait()
	var pids []string
	for i, c := range all {
		pid := pidOf(c)
		if slices.Contains(pids, pid) {
			t.Errorf("client %d shares a process", i)
		}
		pids = append(pids, pid)
		if got := c.Must("count", `{}`).Text(); got != "1" {
			t.Errorf("client %d sees the count of others: %s", i, got)
		}
	}
	if n := s.Proxy.Status().Upstreams[0].Sessions; n != len(all) {
		t.Errorf("%d processes, want %d", n, len(all))
	}
	for i, c := range all[:3] { // the last one has no session to end
		c.Close()
		gone(s, pids[i])
	}
	s.Eventually("one is left", func() bool { return s.Proxy.Status().Upstreams[0].Sessions == 1 })
	if err := s.Proxy.Close(); err != nil {
		t.Error(err)
	}
	gone(s, pids[3])
}

// TestIsolationAuto: an upstream is shared until it asks. The only client that it can mean is asked
// and stays on the shared connection; later clients that can be asked have a process each, and the
// others continue to share.
func TestIsolationAuto(t *testing.T) {
	t.Parallel()
	s := isolating(t, "", nil)
	first, second, mute := s.Connect(proxytest.Legs()[1], proxytest.CanElicit), s.Connect(proxytest.Legs()[1], proxytest.CanElicit), s.Connect(proxytest.Legs()[1], "")
	shared := pidOf(first)
	asksFor(first, "a")
	if got := pidOf(first); got != shared {
		t.Errorf("the first client moved from %s to %s", shared, got)
	}
	if got := pidOf(mute); got != shared {
		t.Errorf("a client that cannot be asked is at %s", got)
	}
	own := pidOf(second)
	if own == shared {
		t.Error("the second client shares the process of the first")
	}
	var work sync.WaitGroup
	for i, c := range []*proxytest.Client{first, second} {
		work.Go(func() {
			for j := range 5 {
				asksFor(c, strconv.Itoa(i)+"-"+strconv.Itoa(j))
			}
		})
	}
	work.Wait()
	second.Close()
	gone(s, own)
}

// TestIsolationDoubt: if the client of a question is uncertain, no client is asked: two calls are
// in flight, or one that another client has cancelled.
func TestIsolationDoubt(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{proxy.IsolateAuto, proxy.IsolateShared} {
		t.Run(isolation, func(t *testing.T) {
			s := isolating(t, isolation, nil)
			one, other := s.Connect(proxytest.Legs()[1], proxytest.CanElicit), s.Connect(proxytest.Legs()[1], proxytest.CanElicit)
			if pidOf(one) != pidOf(other) {
				t.Fatal("they do not share")
			}
			given := one.Call("linger", `{"message":"of one"}`)
			s.Eventually("the call is under way", func() bool { return s.OpenCalls() == 1 })
			r := other.Reply(other.Call("ask", `{"message":"of the other"}`))
			if !strings.Contains(proxytest.Member(r.Result, "heard", "error", "message"), "cannot tell which client this is for") {
				t.Errorf("%s", r.Raw)
			}
			one.Cancel(given)
			r = other.Reply(other.Call("ask", `{"message":"again"}`))
			if proxytest.Member(r.Result, "heard", "error", "code") != "-32603" {
				t.Errorf("%s", r.Raw)
			}
			for _, c := range []*proxytest.Client{one, other} {
				if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
					t.Errorf("asked: %s", c.Mail)
				}
			}
			third := s.Connect(proxytest.Legs()[1], proxytest.CanElicit)
			if alone := pidOf(third) != pidOf(one); alone != (isolation == proxy.IsolateAuto) {
				t.Errorf("the third client has a process of its own: %v", alone)
			}
		})
	}
}

// TestIsolationBound: the number of processes is limited, a refused session is not counted, and a
// session that ends makes room.
func TestIsolationBound(t *testing.T) {
	s := isolating(t, proxy.IsolateSession, func(u *proxy.Upstream) { u.Limits.Sessions = 2 })
	first, second, third := s.Connect(proxytest.Legs()[1], ""), s.Connect(proxytest.Legs()[1], ""), s.Connect(proxytest.Legs()[1], "")
	pid := pidOf(first)
	pidOf(second)
	r := third.Refuses("pid", `{}`, "unavailable")
	if !strings.Contains(r.Text(), "2 sessions have their own process of up, the maximum (limits.sessions)") {
		t.Errorf("%s", r.Text())
	}
	first.Close()
	gone(s, pid)
	pidOf(third)
}

// TestIsolationRests: a dedicated connection of clients without sessions ends after half an hour
// without use, and makes room; the next call has a new one.
func TestIsolationRests(t *testing.T) {
	t.Parallel()
	u, _ := proxytest.ChildUpstream(t, "--tools asking --era legacy")
	u.Isolation, u.Limits.Sessions = proxy.IsolateSession, 2
	now := proxytest.ClockAt(time.Now().AddDate(1, 0, 0)) // by no other clock was anything unused for long
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.Upstreams, o.Now = []proxy.Upstream{u}, now.Now }})
	guest, resident, late := s.Connect(proxytest.Legs()[2], ""), s.Connect(proxytest.Legs()[1], ""), s.Connect(proxytest.Legs()[1], "")
	count := func(c *proxytest.Client, want string) {
		t.Helper()
		if got := c.Must("count", `{}`).Text(); got != want {
			t.Errorf("call %s of a process, want %s", got, want)
		}
	}
	pid := pidOf(guest)
	for _, nth := range []string{"1", "2", "3"} { // each of them less than half an hour after the one before
		count(guest, nth)
		count(resident, nth)
		now.Move(29 * time.Minute)
	}
	late.Refuses("pid", `{}`, "unavailable")
	now.Move(2 * time.Minute)
	gone(s, pid)
	count(late, "1")
	count(resident, "4")
	late.Close()
	s.Eventually("there is room", func() bool { return s.Proxy.Status().Upstreams[0].Sessions == 1 })
	count(guest, "1")
}

// An askedClock counts how often it is read.
type askedClock struct {
	*proxytest.Clock
	asked atomic.Int64
}

func (c *askedClock) Now() time.Time {
	c.asked.Add(1)
	return c.Clock.Now()
}

// TestIsolationStays: a dedicated connection of a client without a session does not end early, nor
// while a call is in flight there, however often it is checked.
func TestIsolationStays(t *testing.T) {
	t.Parallel()
	u, records := proxytest.ChildUpstream(t, "--tools asking --era legacy")
	u.Isolation, u.Timeout = proxy.IsolateSession, proxytest.Patience
	now := &askedClock{Clock: proxytest.ClockAt(time.Now())}
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.Upstreams, o.Now = []proxy.Upstream{u}, now.Now }})
	guest := s.Connect(proxytest.Legs()[2], "")
	pid := pidOf(guest)
	looked := func(when string) {
		t.Helper()
		first := now.asked.Load() // only the sweeper reads the time: there are no calls
		s.Eventually("it is looked at "+when, func() bool { return now.asked.Load() > first+1 })
		if n := s.Proxy.Status().Upstreams[0].Sessions; n != 1 {
			t.Errorf("%s: %d processes", when, n)
		}
	}
	now.Move(29 * time.Minute)
	looked("before its time")
	id := guest.Call("linger", `{}`)
	s.Eventually("the call is under way", func() bool { return len(proxytest.OfKind(records(), testserver.Executed, "linger")) == 1 })
	now.Move(31 * time.Minute)
	looked("while a call is under way")
	guest.Cancel(id)
	now.Move(31 * time.Minute)
	gone(s, pid)
}

// TestIsolationChurn: sessions that connect, call and disconnect leave no process behind.
func TestIsolationChurn(t *testing.T) {
	t.Parallel()
	s := isolating(t, proxy.IsolateSession, nil)
	var mu sync.Mutex
	var pids []string
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 4 {
				c := s.Connect(proxytest.Legs()[1], proxytest.CanElicit)
				asksFor(c, "x")
				pid := pidOf(c)
				if len(pid)%2 == 0 { // some disconnect in the middle of a call
					c.Call("linger", `{}`)
				}
				c.Close()
				mu.Lock()
				pids = append(pids, pid)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	for _, pid := range pids {
		gone(s, pid)
	}
	s.Eventually("nothing is left", func() bool { return s.Proxy.Status().Upstreams[0].Sessions == 0 && s.OpenCalls() == 0 })
}

// TestIsolationOverHTTP: over HTTP a dedicated connection is a session of the upstream.
func TestIsolationOverHTTP(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Upstreams[0].Isolation = proxy.IsolateSession
		o.Upstreams[0].Protocol = "legacy"
	}})
	for range 2 {
		c := s.Connect(proxytest.Legs()[1], "")
		c.Must("read", `{}`)
		if n := s.Proxy.Status().Upstreams[0].Sessions; n != 1 {
			t.Errorf("%d sessions of its own, want 1", n)
		}
		c.Close()
		s.Eventually("it is over", func() bool { return s.Proxy.Status().Upstreams[0].Sessions == 0 })
	}
}
