package mining

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

// choices is an agent that keeps to rules of alternatives, of fresh evidence, and of several values.
type choices struct {
	saved, tested bool
	seen          map[string]bool // paths that were read, issues and keys that were looked at
}

// arguments are those of a tool, with a value that says what the call is about.
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

// chosen is a log of so many calls of such agents. Beside noise it has what must give no rule: calls at the beginning
// of sessions, one of two of them, calls that coincide, one that always follows another, rare ones, and an argument that
// never changes.
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
			case tool == "ping": // these two coincide, in any order
				call([]string{"pong", "view_log"}[random.IntN(2)])
			case random.IntN(250) == 0:
				call("rare_call")
			}
		}
		w.now = w.now.Add(time.Duration(random.IntN(240)) * time.Minute)
		if err := w.a.End(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return w.close()
}

// TestPlantedChoices: alternatives, fresh evidence and keys of two values are found in 10,000 calls, and
// nothing that only looks like them.
func TestPlantedChoices(t *testing.T) {
	want := []string{
		"require dump_db or snapshot before migrate",
		"require find_host before reboot once with same host as machine, zone as region",
		"require get_issue before close_issue once with same number, repo",
		"require publish before notify",
		"require read_media or read_text before edit_doc once with same path",
		"require run_tests before publish since edit_code",
	}
	from, count := soak.Range(t, 3)
	for seed := from; seed < from+uint64(count); seed++ { //nolint:gosec // it is not negative
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
