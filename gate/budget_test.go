package gate_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// hourNet limits the calls to a per hour.
func hourNet(n int) gate.Net {
	net := limitNet("a", n, "hour")
	net.Transitions[2].Tools, net.Transitions[2].Observe = nil, false
	net.Transitions[2].Every = time.Hour / time.Duration(n)
	return net
}

// onceNet limits the concurrent calls to a.
func onceNet(n int) gate.Net {
	return ruleNet("limit-a-"+strconv.Itoa(n)+"-at-once", gate.CauseLimit, "", map[string]int{"budget": n},
		gate.Transition{Name: "do-a", Inputs: []string{"budget"}, Outputs: []string{"budget"}, Tools: gate.Tools("a"), Deferred: true})
}

// refillNet refunds a call to a for each call, or each success, of c.
func refillNet(n int, successful bool) gate.Net {
	net := limitNet("a", n, "c")
	net.Transitions[2].Deferred = successful
	return net
}

// keyed gives the net a key.
func keyed(n gate.Net) gate.Net {
	n.Key = []gate.Field{{Path: "k"}}
	return n
}

// shadowed puts the net in shadow mode.
func shadowed(n gate.Net) gate.Net {
	n.Shadow = true
	return n
}

// edits plays a script: "a" is a call that passes, "a!" is refused, "end" and "fail" settle the
// oldest call, "+10m" lets time pass, and "=5" activates the policy with that number. "a1" has 1
// both as its amount and as its key value.
func edits(t *testing.T, script string, net func(n int) []gate.Net) {
	t.Helper()
	var s *gate.State
	now := noon
	for _, step := range strings.Fields(script) {
		switch {
		case step[0] == '=':
			number, err := strconv.Atoi(step[1:])
			if err != nil {
				t.Fatal(err)
			}
			p := newPolicy(t, net(number)...)
			if s == nil {
				s = p.NewState(nil)
				s.Apply(p.Tick(s, now))
				continue
			}
			s, _ = p.Adopt(s, gate.AdoptOptions{Time: now})
		case step[0] == '+':
			d, err := time.ParseDuration(step[1:])
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		case step == "end" || step == "fail":
			o := gate.Success
			if step == "fail" {
				o = gate.Failure
			}
			s.Apply(s.Policy().SettleAt(s, s.Open()[0].Number, o, now))
		default:
			name, refused := strings.CutSuffix(step, "!")
			c := gate.Call{Tool: name[:1], Time: now, Args: []byte(`{"amount":` + name[1:] + `,"k":` + name[1:] + `}`)}
			if name[1:] == "" {
				c.Args = nil
			}
			d, delta := s.Policy().Decide(s, c, nil)
			s.Apply(delta)
			if _, allowed := d.(*gate.Allow); allowed == refused {
				t.Fatalf("%s: %s: allowed %v; %s", script, step, allowed, s.Policy().NetsOf(s)[0].String())
			}
		}
	}
}

