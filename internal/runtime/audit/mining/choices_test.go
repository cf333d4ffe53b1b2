package mining

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/soak"
)

// choices is an agent that follows rules with alternatives, with fresh evidence, and with several
// values.
type choices struct {
	saved, tested bool
	seen          map[string]bool // paths that were read, and issues and keys that were looked up
}

// arguments returns the arguments of a tool, with a value that identifies the call.
func arguments(random *rand.Rand, session int, tool string) (args, about string) {
	file, repo, number := random.IntN(4), (session+random.IntN(2))%30, (session/2+random.IntN(3))%40
	about = fmt.Sprintf("%d-%d", repo, number)
	switch tool {
	case "read_text", "read_media", "edit_doc":
		return fmt.Sprintf(`{"path":"/%d/%d","workspace":"main"}`, session%40, file), fmt.Sprint("path ", file)
	case "get_issue", "close_issue":
		return fmt.Sprintf(`{"repo":"r%d","number":%d,"workspace":"main"}`, repo, number), "issue " + about
	case "find_host":
		return fmt.Sprintf(`{"zone":"z%d","host":"h%d","workspace":"main"}`, repo, number), "host " + about
	case "reboot":
		return fmt.Sprintf(`{"region":"z%d","machine":"h%d","workspace":"main"}`, repo, number), "host " + about
	}
	return fmt.Sprintf(`{"note":"%d","workspace":"main"}`, random.IntN(1000)), ""
}

func (c *choices) may(tool, about string) bool {
	switch tool {
	case "migrate":
		return c.saved
	case "publish":
		return c.tested
	case "edit_doc", "close_issue", "reboot":
		return c.seen[about]
	}
	return true
}

func (c *choices) made(tool, about string, ok bool) {
	switch tool {
	case "migrate":
		c.saved = false
	case "publish", "edit_code":
		c.tested = false
	}
	if !ok {
		return
	}
	switch tool {
	case "snapshot", "dump_db":
		c.saved = true
	case "run_tests":
		c.tested = true
	case "read_text", "read_media", "get_issue", "find_host":
		c.seen[about] = true
	}
}

var choicesTools = []string{
	"snapshot", "dump_db", "migrate", "migrate", "run_tests", "run_tests", "publish", "edit_code", "edit_code", "read_text", "read_media", "edit_doc", "edit_doc",
	"get_issue", "get_issue", "close_issue", "close_issue", "find_host", "find_host", "reboot", "reboot", "view_log", "ping",
}

