package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// narrow is a setup that lists only the tools that can be called now.
func narrow(rules string) setup {
	return setup{rules: rules, change: func(o *proxy.Options) { o.Advertise = "enabled" }}
}

// listed returns the names of the tools that the client gets.
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

// shows fails unless the client gets one of the tools and not the others.
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

// changes waits for one announcement, and fails if there is more than one.
func (c *client) changes(after string) {
	c.t.Helper()
	c.await("list_changed after "+after, isListChanged)
	if n := c.mail.count(isListChanged); n > 0 {
		c.t.Errorf("after %s: %d announcements too many", after, n)
	}
}

// TestAdvertiseEnabled: the list has the tools that the nets admit now, and is announced once when
// it changes and never otherwise.
func TestAdvertiseEnabled(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, narrow("require backup before delete\nlimit push to 2 per session\nblock danger\nshadow block read\nmap bash.command rm as delete\n"))
		c := s.connect(l, "")
		c.listenToPushes()
		c.must("push", `{}`) // before the client has fetched a list, nothing is announced
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
		c.must("backup", `{}`) // once more: the list has not changed
		c.must("delete", `{}`)
		c.changes("delete")
		c.must("push", `{}`)
		c.changes("the last push")
		c.shows("backup", "delete", "push", "danger")
		if err := s.proxy.ResetSession(s.proxy.Sessions()[0].ID, proxy.Actor{Name: "ann"}); err != nil {
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

// TestAdvertiseStatic: a client of 2026-07-28 gets all tools and no notifications.
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

// TestAdvertiseOthers: a budget spent by one session changes the list of another session that
// shares it, and so does the passing of time.
func TestAdvertiseOthers(t *testing.T) {
	t.Parallel()
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

// TestNoConflict: nets that together leave a tool are not recorded as a conflict.
func TestNoConflict(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t, only("weak", 0, false, "safe", "push"), only("strong", 1, false, "read")), change: func(o *proxy.Options) { o.Advertise = "enabled" }})
		c := s.connect(l, "")
		c.shows("delete", "safe", "push", "read")
		if n := len(s.conflicts()); n != 0 {
			t.Errorf("%d conflicts where there are none", n)
		}
	})
}

// only returns a net that never admits the tools.
func only(name string, priority int, advisory bool, tools ...string) gate.Net {
	n := gate.Net{Name: name, Priority: priority, Advisory: advisory, Places: []string{"never", "once"}, Initial: map[string]int{"once": 1}}
	for _, tool := range tools {
		n.Transitions = append(n.Transitions, gate.Transition{Name: "no-" + tool, Inputs: []string{"never"}, Tools: []gate.Tool{{Name: tool}}})
	}
	return n
}

// threeTools returns a site with the tools safe, push and read.
func threeTools(t *testing.T, nets ...gate.Net) *site {
	var tools []testserver.Tool
	for _, tool := range testserver.Attack() {
		if tool.Name == "safe" || tool.Name == "push" || tool.Name == "read" {
			tools = append(tools, tool)
		}
	}
	return start(t, setup{policy: netPolicy(t, nets...), server: testserver.Options{Tools: tools}, change: func(o *proxy.Options) { o.Advertise = "enabled" }})
}

// TestRequiredNetsConflict: if required nets together leave no tool, no tool is listed, none can be
// called, the status explains it, and it is recorded once.
func TestRequiredNetsConflict(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := threeTools(t, only("g1", 5, false, "push", "read"), only("g2", 1, false, "safe"))
		c := s.connect(l, "")
		text := c.status()
		if !strings.Contains(text, "leave no tool that can be called: g1, g2. They are required") || strings.Contains(text, "Available now") || strings.Contains(text, "Depends") {
			t.Error(text)
		}
		for range 2 {
			if !l.modern { // a client whose list never changes
				c.shows("", "safe", "push", "read")
			}
			c.refuses("safe", `{}`, "blocked")
			c.refuses("push", `{}`, "blocked")
		}
		if found := s.conflicts(); !l.modern && (len(found) != 1 || found[0].Winner != "" || fmt.Sprint(found[0].Nets, found[0].Yields) != "[{g1} {g2}] []" || found[0].Session == "") {
			t.Errorf("%+v", found)
		}
	})
}