// TestAdoptKeepsUsageOfEditedLimits checks that a limit's usage survives a change of its number.
func TestAdoptKeepsUsageOfEditedLimits(t *testing.T) {
	one := func(net func(int) gate.Net) func(int) []gate.Net {
		return func(n int) []gate.Net { return []gate.Net{net(n)} }
	}
	session := one(func(n int) gate.Net { return limitNet("a", n, "session") })
	refill := one(func(n int) gate.Net { return refillNet(n, false) })
	success := one(func(n int) gate.Net { return refillNet(n, true) })
	hour, once := one(hourNet), one(onceNet)
	sum := one(func(n int) gate.Net {
		net := sumNet(n, 0)
		net.Transitions[1].Tools = gate.Tools("a")
		return net
	})
	hourly := one(func(n int) gate.Net {
		net := sumNet(n, time.Hour)
		net.Transitions[1].Tools = gate.Tools("a")
		return net
	})
	row := one(func(n int) gate.Net {
		net := limitNet("a", n, "session")
		net.Row = true
		return net
	})
	each := func(net func(int) []gate.Net) func(int) []gate.Net {
		return func(n int) []gate.Net { return []gate.Net{keyed(net(n)[0])} }
	}
	// policies with odd numbers enforce
	shadow := func(n int) []gate.Net {
		net := limitNet("a", n, "session")
		net.Shadow = n%2 == 0
		return []gate.Net{net}
	}
	for name, c := range map[string]struct {
		script string
		net    func(int) []gate.Net
	}{
		"more":                 {"=3 a a =5 a a a a!", session},
		"less":                 {"=5 a a =3 a a!", session},
		"as many as there are": {"=5 a a a =3 a!", session},
		"too few, and again":   {"=5 a a a a =2 a! =3 a! =5 a a!", session},
		"there and back":       {"=3 a a =9 =3 =9 =3 a a!", session},

		"refilled":                {"=3 a a a =4 a a! c a a!", refill},
		"a refill pays the debt":  {"=5 a a a a a =2 a! c a! c a! c a! c a a! c a", refill},
		"half of it, and again":   {"=5 a a a a a =2 c =5 a a!", refill},
		"a success pays it too":   {"=3 a a a =1 c a! end end end end a! c end a! c end a a!", success},
		"a failure does not":      {"=2 a a =1 c end end fail a! c end a! c end a a!", success},
		"a success under way":     {"=1 a end c =2 a a! end a a!", success},
		"nothing comes back here": {"=2 a a =1 =2 a!", session},

		"by the clock":                  {"=4 a a a a +15m =8 a a a a a a! +7m a! +1m a a!", hour},
		"less by the clock":             {"=4 a a a a =2 a! +29m a! +1m a a! +30m a", hour},
		"the clock forgets after it":    {"=4 a a a a =2 +60m =4 a a a a a!", hour},
		"but not before":                {"=4 a a a a =2 +59m =4 a a!", hour},
		"the clock of a policy without": {"=4 a =2 a a!", hour},

		"at once":                    {"=2 a a =3 a a! end a a!", once},
		"too many under way":         {"=3 a a a =1 a! end a! fail a! end a a!", once},
		"fewer for a while":          {"=3 a a a =1 end =3 a a!", once},
		"nobody was under way":       {"=3 a end =1 a a!", once},
		"as before, and not as much": {"=3 a a a =1 =3 a! end a a!", once},

		"a sum":                       {"=10 a6 =12 a7! a6 a1!", sum},
		"less of a sum":               {"=10 a6 =5 a1! =7 a1 a1!", sum},
		"a sum by the clock":          {"=10 a10 =5 a1! +12m a1 a1! +60m a5", hourly},
		"the clock forgets a sum":     {"=10 a10 =5 +60m =10 a10", hourly},
		"but does not do it too soon": {"=10 a10 =5 +59m =10 a5! a4", hourly},
		"a sum that came back":        {"=10 a10 +60m =20 a20", hourly},

		"in a row":        {"=3 a1 a1 =2 a1! b a1 a1 a1!", row},
		"in a row, again": {"=3 a1 a1 a1 =2 b =3 a1 a1 a1 a1!", row},

		"for each value":          {"=2 a1 a1 a2 =3 a1 a1! a2 a2 a2! a3 a3 a3 a3!", each(session)},
		"less for each value":     {"=3 a1 a1 a1 a2 =2 a1! a2 a2! =3 a1! a2 a2!", each(session)},
		"for each, by the clock":  {"=4 a1 a1 a1 a1 =2 a1! +30m a1 a1! a2 a2 a2!", each(hour)},
		"at once for each":        {"=2 a1 a1 a2 =1 a1! a2! end a1! end a1 a1! end a2 a2!", each(once)},
		"a sum for each":          {"=3 a3 a1 =2 a3! a1 a1!", each(sum)},
		"a refill for each":       {"=2 a1 a1 =1 a1! c1 a1! c2 a1! c1 a1 a1!", each(refill)},
		"forgotten for each":      {"=4 a1 a1 a1 a1 =2 +2h =4 a1 a1 a1 a1 a1!", each(hour)},
		"nothing for some values": {"=2 a1 end =2 a1 a1! a2 a2 a2!", each(session)},

		"into shadow and out of it": {"=3 a a =4 a a a =5 a a! =7 a a a!", shadow},
	} {
		t.Run(name, func(t *testing.T) { edits(t, c.script, c.net) })
	}
}

