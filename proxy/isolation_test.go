//go:build unix

package proxy_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// isolating is a site in front of a child of 2025-11-25 that asks its clients.
func isolating(t *testing.T, isolation string, change func(*proxy.Upstream)) *site {
	u, _ := child(t, "--tools asking --era legacy")
	u.Isolation = isolation
	if change != nil {
		change(&u)
	}
	return start(t, setup{rules: "limit ask to 1000 per session\n", change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{u} }})
}

// pid returns the process that serves the client.
func (c *client) pid() string {
	c.t.Helper()
	return c.must("pid", `{}`).text()
}

// gone waits for the end of a process.
func (s *site) gone(pid string) {
	s.t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		s.t.Fatal(err)
	}
	s.eventually("process "+pid+" is gone", func() bool { return syscall.Kill(n, 0) == syscall.ESRCH })
}

// asksFor answers the question that a call of ask causes, and fails unless it is the right one.
func (c *client) asksFor(word string) {
	c.t.Helper()
	args := `{"message":"` + word + `"}`
	id := c.call("ask", args)
	if c.leg.modern {
		r := c.reply(id)
		if got := at(r.result, "inputRequests", "request-1", "params", "message"); got != `"`+word+`"` {
			c.t.Errorf("asked %s, want %q: %s", got, word, r.raw)
			return
		}
		id = c.callWith("ask", args, "", `,"inputResponses":{"request-1":{"action":"accept","content":{"w":"`+word+`"}}},"requestState":`+at(r.result, "requestState"))
	} else {
		q := c.questioned("elicitation/create")
		if got := at(q.params, "message"); got != `"`+word+`"` {
			c.t.Errorf("asked %s, want %q", got, word)
		}
		c.respond(q.id, `{"action":"accept","content":{"w":"`+word+`"}}`)
	}
	if r := c.reply(id); at(r.result, "heard", "result", "content", "w") != `"`+word+`"` {
		c.t.Errorf("%s", r.raw)
	}
}

// TestIsolationSession: each session has a process of its own, which starts with its first call and
// ends with the session; questions caused by one client's call go to that client only, concurrently
// and repeatedly.
func TestIsolationSession(t *testing.T) {
	t.Parallel()
	s := isolating(t, proxy.IsolateSession, nil)
	all := []*client{s.connect(legs()[0], canElicit), s.connect(legs()[1], canElicit), s.connect(legs()[1], canElicit), s.connect(legs()[2], canElicit)}
	if n := s.proxy.Status().Upstreams[0].Sessions; n != 0 {
		t.Errorf("%d processes before the first call", n)
	}
	var work sync.WaitGroup
	for i, c := range all {
		work.Go(func() {
			for j := range 5 {
				c.asksFor(strconv.Itoa(i) + "-" + strconv.Itoa(j))
			}
		})
	}
	work.Wait()
	var pids []string
	for i, c := range all {
		pid := c.pid()
		if slices.Contains(pids, pid) {
			t.Errorf("client %d shares a process", i)
		}
		pids = append(pids, pid)
		if got := c.must("count", `{}`).text(); got != "1" {
			t.Errorf("client %d sees the count of others: %s", i, got)
		}
	}
	if n := s.proxy.Status().Upstreams[0].Sessions; n != len(all) {
		t.Errorf("%d processes, want %d", n, len(all))
	}
	for i, c := range all[:3] { // the last one has no session to end
		c.close()
		s.gone(pids[i])
	}
	s.eventually("one is left", func() bool { return s.proxy.Status().Upstreams[0].Sessions == 1 })
	if err := s.proxy.Close(); err != nil {
		t.Error(err)
	}
	s.gone(pids[3])
}

// TestIsolationAuto: an upstream is shared until it asks. The only client that it can mean is asked
// and stays on the shared connection; later clients that can be asked have a process each, and the
// others continue to share.
func TestIsolationAuto(t *testing.T) {
	t.Parallel()
	s := isolating(t, "", nil)
	first, second, mute := s.connect(legs()[1], canElicit), s.connect(legs()[1], canElicit), s.connect(legs()[1], "")
	shared := first.pid()
	first.asksFor("a")
	if got := first.pid(); got != shared {
		t.Errorf("the first client moved from %s to %s", shared, got)
	}
	if got := mute.pid(); got != shared {
		t.Errorf("a client that cannot be asked is at %s", got)
	}
	own := second.pid()
	if own == shared {
		t.Error("the second client shares the process of the first")
	}
	var work sync.WaitGroup
	for i, c := range []*client{first, second} {
		work.Go(func() {
			for j := range 5 {
				c.asksFor(strconv.Itoa(i) + "-" + strconv.Itoa(j))
			}
		})
	}
	work.Wait()
	second.close()
	s.gone(own)
}

// TestIsolationDoubt: if the client of a question is uncertain, no client is asked: two calls are
// in flight, or one that another client has cancelled.
func TestIsolationDoubt(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{proxy.IsolateAuto, proxy.IsolateShared} {
		t.Run(isolation, func(t *testing.T) {
			s := isolating(t, isolation, nil)
			one, other := s.connect(legs()[1], canElicit), s.connect(legs()[1], canElicit)
			if one.pid() != other.pid() {
				t.Fatal("they do not share")
			}
			given := one.call("linger", `{"message":"of one"}`)
			s.eventually("the call is under way", func() bool { return s.openCalls() == 1 })
			r := other.reply(other.call("ask", `{"message":"of the other"}`))
			if !strings.Contains(at(r.result, "heard", "error", "message"), "it cannot be told which client this is for") {
				t.Errorf("%s", r.raw)
			}
			one.cancel(given)
			r = other.reply(other.call("ask", `{"message":"again"}`))
			if at(r.result, "heard", "error", "code") != "-32603" {
				t.Errorf("%s", r.raw)
			}
			for _, c := range []*client{one, other} {
				if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
					t.Errorf("asked: %s", c.mail)
				}
			}
			third := s.connect(legs()[1], canElicit)
			if alone := third.pid() != one.pid(); alone != (isolation == proxy.IsolateAuto) {
				t.Errorf("the third client has a process of its own: %v", alone)
			}
		})
	}
}