// TestAdvisoryNetYields: a tool that only a yielding advisory net would hide is listed, can be
// called, and is available in the status; the record of the call shows it.
func TestAdvisoryNetYields(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := threeTools(t, only("g1", 1, false, "push", "read"), only("g2", 5, true, "safe"))
		c := s.connect(l, "")
		if !l.modern {
			c.shows("safe", "push", "read")
		}
		text := c.status()
		if !strings.Contains(text, "Advisory nets yield, and do not block now: g2.") || !strings.Contains(text, "## Available now\n\nsafe\n") || strings.Contains(text, "Depends") || !strings.Contains(text, "- g2: once:1 (advisory: it does not block now)") {
			t.Error(text)
		}
		c.must("safe", `{}`)
		c.refuses("push", `{}`, "blocked")
		if found := s.conflicts(); !l.modern && (len(found) != 1 || found[0].Winner != "g1" || fmt.Sprint(found[0].Nets, found[0].Yields) != "[{g2} {g1}] [{g2}]") {
			t.Errorf("%+v", found)
		}
		if !s.recordsHave(`{"net":"g2","verdict":"yields"`) {
			t.Error("the record of the call does not say that g2 yields")
		}
		tools, err := s.proxy.Tools("")
		if err != nil || tools[0].Exposed != "safe" || len(tools[0].Nets) != 1 || tools[0].Nets[0].Verdict != "yields" {
			t.Errorf("%+v, %v", tools, err)
		}
	})
}

// TestRecoveryOverrulesAdvisory: while a net is in recovery, a tool that only an advisory net below
// it would block is listed, can be called, and is available in the status.
func TestRecoveryOverrulesAdvisory(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		repair := gate.Net{
			Name: "repairs", Priority: 1, Places: []string{"broken", "whole"}, Initial: map[string]int{"broken": 1}, Recovery: map[string]int{"broken": 1},
			Transitions: []gate.Transition{{Name: "repair", Inputs: []string{"broken"}, Outputs: []string{"whole"}, Tools: gate.Tools("push")}},
		}
		s := threeTools(t, only("phases", 0, true, "safe"), repair)
		c := s.connect(l, "")
		if text := c.status(); !strings.Contains(text, "## Available now\n\nsafe, push, read\n") || strings.Contains(text, "Depends") {
			t.Error(text)
		}
		if !l.modern {
			c.shows("safe push read")
		}
		c.must("safe", `{}`)
		c.must("push", `{}`)
		c.refuses("safe", `{}`, "blocked")
		if !l.modern {
			c.shows("read", "safe")
		}
		if text := c.status(); !strings.Contains(text, "## Available now\n\nread\n") || !strings.Contains(text, "- safe: ") {
			t.Error(text)
		}
	})
}

// A conflict is the record of a conflict.
type conflict struct {
	Event, Winner, Session string
	Nets, Yields           []struct{ Net string }
}

// conflicts returns the records of conflicts.
func (s *site) conflicts() (found []conflict) {
	for _, line := range s.records.all() {
		var c conflict
		if json.Unmarshal(line, &c) == nil && c.Event == "conflict" {
			found = append(found, c)
		}
	}
	return found
}

// recordsHave reports whether a record contains the text.
func (s *site) recordsHave(text string) bool {
	return slices.ContainsFunc(s.records.all(), func(line []byte) bool { return strings.Contains(string(line), text) })
}

// TestAdvertisePossible: a tool that can never be called is not listed on any leg, until an
// operator switches off the net that prevents it.
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
