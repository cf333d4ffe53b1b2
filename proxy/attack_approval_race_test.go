package proxy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// A contest is one question that several channels answer concurrently, in different ways.
type contest struct {
	*testing.T
	now   *proxytest.Clock
	asks  *proxytest.Client // client of the call, at the first proxy
	sites []*proxytest.Site // proxies with the question; one, or replicas

	executed int
	read     int            // lines of the record that were checked
	wins     map[string]int // by channel
	lead     int            // number of yields before the second answer or, if negative, before the first one
}

// newContest returns proxies with the channels, and a client of the leg at the first one. Several
// proxies share a database and an upstream.
func newContest(t *testing.T, l proxytest.Leg, replicas int, capabilities string, channels ...string) *contest {
	t.Helper()
	c := &contest{T: t, now: proxytest.NewClock(), wins: map[string]int{}}
	t.Cleanup(func() { t.Logf("answered via %v, %d of them executed", c.wins, c.executed) })
	path := filepath.Join(t.TempDir(), "state.db")
	for range replicas {
		c.sites = append(c.sites, proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval, o.Now = proxy.Approval{Channels: channels, Hold: time.Hour}, c.now.Now
			if replicas == 1 {
				return
			}
			b, err := journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal, Now: c.now.Now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			if o.Database = b; len(c.sites) > 0 {
				o.Upstreams = c.sites[0].Options.Upstreams
			}
		}}))
	}
	c.asks = c.sites[0].Connect(l, capabilities)
	return c
}

// race runs both answers concurrently and returns their errors. The faster one of a round is
// delayed in the next one, so that either can be first.
func (c *contest) race(first, second func() error) (errs [2]error) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, f := range []func() error{first, second} {
		all.Go(func() {
			<-begin
			for range max(0, c.lead*(2*i-1)) {
				runtime.Gosched()
			}
			errs[i] = f()
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// handicap delays the winner of the next round.
func (c *contest) handicap(firstWon bool) {
	step := 8 + max(c.lead, -c.lead)/3
	if firstWon {
		step = -step
	}
	c.lead += step
}

// decided returns the recorded decisions about an approval since it was last asked.
func (c *contest) decided(id string) (found []proxytest.Record) {
	all := c.sites[0].Records.All()
	for _, line := range all[c.read:] {
		var r proxytest.Record
		if err := json.Unmarshal(line, &r); err != nil {
			c.Fatal(err)
		}
		if r.Event == "decision" && r.Approval == id && r.Decision != "ask" {
			found = append(found, r)
		}
	}
	c.read = len(all)
	return found
}

// judge fails unless one answer counted, in the record, for the client and for the upstream alike.
// said are the channels that answered without an error, and approved are those that approved.
func (c *contest) judge(id string, r proxytest.Message, said []string, approved map[string]bool) {
	c.Helper()
	var winner string
	for i, s := range c.sites {
		a, err := s.Proxy.Approval(id)
		if err != nil && i > 0 {
			continue // it first saw the approval after it was over
		}
		if err != nil {
			c.Fatal(err)
		}
		if i == 0 {
			winner = a.Channel
		}
		if want := map[bool]proxy.ApprovalState{true: "consumed", false: proxy.Denied}[approved[winner]]; i == 0 && a.State != want || a.Channel != winner {
			c.Fatalf("proxy %d says %s via %q, want %s via %q", i, a.State, a.Channel, want, winner)
		}
	}
	for _, channel := range said {
		if channel != winner {
			c.Fatalf("the answer via %s was taken, and that via %s counts", channel, winner)
		}
	}
	if _, known := approved[winner]; !known {
		c.Fatalf("%q has answered", winner)
	}
	c.wins[winner]++
	decision := "refuse"
	if approved[winner] {
		c.executed++
		decision = "allow"
	}
	if r.Result == nil || r.IsError() == approved[winner] {
		c.Fatalf("%s has won, the client reads %s", winner, r.Raw)
	}
	c.sites[0].Executed("deploy", c.executed)
	of := c.decided(id)
	if len(of) != 1 || of[0].Decision != decision || of[0].Channel != winner {
		c.Fatalf("%s has won, on record: %+v", winner, of)
	}
	if c.Failed() {
		c.FailNow()
	}
	c.now.Move(20 * time.Minute) // so that denials do not add up
}

// late fails unless an answer that came too late is recorded where it was given, once, and in the
// history of the approval there.
func (c *contest) late(s *proxytest.Site, id, channel string, approve bool) {
	c.Helper()
	said := map[bool]string{true: "approve", false: "deny"}[approve]
	of := s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "answer" && r.Approval == id })
	if len(of) != 1 || of[0].Said != said || of[0].Kind != "late" || of[0].Channel != channel || of[0].Actor != "ada" {
		c.Fatalf("%s via %s was too late, on record: %+v", said, channel, of)
	}
	a, err := s.Proxy.Approval(id)
	if err != nil || len(a.Rejections) != 1 || a.Rejections[0].Channel != channel || a.Rejections[0].Approve != approve || a.Rejections[0].Kind != "late" {
		c.Fatalf("%s via %s was too late, in the history: %v, %+v", said, channel, err, a.Rejections)
	}
}

// TestRacedAnswers: C022. If the client and the people at the console and the command line answer
// concurrently and differently, one answer counts: the call runs once if it approves, and not at
// all if it denies, and the record names its author.
func TestRacedAnswers(t *testing.T) {
	t.Parallel()
	from, rounds := soak.Range(t, 50)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		raceOfClient(newContest(t, l, 1, proxytest.CanElicit, "elicit", "web", "cli"), from, rounds)
	})
}