// TestHeirsOfLimits checks which limits count the same calls.
func TestHeirsOfLimits(t *testing.T) {
	shared := limitNet("a", 3, "session")
	shared.Scope = gate.ScopePrincipal
	without := limitNet("a", 3, "session")
	without.Transitions[1].Unless = gate.Tools("b")
	two := limitNet("a", 3, "session")
	two.Transitions[1].Tools = gate.Tools("a", "b")
	owt := limitNet("a", 4, "session")
	owt.Transitions[1].Tools = gate.Tools("b", "a")
	for name, c := range map[string]struct {
		old, now gate.Net
		want     gate.Fate
	}{
		"the same":       {limitNet("a", 3, "session"), limitNet("a", 3, "session"), gate.Continued},
		"number":         {limitNet("a", 3, "session"), limitNet("a", 4, "session"), gate.Carried},
		"span":           {limitNet("a", 3, "session"), hourNet(4), gate.Carried},
		"no span":        {hourNet(4), limitNet("a", 3, "session"), gate.Carried},
		"refill":         {refillNet(3, false), refillNet(3, true), gate.Carried},
		"exempt calls":   {limitNet("a", 3, "session"), without, gate.Carried},
		"order":          {two, owt, gate.Carried},
		"tool":           {limitNet("a", 3, "session"), limitNet("b", 3, "session"), gate.Begun},
		"one tool more":  {limitNet("a", 3, "session"), two, gate.Begun},
		"scope":          {limitNet("a", 3, "session"), shared, gate.Begun},
		"key":            {limitNet("a", 3, "session"), keyed(limitNet("a", 3, "session")), gate.Begun},
		"at once":        {limitNet("a", 3, "session"), onceNet(3), gate.Begun},
		"sum":            {sumNet(3, 0), sumNet(3, time.Hour), gate.Carried},
		"sum and number": {limitNet("transfer", 3, "session"), sumNet(3, 0), gate.Begun},
		"no limit":       {limitNet("a", 3, "session"), blockNet("a"), gate.Begun},
	} {
		_, kept := newPolicy(t, c.now).Adopt(newPolicy(t, c.old).NewState(nil), gate.AdoptOptions{})
		if kept[0].Fate != c.want {
			t.Errorf("%s: %v, want %v", name, kept[0], c.want)
		}
	}
}

// TestHeirsAreMostSimilarLimits checks that the most similar limit continues each of several limits
// on the same calls.
func TestHeirsAreMostSimilarLimits(t *testing.T) {
	s := newPolicy(t, hourNet(6), limitNet("a", 9, "session"), limitNet("b", 1, "session")).NewState(nil)
	pass(t, s, call("a"))
	now, kept := newPolicy(t, limitNet("a", 5, "session"), hourNet(4), limitNet("a", 2, "c")).Adopt(s, gate.AdoptOptions{})
	want := []gate.Kept{
		{Net: "limit-a-5", Fate: gate.Carried, From: "limit-a-9"},
		{Net: "limit-a-4-per-hour", Fate: gate.Carried, From: "limit-a-6-per-hour"},
		{Net: "limit-a-2-per-c", Fate: gate.Begun},
		{Net: "limit-b-1", Fate: gate.Dropped},
	}
	if !slices.Equal(kept, want) {
		t.Errorf("%+v, want %+v", kept, want)
	}
	if m := marking(t, now, "limit-a-4-per-hour"); m != "ready:1, budget:3, spent:1" {
		t.Error(m)
	}
}