// TestIsolationBound: the number of processes is limited, a refused session is not counted, and a
// session that ends makes room.
func TestIsolationBound(t *testing.T) {
	s := isolating(t, proxy.IsolateSession, func(u *proxy.Upstream) { u.Limits.Sessions = 2 })
	first, second, third := s.connect(legs()[1], ""), s.connect(legs()[1], ""), s.connect(legs()[1], "")
	pid := first.pid()
	second.pid()
	r := third.refuses("pid", `{}`, "unavailable")
	if !strings.Contains(r.text(), "2 sessions have a process of up for themselves, and no more are allowed (limits.sessions)") {
		t.Errorf("%s", r.text())
	}
	first.close()
	s.gone(pid)
	third.pid()
}

// TestIsolationRests: a dedicated connection of clients without sessions ends after half an hour
// without use, and makes room; the next call has a new one.
func TestIsolationRests(t *testing.T) {
	t.Parallel()
	u, _ := child(t, "--tools asking --era legacy")
	u.Isolation, u.Limits.Sessions = proxy.IsolateSession, 2
	now := clockAt(time.Now().AddDate(1, 0, 0)) // by no other clock was anything unused for long
	s := start(t, setup{rules: "block danger\n", change: func(o *proxy.Options) { o.Upstreams, o.Now = []proxy.Upstream{u}, now.Now }})
	guest, resident, late := s.connect(legs()[2], ""), s.connect(legs()[1], ""), s.connect(legs()[1], "")
	count := func(c *client, want string) {
		t.Helper()
		if got := c.must("count", `{}`).text(); got != want {
			t.Errorf("call %s of a process, want %s", got, want)
		}
	}
	pid := guest.pid()
	for _, nth := range []string{"1", "2", "3"} { // each of them less than half an hour after the one before
		count(guest, nth)
		count(resident, nth)
		now.move(29 * time.Minute)
	}
	late.refuses("pid", `{}`, "unavailable")
	now.move(2 * time.Minute)
	s.gone(pid)
	count(late, "1")
	count(resident, "4")
	late.close()
	s.eventually("there is room", func() bool { return s.proxy.Status().Upstreams[0].Sessions == 1 })
	count(guest, "1")
}

// An askedClock counts how often it is read.
type askedClock struct {
	clock
	asked atomic.Int64
}

func (c *askedClock) Now() time.Time {
	c.asked.Add(1)
	return c.clock.Now()
}

// TestIsolationStays: a dedicated connection of a client without a session does not end early, nor
// while a call is in flight there, however often it is checked.
func TestIsolationStays(t *testing.T) {
	t.Parallel()
	u, records := child(t, "--tools asking --era legacy")
	u.Isolation, u.Timeout = proxy.IsolateSession, patience
	now := &askedClock{clock: clock{now: time.Now()}}
	s := start(t, setup{rules: "block danger\n", change: func(o *proxy.Options) { o.Upstreams, o.Now = []proxy.Upstream{u}, now.Now }})
	guest := s.connect(legs()[2], "")
	pid := guest.pid()
	looked := func(when string) {
		t.Helper()
		first := now.asked.Load() // only the sweeper reads the time: there are no calls
		s.eventually("it is looked at "+when, func() bool { return now.asked.Load() > first+1 })
		if n := s.proxy.Status().Upstreams[0].Sessions; n != 1 {
			t.Errorf("%s: %d processes", when, n)
		}
	}
	now.move(29 * time.Minute)
	looked("before its time")
	id := guest.call("linger", `{}`)
	s.eventually("the call is under way", func() bool { return len(ofKind(records(), testserver.Executed, "linger")) == 1 })
	now.move(31 * time.Minute)
	looked("while a call is under way")
	guest.cancel(id)
	now.move(31 * time.Minute)
	s.gone(pid)
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
				c := s.connect(legs()[1], canElicit)
				c.asksFor("x")
				pid := c.pid()
				if len(pid)%2 == 0 { // some disconnect in the middle of a call
					c.call("linger", `{}`)
				}
				c.close()
				mu.Lock()
				pids = append(pids, pid)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	for _, pid := range pids {
		s.gone(pid)
	}
	s.eventually("nothing is left", func() bool { return s.proxy.Status().Upstreams[0].Sessions == 0 && s.openCalls() == 0 })
}

// TestIsolationOverHTTP: over HTTP a dedicated connection is a session of the upstream.
func TestIsolationOverHTTP(t *testing.T) {
	s := start(t, setup{change: func(o *proxy.Options) {
		o.Upstreams[0].Isolation = proxy.IsolateSession
		o.Upstreams[0].Protocol = "legacy"
	}})
	for range 2 {
		c := s.connect(legs()[1], "")
		c.must("read", `{}`)
		if n := s.proxy.Status().Upstreams[0].Sessions; n != 1 {
			t.Errorf("%d sessions of its own, want 1", n)
		}
		c.close()
		s.eventually("it is over", func() bool { return s.proxy.Status().Upstreams[0].Sessions == 0 })
	}
}
