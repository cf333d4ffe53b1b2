package relay_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// narrow is a setup that lists only the tools that can be called now.
func narrow(rules string) proxytest.Setup {
	return proxytest.Setup{Rules: rules, Change: func(o *proxy.Options) { o.Advertise = "enabled" }}
}

// listed returns the names of the tools that the client gets.
func listed(c *proxytest.Client) []string {
	c.T.Helper()
	r := c.List()
	var result struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(r.Result, &result); err != nil {
		c.T.Fatalf("%s: %v", r.Raw, err)
	}
	names := []string{}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// shows fails unless the client gets one of the tools and not the others.
func shows(c *proxytest.Client, yes string, no ...string) {
	c.T.Helper()
	names := listed(c)
	for _, name := range strings.Fields(yes) {
		if !slices.Contains(names, name) {
			c.T.Errorf("%s is not listed: %q", name, names)
		}
	}
	for _, name := range no {
		if slices.Contains(names, name) {
			c.T.Errorf("%s is listed: %q", name, names)
		}
	}
}

func isListChanged(m proxytest.Message) bool { return m.Method == "notifications/tools/list_changed" }

// changes waits for one announcement, and fails if there is more than one.
func changes(c *proxytest.Client, after string) {
	c.T.Helper()
	c.Await("list_changed after "+after, isListChanged)
	if n := c.Mail.Count(isListChanged); n > 0 {
		c.T.Errorf("after %s: %d announcements too many", after, n)
	}
}

// TestAdvertiseEnabled: the list has the tools that the nets admit now, and is announced once when
// it changes and never otherwise.
func TestAdvertiseEnabled(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, narrow("require backup before delete\nlimit push to 2 per session\nblock danger\nshadow block read\nmap bash.command rm as delete\n"))
		c := s.Connect(l, "")
		c.ListenToPushes()
		c.Must("push", `{}`) // before the client has fetched a list, nothing is announced
		shows(c, "backup push bash read", "delete", "danger")
		c.Must("safe", `{}`)
		if r := c.Do("delete", `{}`); !strings.Contains(r.Text(), "delete requires a successful call to backup first.") ||
			!strings.Contains(proxytest.Member(r.Result, "_meta", "io.petrigate/decision", "nets"), `"net":"require-backup-before-delete"`) {
			t.Errorf("a tool that is not listed: %s", r.Raw)
		}
		c.Must("read", `{}`)
		c.Must("backup", `{}`)
		changes(c, "backup")
		shows(c, "backup delete push", "danger")
		c.Must("backup", `{}`) // once more: the list has not changed
		c.Must("delete", `{}`)
		changes(c, "delete")
		c.Must("push", `{}`)
		changes(c, "the last push")
		shows(c, "backup", "delete", "push", "danger")
		if err := s.Proxy.ResetSession(s.Proxy.Sessions()[0].ID, proxy.Actor{Name: "ann"}); err != nil {
			t.Fatal(err)
		}
		changes(c, "the reset")
		s.SwitchNet("block-danger", false)
		changes(c, "the switch")
		shows(c, "backup push danger", "delete")
		s.SwitchNet("block-danger", true)
		changes(c, "the switch back")
	})
}

// TestAdvertiseStatic: a client of 2026-07-28 gets all tools and no notifications.
func TestAdvertiseStatic(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, narrow("require backup before delete\nblock danger\n"))
		c := s.Connect(l, "")
		shows(c, "backup delete danger")
		c.Must("backup", `{}`)
		c.Must("delete", `{}`)
		c.Refuses("delete", `{}`, "blocked")
		shows(c, "backup delete danger")
		if n := c.Mail.Count(isListChanged); n > 0 {
			t.Errorf("%d announcements", n)
		}
	})
}

// TestAdvertiseOthers: a budget spent by one session changes the list of another session that
// shares it, and so does the passing of time.
func TestAdvertiseOthers(t *testing.T) {
	t.Parallel()
	t.Run("a budget of the principal", func(t *testing.T) {
		s := proxytest.Start(t, narrow("limit push to 1 per user\n"))
		one, two := s.Connect(proxytest.Legs()[1], ""), s.Connect(proxytest.Legs()[1], "")
		two.ListenToPushes()
		shows(two, "push")
		one.Must("push", `{}`)
		changes(two, "the push of another session")
		shows(two, "safe", "push")
	})
	t.Run("time", func(t *testing.T) {
		s := proxytest.Start(t, narrow("limit push to 1 per second\n"))
		c := s.Connect(proxytest.Legs()[0], "")
		shows(c, "push")
		c.Must("push", `{}`)
		changes(c, "the push")
		changes(c, "a second")
		shows(c, "push")
	})
}

// TestNoConflict: nets that together leave a tool are not recorded as a conflict.
func TestNoConflict(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t, only("weak", 0, false, "safe", "push"), only("strong", 1, false, "read")), Change: func(o *proxy.Options) { o.Advertise = "enabled" }})
		c := s.Connect(l, "")
		shows(c, "delete", "safe", "push", "read")
		if n := len(conflicts(s)); n != 0 {
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
func threeTools(t *testing.T, nets ...gate.Net) *proxytest.Site {
	var tools []testserver.Tool
	for _, tool := range testserver.Attack() {
		if tool.Name == "safe" || tool.Name == "push" || tool.Name == "read" {
			tools = append(tools, tool)
		}
	}
	return proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t, nets...), Server: testserver.Options{Tools: tools}, Change: func(o *proxy.Options) { o.Advertise = "enabled" }})
}