// TestAdoptRestartsNetsWithOtherMaps checks that a net starts anew if a map that names its calls
// changes.
func TestAdoptRestartsNetsWithOtherMaps(t *testing.T) {
	policy := func(pattern string, more ...string) *gate.Policy {
		read := func(string) bool { return true }
		labels := &gate.Labels{Maps: []gate.Map{{Tool: "bash", Field: "command", As: "save", Source: pattern, Match: read}}}
		for _, as := range more {
			labels.Maps = append(labels.Maps, gate.Map{Tool: "bash", Field: "command", As: as, Source: as, Match: read})
		}
		earns, spares, glob, free := sequenceNet("save", "delete"), limitNet("a", 2, "session"), limitNet("x", 9, "session"), blockNet("y")
		spares.Transitions[1].Unless = gate.Tools("save")
		glob.Transitions[1].Tools = []gate.Tool{{Name: "*", Kind: gate.Glob, Except: "save"}}
		free.Free = []string{"save"}
		phase := ruleNet("phase", gate.CauseAllow, "", nil)
		phase.Phases = []gate.Phase{{Place: "idle", Tools: gate.Tools("save")}}
		nets := []gate.Net{earns, spares, glob, free, phase, blockNet("z")}
		for i := range nets {
			nets[i].Labels = labels
		}
		return newPolicy(t, nets...)
	}
	s := policy("cp").NewState(nil)
	pass(t, s, call("a"))
	fates := func(p *gate.Policy) (all []string) {
		_, kept := p.Adopt(s, gate.AdoptOptions{})
		for _, k := range kept {
			all = append(all, k.Fate.String())
		}
		return all
	}
	if got := fates(policy("mv")); !slices.Equal(got, []string{"begun", "carried", "carried", "begun", "begun", "continued"}) {
		t.Errorf("another pattern: %v", got)
	}
	if got := fates(policy("cp", "other")); !slices.Equal(got, []string{"continued", "continued", "carried", "continued", "continued", "continued"}) {
		t.Errorf("one map more: %v", got)
	}
	if got := fates(policy("cp")); slices.ContainsFunc(got, func(f string) bool { return f != "continued" }) {
		t.Errorf("nothing new: %v", got)
	}
}