// chosen returns a log of the given number of calls by such agents. Besides noise it has patterns
// that must give no rule: calls at the beginning of sessions, one of two of them, calls that
// coincide, one that always follows another, rare calls, and an argument that never changes.
func chosen(t testing.TB, seed uint64, calls int) Log {
	w := newWorld(t, "")
	random := rand.New(rand.NewPCG(seed, 11))
	for n := 0; calls > 0; n++ {
		key := w.open(n, []string{"ann", "bob"}[random.IntN(2)])
		c := &choices{seen: map[string]bool{}}
		published := false
		call := func(tool string) {
			args, about := arguments(random, n, tool)
			if !c.may(tool, about) {
				return
			}
			outcome := []gate.Outcome{gate.Success, gate.Success, gate.Success, gate.Success, gate.Success, gate.Failure}[random.IntN(6)]
			if tool == "start_session" || strings.HasPrefix(tool, "mode_") {
				outcome = gate.Success
			}
			w.call(key, tool, args, outcome)
			c.made(tool, about, outcome == gate.Success)
			published = tool == "publish" && outcome == gate.Success
			calls--
			w.now = w.now.Add(time.Duration(random.IntN(90)) * time.Second)
		}
		call("start_session")
		call([]string{"mode_a", "mode_b"}[random.IntN(2)])
		for range 25 + random.IntN(60) {
			tool := choicesTools[random.IntN(len(choicesTools))]
			published = false
			call(tool)
			switch {
			case published:
				call("notify")
			case tool == "ping": // these two calls coincide, in any order
				call([]string{"pong", "view_log"}[random.IntN(2)])
			case random.IntN(250) == 0:
				call("rare_call")
			}
		}
		w.now = w.now.Add(time.Duration(random.IntN(240)) * time.Minute)
		if err := w.a.Sessions.End(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return w.close()
}

// TestPlantedChoices checks that alternatives, fresh evidence and two-value keys are found in
// 10,000 calls, and nothing that only resembles them.
func TestPlantedChoices(t *testing.T) {
	want := []string{
		"require dump_db or snapshot before migrate",
		"require find_host before reboot once with same host as machine, zone as region",
		"require get_issue before close_issue once with same number, repo",
		"require publish before notify",
		"require read_media or read_text before edit_doc once with same path",
		"require run_tests before publish since edit_code",
	}
	from, count := soak.Range(t, 2)
	for seed := from; seed < from+uint64(count); seed++ { //nolint:gosec // count is not negative
		log := chosen(t, seed, 10_000)
		r := suggested(t, log)
		var got []string
		for _, p := range r.Proposals {
			switch {
			case p.Chance < 1:
				got = append(got, p.Rule)
			case p.Kind != "row" && p.Kind != "budget":
				t.Errorf("seed %d: %+v", seed, p)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: %s\ndropped: %v", seed, strings.Join(got, "\n"), r.Dropped)
		}
		passes(t, log, r)
	}
}

// TestSince checks that a success concurrent with an invalidating call does not count, even if that
// call fails.
func TestSince(t *testing.T) {
	for beside, want := range map[bool]string{false: "require test before push since edit;", true: "require test before push;"} {
		w := newWorld(t, "")
		random := rand.New(rand.NewPCG(2, 2))
		for n := range 60 {
			key := w.open(n, "ann")
			call := func(tool string, outcome gate.Outcome) {
				w.call(key, tool, fmt.Sprintf(`{"n":%d}`, random.IntN(1e9)), outcome)
			}
			if n%3 == 0 {
				call("edit", gate.Success)
			}
			for range 3 + random.IntN(3) {
				call("test", gate.Success)
				if random.IntN(2) == 0 {
					call("edit", gate.Failure)
					call("test", gate.Success)
				}
				if beside && n == 50 {
					w.around(key, "edit", func() { call("test", gate.Success) })
				}
				call("push", gate.Success)
			}
			call("edit", gate.Success)
			if err := w.a.Sessions.End(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		log := w.close()
		r := suggested(t, log)
		got := ""
		for _, p := range r.Proposals {
			if p.Kind == "order" {
				got += p.Rule + ";"
			}
		}
		if got != want {
			t.Errorf("beside %v: %s, want %s\n%s\n%v", beside, got, want, r.Text(), r.Dropped)
		}
		passes(t, log, r)
	}
}

// around makes a call that is in flight while other calls are made.
func (w *world) around(key admission.Key, tool string, others func()) {
	w.t.Helper()
	c := &admission.Call{Key: key, Tool: tool, Canonical: "up." + tool, Upstream: "up", Gate: gate.Call{Tool: tool, Time: w.now, Args: []byte(`{}`)}}
	d, ok := w.a.Decide(w.t.Context(), c).(*admission.Admitted)
	if !ok {
		w.t.Fatal(tool)
	}
	others()
	w.a.Settle(w.t.Context(), &d.Ticket, gate.End{Outcome: gate.Success, Time: w.now}, "")
}

// TestLoosen checks that if a rule with since refuses calls that passed, the rule without since
// remains, with its own evidence.
func TestLoosen(t *testing.T) {
	w := newWorld(t, "")
	for n := range 30 {
		key := w.open(n, "ann")
		for _, tool := range []string{"test", "edit", "push"} {
			w.call(key, tool, `{}`, gate.Success)
		}
	}
	m, r, err := Mine(t.Context(), w.close(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain := Proposal{Rule: "require test before push", Evidence: "plain"}
	r.Proposals = []Proposal{{Rule: "require test before push since edit", Evidence: "since", looser: []Proposal{plain}}}
	if err := m.Prove(t.Context(), r); err != nil || len(r.Proposals) != 1 || r.Proposals[0].Rule != plain.Rule || r.Proposals[0].Evidence != "plain" {
		t.Errorf("%v, %+v", err, r.Proposals)
	}
}

// TestImplied checks that only the strictest of equivalent alternatives remains.
func TestImplied(t *testing.T) {
	e := &either{a: 0, alt: 1, b: 9}
	for _, c := range []struct {
		name   string
		held   map[pair]bool
		others []*either
		want   bool
	}{
		{"nothing else", nil, nil, false},
		{"of another call", map[pair]bool{{0, 8}: true}, []*either{{a: 0, alt: 1, b: 8}}, false},
		{"a chain by an alternative", map[pair]bool{{5, 9}: true}, []*either{{a: 0, alt: 1, b: 5}}, true},
		{"a chain by one of both", map[pair]bool{{5, 9}: true, {0, 5}: true}, nil, true},
		{"a chain that does not begin", map[pair]bool{{5, 9}: true}, nil, false},
		{"a stricter alternative", map[pair]bool{{0, 5}: true}, []*either{{a: 5, alt: 1, b: 9}}, true},
		{"one of two stands apart", map[pair]bool{{0, 5}: true}, []*either{{a: 5, alt: 6, b: 9}}, false},
	} {
		if got := e.implied(c.held, append(c.others, e)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestOpener checks that a call at the beginning of all sessions gives a note but no rule, and that
// a call at the beginning of only those sessions that have another call gives a rule.
func TestOpener(t *testing.T) {
	for always, want := range map[bool]string{true: "", false: "require begin before c once;"} {
		w := newWorld(t, "")
		random := rand.New(rand.NewPCG(3, 3))
		for n := range 120 {
			key := w.open(n, "ann")
			opened := always || n%2 == 0
			if opened {
				w.call(key, "begin", `{}`, gate.Success)
			}
			for range 30 {
				tool := []string{"a", "b", "c", "d", "e", "f", "g"}[random.IntN(7)]
				if tool != "c" || opened {
					w.call(key, tool, fmt.Sprintf(`{"n":%d}`, random.IntN(1e9)), gate.Success)
				}
			}
		}
		r := suggested(t, w.close())
		got := ""
		for _, p := range r.Proposals {
			if p.Kind == "order" {
				got += p.Rule + ";"
			}
		}
		if got != want || always != (len(r.Notes) == 1 && r.Notes[0].Kind == "opening") {
			t.Errorf("always %v: %s, want %s\n%v", always, got, want, r.Notes)
		}
	}
}

// TestMore checks that the report mentions untried combinations.
func TestMore(t *testing.T) {
	if r := suggested(t, always(t, "", 20, "a", "b")); r.More || strings.Contains(r.Text(), "more combinations") {
		t.Error(r.Text())
	}
	v := newSurvey()
	const tools = 60
	for n := range tools {
		v.tool(n).sessions = 64
		for other := range tools { // each tool came before each other tool in half of the sessions
			early := uint64(1<<32 - 1)
			if n%2 == 0 {
				early <<= 32
			}
			v.pairs[pair{n, other}] = &pairStats{notOnce: true, early: early, earlier: 32}
		}
	}
	if all, more := v.eithers(20, 1); len(all) != maxEithers || !more {
		t.Error(len(all), more)
	}
	r := &Report{More: true}
	if !strings.Contains(r.Text(), "# Not all combinations of calls were tried") {
		t.Error(r.Text())
	}
}

// TestExclusiveAlternatives checks that an "or" rule is found if no session has both alternatives.
func TestExclusiveAlternatives(t *testing.T) {
	w := newWorld(t, "")
	random := rand.New(rand.NewPCG(5, 5))
	for n := range 160 {
		key := w.open(n, "ann")
		saved := false
		for range 20 {
			tool := []string{"list", "view", "ping", "dump", "migrate"}[random.IntN(5)]
			switch {
			case tool == "dump" && n%4 == 0:
				tool = "snapshot"
			case tool == "dump" && n%4 != 1:
				continue
			case tool == "migrate" && !saved:
				continue
			}
			saved = saved || tool == "dump" || tool == "snapshot"
			w.call(key, tool, fmt.Sprintf(`{"n":%d}`, random.IntN(1e9)), gate.Success)
		}
	}
	r := suggested(t, w.close())
	if !slices.ContainsFunc(r.Proposals, func(p Proposal) bool { return strings.HasPrefix(p.Rule, "require dump or snapshot before migrate") }) {
		t.Error(r.Text())
	}
}