// TestRequiredNetsConflict: if required nets together leave no tool, no tool is listed, none can be
// called, the status explains it, and it is recorded once.
func TestRequiredNetsConflict(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := threeTools(t, only("g1", 5, false, "push", "read"), only("g2", 1, false, "safe"))
		c := s.Connect(l, "")
		text := c.StatusText()
		if !strings.Contains(text, "block every tool: g1, g2. They are required") || strings.Contains(text, "Available now") || strings.Contains(text, "Depends") {
			t.Error(text)
		}
		for range 2 {
			if !l.Modern { // a client whose list never changes
				shows(c, "", "safe", "push", "read")
			}
			c.Refuses("safe", `{}`, "blocked")
			c.Refuses("push", `{}`, "blocked")
		}
		if found := conflicts(s); !l.Modern && (len(found) != 1 || found[0].Winner != "" || fmt.Sprint(found[0].Nets, found[0].Yields) != "[{g1} {g2}] []" || found[0].Session == "") {
			t.Errorf("%+v", found)
		}
	})
}

// TestAdvisoryNetYields: a tool that only a yielding advisory net would hide is listed, can be
// called, and is available in the status; the record of the call shows it.
func TestAdvisoryNetYields(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := threeTools(t, only("g1", 1, false, "push", "read"), only("g2", 5, true, "safe"))
		c := s.Connect(l, "")
		if !l.Modern {
			shows(c, "safe", "push", "read")
		}
		text := c.StatusText()
		if !strings.Contains(text, "Advisory nets yield, and do not block now: g2.") || !strings.Contains(text, "## Available now\n\nsafe\n") || strings.Contains(text, "Depends") || !strings.Contains(text, "- g2: once:1 (advisory: it does not block now)") {
			t.Error(text)
		}
		c.Must("safe", `{}`)
		c.Refuses("push", `{}`, "blocked")
		if found := conflicts(s); !l.Modern && (len(found) != 1 || found[0].Winner != "g1" || fmt.Sprint(found[0].Nets, found[0].Yields) != "[{g2} {g1}] [{g2}]") {
			t.Errorf("%+v", found)
		}
		if !s.RecordsHave(`{"net":"g2","verdict":"yields"`) {
			t.Error("the record of the call does not say that g2 yields")
		}
		tools, err := s.Proxy.Tools("")
		if err != nil || tools[0].Exposed != "safe" || len(tools[0].Nets) != 1 || tools[0].Nets[0].Verdict != "yields" {
			t.Errorf("%+v, %v", tools, err)
		}
	})
}

// TestRecoveryOverrulesAdvisory: while a net is in recovery, a tool that only an advisory net below
// it would block is listed, can be called, and is available in the status.
func TestRecoveryOverrulesAdvisory(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		repair := gate.Net{
			Name: "repairs", Priority: 1, Places: []string{"broken", "whole"}, Initial: map[string]int{"broken": 1}, Recovery: map[string]int{"broken": 1},
			Transitions: []gate.Transition{{Name: "repair", Inputs: []string{"broken"}, Outputs: []string{"whole"}, Tools: gate.Tools("push")}},
		}
		s := threeTools(t, only("phases", 0, true, "safe"), repair)
		c := s.Connect(l, "")
		if text := c.StatusText(); !strings.Contains(text, "## Available now\n\nsafe, push, read\n") || strings.Contains(text, "Depends") {
			t.Error(text)
		}
		if !l.Modern {
			shows(c, "safe push read")
		}
		c.Must("safe", `{}`)
		c.Must("push", `{}`)
		c.Refuses("safe", `{}`, "blocked")
		if !l.Modern {
			shows(c, "read", "safe")
		}
		if text := c.StatusText(); !strings.Contains(text, "## Available now\n\nread\n") || !strings.Contains(text, "- safe: ") {
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
func conflicts(s *proxytest.Site) (found []conflict) {
	for _, line := range s.Records.All() {
		var c conflict
		if json.Unmarshal(line, &c) == nil && c.Event == "conflict" {
			found = append(found, c)
		}
	}
	return found
}

// TestAdvertisePossible: a tool that can never be called is not listed on any leg, until an
// operator switches off the net that prevents it.
func TestAdvertisePossible(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\nrequire backup before delete\n", Change: func(o *proxy.Options) {
			o.Advertise = "possible"
			o.Impossible = func(_ []gate.Call, active []string) []string {
				if active == nil || slices.Contains(active, "block-danger") {
					return []string{"danger"}
				}
				return nil
			}
		}})
		c := s.Connect(l, "")
		c.ListenToPushes()
		shows(c, "delete backup", "danger")
		c.Refuses("danger", `{}`, "blocked")
		s.SwitchNet("block-danger", false)
		if !l.Modern {
			changes(c, "the switch")
		}
		shows(c, "danger")
		c.Must("danger", `{}`)
	})
}