// TestHandWrittenNetsAreHeld checks that a hand-written net is not replaced unless it is in its initial state.
func TestHandWrittenNetsAreHeld(t *testing.T) {
	net := func(name string, tokens int) gate.Net {
		n := handNet(name, map[string]int{"p": tokens}, "x: p -> q | deploy", "back: q -> p | back")
		n.Transitions[0].Deferred = true
		return n
	}
	keeps := func(old, now gate.Net, o gate.AdoptOptions, calls ...string) gate.Kept {
		s := newPolicy(t, old).NewState(nil)
		for _, c := range calls {
			number := pass(t, s, call(strings.TrimSuffix(c, "...")))
			if !strings.HasSuffix(c, "...") {
				s.Apply(s.Policy().Settle(s, number, gate.Success))
			}
		}
		_, kept := newPolicy(t, now).Adopt(s, o)
		return kept[0]
	}
	reset := gate.AdoptOptions{Reset: []string{"n"}}
	for name, c := range map[string]struct {
		got, want gate.Kept
	}{
		"at its start":   {keeps(net("n", 1), net("n", 2), gate.AdoptOptions{}), gate.Kept{Net: "n", Fate: gate.Begun}},
		"drained":        {keeps(net("n", 1), net("n", 2), gate.AdoptOptions{}, "deploy", "back"), gate.Kept{Net: "n", Fate: gate.Begun}},
		"away":           {keeps(net("n", 1), net("n", 2), gate.AdoptOptions{}, "deploy"), gate.Kept{Net: "n", Fate: gate.Held, Lost: true}},
		"in flight":      {keeps(net("n", 1), net("n", 2), gate.AdoptOptions{}, "deploy..."), gate.Kept{Net: "n", Fate: gate.Held, Lost: true}},
		"reset":          {keeps(net("n", 1), net("n", 2), reset, "deploy"), gate.Kept{Net: "n", Fate: gate.Begun, Lost: true}},
		"reset the same": {keeps(net("n", 1), net("n", 1), reset, "deploy"), gate.Kept{Net: "n", Fate: gate.Begun, Lost: true}},
		"in shadow":      {keeps(shadowed(net("n", 1)), net("n", 2), gate.AdoptOptions{}, "deploy"), gate.Kept{Net: "n", Fate: gate.Begun, Lost: true}},
		"another name":   {keeps(net("n", 1), net("m", 1), gate.AdoptOptions{}, "deploy"), gate.Kept{Net: "m", From: "n"}},
		"of rules":       {keeps(sequenceNet("a", "b"), ruleNet("require-a-before-b", gate.CauseSequence, "", nil), gate.AdoptOptions{}, "a"), gate.Kept{Net: "require-a-before-b", Fate: gate.Begun, Lost: true}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// TestAdoptSwappedNames checks that a net does not report a lost state if another net took over
// that state under a new name.
func TestAdoptSwappedNames(t *testing.T) {
	one, two := handNet("one", map[string]int{"p": 1}, "x: p -> q | a"), handNet("two", map[string]int{"p": 1}, "x: p -> q | b")
	s := newPolicy(t, one, two).NewState(nil)
	pass(t, s, call("a"))
	one.Name, two.Name = "two", "three"
	_, kept := newPolicy(t, one, two).Adopt(s, gate.AdoptOptions{})
	if want := []gate.Kept{{Net: "two", From: "one"}, {Net: "three", From: "two"}}; !slices.Equal(kept, want) {
		t.Errorf("%+v", kept)
	}
	other := handNet("one", map[string]int{"p": 1}, "y: p -> q | c")
	if _, kept := newPolicy(t, one, other).Adopt(s, gate.AdoptOptions{}); !slices.Equal(kept, []gate.Kept{{Net: "two", From: "one"}, {Net: "one", Fate: gate.Begun}, {Net: "two", Fate: gate.Dropped}}) {
		t.Errorf("%+v", kept)
	}
}

// TestAdoptIntoShadowMode checks that a net keeps its state when it enters shadow mode, for all values, and
// that its counts start at 0.
func TestAdoptIntoShadowMode(t *testing.T) {
	net := keyed(limitNet("a", 1, "session"))
	s := newPolicy(t, net).NewState(nil)
	pass(t, s, call(`a {"k":1}`))
	in, kept := newPolicy(t, shadowed(net)).Adopt(s, gate.AdoptOptions{})
	if kept[0].Fate != gate.Continued {
		t.Errorf("%+v", kept)
	}
	pass(t, in, call(`a {"k":1}`))
	if r := in.Policy().ShadowOf(in); r.Refused != 1 {
		t.Errorf("%+v", r)
	}
	more := keyed(limitNet("a", 3, "session"))
	wider, kept := newPolicy(t, shadowed(more)).Adopt(in, gate.AdoptOptions{})
	if r := wider.Policy().ShadowOf(wider); kept[0].Fate != gate.Carried || r.Nets[0].Refused != 1 {
		t.Errorf("%+v %+v", kept, r)
	}
	out, _ := newPolicy(t, more).Adopt(wider, gate.AdoptOptions{})
	for _, tool := range []string{`a {"k":1}`, `a {"k":1}`} {
		pass(t, out, call(tool))
	}
	if d, _ := out.Policy().Decide(out, call(`a {"k":1}`), nil); d.(*gate.Refusal).Kind != gate.KindBlocked {
		t.Errorf("%+v", d)
	}
}

// TestLimitsWithoutBudget checks that a net that takes several tokens per call, or none, is not a
// limit with a budget, and that a limit with more calls in flight than tokens has nothing left.
func TestLimitsWithoutBudget(t *testing.T) {
	heavy := limitNet("a", 6, "session")
	heavy.Transitions[1].Inputs = []string{"ready", "budget", "budget"}
	if id := newPolicy(t, heavy).IDs()[0]; id.Limit != "" {
		t.Errorf("%+v", id)
	}
	none := limitNet("a", 1, "session")
	none.Transitions = none.Transitions[:1]
	if id := newPolicy(t, none).IDs()[0]; id.Limit != "" {
		t.Errorf("%+v", id)
	}
	s := newPolicy(t, onceNet(2)).NewState(nil)
	full := *s.Nets[0]
	full.Flights = []gate.Flight{{Call: 1}, {Call: 2}}
	s.Nets[0] = &full
	to, _ := newPolicy(t, onceNet(1)).Adopt(s, gate.AdoptOptions{Time: noon})
	if got := to.Nets[0]; got.Marking[2] != 0 || got.Debt().Amount.RatString() != "1" {
		t.Errorf("%+v", got)
	}
}