// TestRacedAnswersElsewhere: the same if they answer at another process with the same database.
func TestRacedAnswersElsewhere(t *testing.T) {
	t.Parallel()
	from, rounds := soak.Range(t, 20)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		raceOfClient(newContest(t, l, 2, proxytest.CanElicit, "elicit", "web", "cli"), from, rounds)
	})
}

// raceOfClient lets the client and an operator answer differently.
func raceOfClient(c *contest, seed uint64, rounds int) {
	c.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	elsewhere := c.sites[len(c.sites)-1]
	for n := range rounds {
		channel, yes := []string{"web", "cli"}[random.IntN(2)], random.IntN(2) == 0
		q := c.asks.Asks("deploy", fmt.Sprintf(`{"n":%d}`, n))
		id, call := onlyApproval(c.asks.Site), ""
		errs := c.race(
			func() error {
				call = q.Send(map[bool]string{true: proxytest.Approve, false: proxytest.Deny}[!yes])
				return errors.New("is told in its reply")
			},
			func() error { return answer(elsewhere, id, channel, yes) },
		)
		r := c.asks.Reply(call)
		for _, s := range c.sites {
			s.Proxy.Approvals() // reads the changes of the others
		}
		var said []string
		if errs[1] == nil {
			said = append(said, channel)
		}
		c.judge(id, r, said, map[string]bool{"elicit": !yes, channel: yes})
		c.handicap(errs[1] != nil)
	}
}

// TestRacedOperators: C022. The same for people at the console and at the command line. One of them
// is told that the answer was too late.
func TestRacedOperators(t *testing.T) {
	t.Parallel()
	from, rounds := soak.Range(t, 50)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		raceOfOperators(newContest(t, l, 1, "", "web", "cli"), from, rounds)
	})
}

// TestRacedOperatorsElsewhere: the same if each of them is at another process.
func TestRacedOperatorsElsewhere(t *testing.T) {
	t.Parallel()
	from, rounds := soak.Range(t, 20)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		raceOfOperators(newContest(t, l, 2, "", "web", "cli"), from, rounds)
	})
}

// raceOfOperators lets two people answer differently.
func raceOfOperators(c *contest, seed uint64, rounds int) {
	c.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	last := len(c.sites) - 1
	for n := range rounds {
		yes, at := random.IntN(2) == 0, random.IntN(2)*last // process of the first of them
		call := c.asks.Call("deploy", fmt.Sprintf(`{"n":%d}`, n))
		id := onlyApproval(c.asks.Site)
		errs := c.race(
			func() error { return answer(c.sites[at], id, "web", yes) },
			func() error { return answer(c.sites[last-at], id, "cli", !yes) },
		)
		if (errs[0] == nil) == (errs[1] == nil) {
			c.Fatalf("of two answers: %v, %v", errs[0], errs[1])
		}
		said := "web"
		if errs[0] != nil {
			said = "cli"
		}
		for _, s := range c.sites {
			s.Proxy.Approvals()
		}
		if errs[0] == nil {
			c.late(c.sites[last-at], id, "cli", !yes)
		} else {
			c.late(c.sites[at], id, "web", yes)
		}
		c.judge(id, c.asks.Reply(call), []string{said}, map[string]bool{"web": yes, "cli": !yes})
		c.handicap(errs[0] == nil)
	}
}
