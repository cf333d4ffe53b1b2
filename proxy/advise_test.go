package proxy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/fixture"
	"github.com/petrigate/petrigate/proxy"
)

// narrow is a setup that lists just what can be called now.
func narrow(rules string) setup {
	return setup{rules: rules, change: func(o *proxy.Options) { o.Advertise = "enabled" }}
}

// listed are the names of the tools that the client is shown.
func (c *client) listed() []string {
	c.t.Helper()
	r := c.list()
	var result struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(r.result, &result); err != nil {
		c.t.Fatalf("%s: %v", r.raw, err)
	}
	names := []string{}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// shows fails unless the client is shown one of the tools and not the others.
func (c *client) shows(yes string, no ...string) {
	c.t.Helper()
	names := c.listed()
	for _, name := range strings.Fields(yes) {
		if !slices.Contains(names, name) {
			c.t.Errorf("%s is not listed: %q", name, names)
		}
	}
	for _, name := range no {
		if slices.Contains(names, name) {
			c.t.Errorf("%s is listed: %q", name, names)
		}
	}
}

func isListChanged(m message) bool { return m.method == "notifications/tools/list_changed" }

// changes waits for one announcement, and fails if there are more by now.
func (c *client) changes(after string) {
	c.t.Helper()
	c.await("list_changed after "+after, isListChanged)
	if n := c.mail.count(isListChanged); n > 0 {
		c.t.Errorf("after %s: %d announcements too many", after, n)
	}
}

// TestAdvertiseEnabled: the list is what the nets would let pass now, and is
// announced once when it changes and never else.
func TestAdvertiseEnabled(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, narrow("require backup before delete\nlimit push to 2 per session\nblock danger\nshadow block read\nmap bash.command rm as delete\n"))
		c := s.connect(l, "")
		c.listenToPushes()
		c.must("push", `{}`) // before it has seen a list, nothing is announced
		c.shows("backup push bash read", "delete", "danger")
		c.must("safe", `{}`)
		if r := c.do("delete", `{}`); !strings.Contains(r.text(), "delete requires a successful call to backup first.") ||
			!strings.Contains(at(r.result, "_meta", "io.petrigate/decision", "nets"), `"net":"require-backup-before-delete"`) {
			t.Errorf("a tool that is not listed: %s", r.raw)
		}
		c.must("read", `{}`)
		c.must("backup", `{}`)
		c.changes("backup")
		c.shows("backup delete push", "danger")
		c.must("backup", `{}`) // again: nothing is new
		c.must("delete", `{}`)
		c.changes("delete")
		c.must("push", `{}`)
		c.changes("the last push")
		c.shows("backup", "delete", "push", "danger")
		if err := s.proxy.ResetSession(s.proxy.Sessions()[0].ID, "ann"); err != nil {
			t.Fatal(err)
		}
		c.changes("the reset")
		s.switchNet("block-danger", false)
		c.changes("the switch")
		c.shows("backup push danger", "delete")
		s.switchNet("block-danger", true)
		c.changes("the switch back")
	})
}

// TestAdvertiseStatic: a client of 2026-07-28 is shown all, and told of nothing.
func TestAdvertiseStatic(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := start(t, narrow("require backup before delete\nblock danger\n"))
		c := s.connect(l, "")
		c.shows("backup delete danger")
		c.must("backup", `{}`)
		c.must("delete", `{}`)
		c.refuses("delete", `{}`, "blocked")
		c.shows("backup delete danger")
		if n := c.mail.count(isListChanged); n > 0 {
			t.Errorf("%d announcements", n)
		}
	})
}

// TestAdvertiseOthers: what one session spends of a shared budget changes what
// another is shown, and so does time.
func TestAdvertiseOthers(t *testing.T) {
	t.Run("a budget of the principal", func(t *testing.T) {
		s := start(t, narrow("limit push to 1 per user\n"))
		one, two := s.connect(legs()[1], ""), s.connect(legs()[1], "")
		two.listenToPushes()
		two.shows("push")
		one.must("push", `{}`)
		two.changes("the push of another session")
		two.shows("safe", "push")
	})
	t.Run("time", func(t *testing.T) {
		s := start(t, narrow("limit push to 1 per second\n"))
		c := s.connect(legs()[0], "")
		c.shows("push")
		c.must("push", `{}`)
		c.changes("the push")
		c.changes("a second")
		c.shows("push")
	})
}

// TestAdvertiseConflict: nets that leave no tool to agree upon are on record,
// once for as long as they disagree.
func TestAdvertiseConflict(t *testing.T) {
	only := func(name string, priority int, tools ...string) gate.Net {
		n := gate.Net{Name: name, Priority: priority, Places: []string{"never", "once"}, Initial: map[string]int{"once": 1}}
		for _, tool := range tools {
			n.Transitions = append(n.Transitions, gate.Transition{Name: "no-" + tool, Inputs: []string{"never"}, Tools: []gate.Tool{{Name: tool}}})
		}
		return n
	}
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t, only("weak", 0, "safe", "push"), only("strong", 1, "read")), change: func(o *proxy.Options) { o.Advertise = "enabled" }})
		c := s.connect(l, "")
		c.shows("delete", "safe", "push", "read")
		if n := len(s.conflicts()); n != 0 {
			t.Errorf("%d conflicts where there are none", n)
		}
	})
	legacyLegs(t, func(t *testing.T, l leg) {
		var rest []string
		for _, tool := range fixture.Attack() {
			if tool.Name != "safe" && tool.Name != "push" {
				rest = append(rest, tool.Name)
			}
		}
		weak, strong := only("weak", 0, append(rest[:len(rest):len(rest)], "safe")...), only("strong", 1, append(rest[:len(rest):len(rest)], "push")...)
		s := start(t, setup{policy: netPolicy(t, weak, strong), change: func(o *proxy.Options) { o.Advertise = "enabled" }})
		c := s.connect(l, "")
		for range 3 {
			c.shows("safe", "push", "read")
			c.refuses("safe", `{}`, "blocked")
		}
		found := s.conflicts()
		if len(found) != 1 || found[0].Winner != "strong" || len(found[0].Nets) != 2 || found[0].Nets[0].Net != "strong" || found[0].Session == "" {
			t.Errorf("%+v", found)
		}
	})
}

// A conflict is a record of one.
type conflict struct {
	Event, Winner, Session string
	Nets                   []struct{ Net string }
}

func (s *site) conflicts() (found []conflict) {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	for _, line := range s.records.lines {
		var c conflict
		if json.Unmarshal(line, &c) == nil && c.Event == "conflict" {
			found = append(found, c)
		}
	}
	return found
}

// TestAdvertisePossible: what can never be called is listed on no leg, until
// an operator switches off the net because of which that is so.
func TestAdvertisePossible(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "block danger\nrequire backup before delete\n", change: func(o *proxy.Options) {
			o.Advertise = "possible"
			o.Impossible = func(_ []gate.Call, active []string) []string {
				if active == nil || slices.Contains(active, "block-danger") {
					return []string{"danger"}
				}
				return nil
			}
		}})
		c := s.connect(l, "")
		c.listenToPushes()
		c.shows("delete backup", "danger")
		c.refuses("danger", `{}`, "blocked")
		s.switchNet("block-danger", false)
		if !l.modern {
			c.changes("the switch")
		}
		c.shows("danger")
		c.must("danger", `{}`)
	})
}
