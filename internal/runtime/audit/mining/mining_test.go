package mining

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // with the default of 100, garbage collection takes a third of the time
	m.Run()
}

// TestRandomLogs checks that proposals refuse no call that passed, whatever the log contains, even
// if hardly any evidence is required.
func TestRandomLogs(t *testing.T) {
	tools := []string{"read_file", "edit_file", "delete_file", "send_mail", "fetch_page", "pay", "a.b", "or", "x*", "get_note"}
	from, count := soak.Range(t, 10)
	proposed := 0
	for seed := from; seed < from+uint64(count); seed++ { //nolint:gosec // count is not negative
		random := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t, []string{"", "limit edit_file to 2 per session", "require read_file before edit_file with same path"}[random.IntN(3)])
		used := tools[:2+random.IntN(len(tools)-2)]
		habit := random.IntN(4) // how often an agent repeats the same order
		for n := range 4 + random.IntN(20) {
			key := w.open(n, []string{"ann", "bob"}[random.IntN(2)])
			for i := range random.IntN(12) {
				tool := used[random.IntN(len(used))]
				if random.IntN(4) < habit {
					tool = used[i%len(used)]
				}
				outcome := []gate.Outcome{gate.Success, gate.Success, gate.Failure, gate.Unknown}[random.IntN(4)]
				w.call(key, tool, fmt.Sprintf(`{"path":"%d","n":%d}`, random.IntN(2), i%3), outcome)
			}
			w.now = w.now.Add(time.Duration(random.IntN(20)) * time.Hour)
			if random.IntN(3) > 0 {
				if err := w.a.Sessions.End(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		log := w.close()
		m, r, err := Mine(t.Context(), log, Options{Sessions: 1 + random.IntN(3)})
		if err != nil {
			t.Fatal(err)
		}
		if seed%2 == 0 { // ignore chance
			m.everything(r)
		}
		if err := m.Prove(t.Context(), r); err != nil {
			t.Fatal(seed, err)
		}
		proposed += len(r.Proposals)
		if len(r.Proposals) > 0 {
			passes(t, log, r)
		}
		if out, err := rules.Format([]byte(r.Text())); err != nil || string(out) != r.Text() {
			t.Errorf("seed %d: %v\n%s", seed, err, r.Text())
		}
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
	if proposed < count {
		t.Errorf("only %d proposals in %d logs", proposed, count)
	}
}

// everything proposes every pair that the survey has not refuted, and some that it has.
func (m *Miner) everything(r *Report) {
	for p, s := range m.survey.pairs {
		for _, form := range []string{"", " once", " once with same path", " with same path"} {
			if !s.notOnce || len(form) == 0 {
				out := Proposal{Kind: "order", Rule: fmt.Sprintf("require %s before %s%s", rules.Written(m.names[p.a]), rules.Written(m.names[p.b]), form)}
				r.Proposals = append(r.Proposals, out)
			}
		}
		for _, c := range m.names {
			a, b, c := rules.Written(m.names[p.a]), rules.Written(m.names[p.b]), rules.Written(c)
			if a == c || b == c || len(r.Proposals) > 40 {
				continue
			}
			plain := Proposal{Kind: "order", Rule: fmt.Sprintf("require %s before %s", a, b)}
			r.Proposals = append(r.Proposals,
				Proposal{Kind: "order", Rule: plain.Rule + " since " + c, looser: []Proposal{plain}},
				Proposal{Kind: "order", Rule: fmt.Sprintf("require %s or %s before %s once", a, c, b)},
				Proposal{Kind: "value", Rule: fmt.Sprintf("require %s or %s before %s once with same path, n", a, c, b)})
		}
	}
}

// TestChance checks the chances against counting by hand.
func TestChance(t *testing.T) {
	for _, c := range []struct {
		got  chance
		want float64
	}{
		{onceByChance(1, 1), 0.5},
		{onceByChance(3, 1), 0.75},
		{eachByChance(1, 1), 0.5},
		{eachByChance(2, 2), 1.0 / 6}, // ABAB of 6 orders
		{eachByChance(1, 2), 0},
		{noneAfterByChance(1, 1), 0.5},
		{noneAfterByChance(2, 2), 1.0 / 6},
		{overlapByChance(10, 5, 5, 5), 1},
		{coveredByChance(4, 2, 2), 1.0 / 6},
		{coveredByChance(4, 2, 1), 0},
		{coveredByChance(3, 3, 1), 1},
		{presentByChance(1, 0, 0), 0.5},
		{clusteredByChance(2, 2, 3), 1.0 / 9},
		{clusteredByChance(1, 9, 3), 1},
		{presentByChance(2, 3, 3), 4.0 / 6},
		{overlapByChance(4, 2, 2, 0), 1.0 / 6},
	} {
		if math.Abs(math.Exp(float64(c.got))-c.want) > 1e-9 {
			t.Errorf("%v, want %v", math.Exp(float64(c.got)), c.want)
		}
	}
	if chance(math.Log(0.002)).beats(1) || !chance(math.Log(0.0009)).beats(1) || chance(math.Log(0.0009)).beats(2) {
		t.Error("the bound is a thousandth, for all that was tried together")
	}
	if most, reached, how := ceiling(map[int]int{1: 10, 2: 10, 3: 60}); most != 3 || reached != 60 || !how.beats(100) {
		t.Error(most, reached, how)
	}
	if _, _, how := ceiling(map[int]int{1: 1, 12: 2, 20: 3, 24: 4, 31: 4, 38: 1, 41: 3}); how.beats(1) {
		t.Error("a high number that a few reached is no limit:", how)
	}
	if most, _, how := ceiling(map[int]int{5: 4, 12: 3, 17: 2, 18: 2, 20: 40}); most != 20 || !how.beats(100) {
		t.Error(most, how)
	}
	if _, _, how := ceiling(map[int]int{1: 40, 2: 20, 3: 10, 4: 5, 5: 2}); how.beats(1) {
		t.Error(how)
	}
	if _, _, how := ceiling(map[int]int{4: 1}); how.beats(1) {
		t.Error("one day is no evidence of a limit:", how)
	}
	if _, _, how := ceiling(map[int]int{4: 20}); !how.beats(100) {
		t.Error("so many equal days are:", how)
	}
}

// always records sessions whose tools come in this order, and other sessions with one tool after
// the other.
func always(t *testing.T, rules string, sessions int, order ...string) Log {
	w := newWorld(t, rules)
	for n := range sessions {
		key := w.open(n, "ann")
		for _, tool := range order {
			w.call(key, tool, fmt.Sprintf(`{"path":"%d"}`, n), gate.Success)
		}
		if err := w.a.Sessions.End(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return w.close()
}

func proposals(r *Report) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(r.lines(), "\n", "; ")), " ")
}

// TestChain checks that rules that follow from a chain, or that the policy already has, are
// omitted.
func TestChain(t *testing.T) {
	log := always(t, "", 40, "lint", "build", "ship")
	r := suggested(t, log)
	want := "require build before ship once with same path; require lint before build once with same path; limit * to 3 in a row;"
	if got := proposals(r); got != want {
		t.Errorf("%s\n%v", got, r.Dropped)
	}
	for _, c := range []struct{ have, want, why string }{
		{"require lint before build once with same path", "require build before ship once with same path; limit * to 3 in a row;", whyThere},
		{"require   build before ship once with same path", "require lint before build once with same path; limit * to 3 in a row;", whyThere},
		{"require lint before build with same path", "require build before ship once with same path; limit * to 3 in a row;", whyThere},
		{"block ship", "require lint before build once with same path; limit * to 3 in a row;", whyThere},
	} {
		m, r, err := Mine(t.Context(), log, Options{})
		if err == nil {
			err = m.Prove(t.Context(), r)
		}
		if err == nil {
			err = r.DropRedundant(t.Context(), policy.Source{Rules: []config.RuleText{{File: "have.rules", Text: c.have}}})
		}
		if got := proposals(r); err != nil || got != c.want || len(r.Dropped) != 1 || r.Dropped[0].Why != c.why {
			t.Errorf("%s: %s, %v, %v", c.have, got, r.Dropped, err)
		}
	}
}

// TestOpening checks that under default: deny no rule is proposed for a call that only the default
// refuses, because the rule would let it pass.
func TestOpening(t *testing.T) {
	log := always(t, "", 40, "build", "ship")
	for have, want := range map[string]string{
		"allow build": "", "allow build, ship": "require build before ship once with same path;", "allow build\nlimit ship to 9 per session": "require build before ship once with same path;",
	} {
		m, r, err := Mine(t.Context(), log, Options{Deny: true})
		if err == nil {
			err = m.Prove(t.Context(), r)
		}
		if err == nil {
			err = r.DropRedundant(t.Context(), policy.Source{Default: "deny", Rules: []config.RuleText{{File: "have.rules", Text: have}}})
		}
		if got := proposals(r); err != nil || got != want || want == "" && r.Dropped[0].Why != whyOpens {
			t.Errorf("%s: %s, %v, %v", have, got, r.Dropped, err)
		}
	}
}

// TestFew checks that findings in too few sessions, and findings explained by chance, give no rule.
func TestFew(t *testing.T) {
	if r := suggested(t, always(t, "", 19, "a", "b")); len(r.Proposals) > 0 {
		t.Error(r.lines())
	}
	w := newWorld(t, "")
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 60 { // b always comes last, after ten a, so it could hardly come first
		key := w.open(n, "ann")
		at := 1 + random.IntN(10)
		for i := range 11 {
			tool := "a"
			if i == at {
				tool = "b"
			}
			w.call(key, tool, fmt.Sprintf(`{"n":%d}`, random.IntN(1e9)), gate.Success)
		}
	}
	if r := suggested(t, w.close()); strings.Contains(r.lines(), "require") {
		t.Error(r.lines())
	}
}

// TestShadow checks that the notes describe what each net in shadow mode would have done.
func TestShadow(t *testing.T) {
	log := always(t, "shadow block ship\nshadow require human-approval before lint", 3, "lint", "build", "ship")
	r := suggested(t, log)
	var got []string
	for _, n := range r.Notes {
		got = append(got, n.Text)
	}
	want := "in shadow, a.rules:1:1 would have refused 3 calls in 3 sessions\nin shadow, a.rules:2:1 would have asked about 3 calls in 3 sessions"
	if strings.Join(got, "\n") != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	r = suggested(t, always(t, "shadow limit build to 1 per session", 3, "lint", "build", "ship"))
	if len(r.Notes) != 1 || r.Notes[0].Text != "no rule in shadow mode would have refused, or required approval for, any of 3 calls: you can enforce them" {
		t.Errorf("%+v", r.Notes)
	}
}

// TestApply checks that proposals are appended to the last rules file, and only after confirmation.
func TestApply(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	load := func(rules string) *config.Config {
		c, err := config.Load(config.Options{Path: write("petrigate.yaml", "version: 1\nmcpServers: { s: { command: ./s } }\n"+rules)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	file := write("a.rules", "# mine\nblock shutdown")
	c := load("rules: [{ file: a.rules }]\n")
	log := always(t, "", 40, "lint", "build")
	r, err := Suggest(t.Context(), log, c, Options{})
	if err != nil || len(r.Proposals) != 2 {
		t.Fatal(r, err)
	}
	var out bytes.Buffer
	no := func(string) (bool, error) { return false, nil }
	if err := r.Apply(c, ApplyOptions{Out: &out, Ask: no}); err != nil || !strings.Contains(out.String(), "+require lint before build") || !strings.Contains(out.String(), "Nothing was written") {
		t.Error(out.String(), err)
	}
	if src, _ := os.ReadFile(file); string(src) != "# mine\nblock shutdown" {
		t.Errorf("%s", src)
	}
	if err := r.Apply(c, ApplyOptions{Out: &out, Yes: true}); err != nil {
		t.Fatal(err)
	}
	src, _ := os.ReadFile(file)
	if formatted, err := rules.Format(src); err != nil || !bytes.Equal(formatted, src) || !strings.HasPrefix(string(src), "# mine\nblock shutdown\n\n# build came after") {
		t.Errorf("%s, %v", src, err)
	}
	again, err := Suggest(t.Context(), log, load("rules: [{ file: a.rules }]\n"), Options{})
	if err != nil || len(again.Proposals) != 0 {
		t.Error(again.Proposals, err)
	}
	for rules, want := range map[string]error{"": ErrNoRules, "rules: block x\n": ErrInline} {
		if err := r.Apply(load(rules), ApplyOptions{Out: &out, Yes: true}); err != want { //nolint:errorlint // Apply does not wrap these errors
			t.Errorf("%q: %v", rules, err)
		}
	}
}

// TestAmounts checks that tools that pay get a limit per user and day, of twice the observed sum.
func TestAmounts(t *testing.T) {
	w := newWorld(t, "")
	for n := range 40 {
		key := w.open(n, "ann")
		for i := range 1 + n%3 {
			w.call(key, "transfer", fmt.Sprintf(`{"amount":%d.25,"to":"x","n":%d}`, i*10, n), gate.Success)
		}
		w.now = w.now.Add(13 * time.Hour)
	}
	log := w.close()
	r := suggested(t, log)
	if got := proposals(r); !strings.Contains(got, "limit transfer to 84 of amount per user per day;") {
		t.Error(got, r.Dropped)
	}
	passes(t, log, r)
}

// TestHashes checks that rules about values are found and proved if the record has only the hashes
// of these values.
func TestHashes(t *testing.T) {
	w := newWorldOf(t, "shadow require get_note before edit_note with same id\nshadow limit get_note to 3 in a row", audit.Hash)
	for n := range 60 {
		key := w.open(n, "ann")
		for i := range 4 {
			w.call(key, "get_note", fmt.Sprintf(`{"id":"%d.%d"}`, n, i), gate.Success)
		}
		w.call(key, "edit_note", fmt.Sprintf(`{"id":"%d.%d","path":"%d"}`, n, n%4, n), gate.Success)
	}
	log := w.close()
	r := suggested(t, log)
	if got := proposals(r); got != "require get_note before edit_note once with same id; limit get_note to 4 per session; limit * to 3 in a row;" {
		t.Error(got, r.Dropped)
	}
	passes(t, log, r)
}

// TestLabels checks that names given by maps are treated like tools, and count as evidence only if
// a call certainly has the name.
func TestLabels(t *testing.T) {
	maps := "map bash.command runs npm test as test\nmap bash.command runs git push as push\n"
	for end, want := range map[string]string{
		"":                 "require test before push once;",
		"; eval $X":        "",
		" && echo success": "require test before push once;",
		" | tail":          "", // the pipe hides whether the script failed
	} {
		w := newWorld(t, maps+"shadow block test\nshadow block push")
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 60 {
			key := w.open(n, "ann")
			look := func() { // any number of harmless calls
				for range random.IntN(3) {
					w.call(key, "bash", fmt.Sprintf(`{"command":"ls %d"}`, random.IntN(1e9)), gate.Success)
				}
			}
			look()
			w.call(key, "bash", fmt.Sprintf(`{"command":"npm test%s"}`, end), gate.Success)
			look()
			w.call(key, "bash", fmt.Sprintf(`{"command":"git push origin b%d"}`, n), gate.Success)
			look()
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "petrigate.yaml")
		src := "version: 1\nmcpServers: { s: { command: ./s } }\nrules: |\n  " + strings.ReplaceAll(maps, "\n", "\n  ") + "\n"
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{Path: file})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Suggest(t.Context(), w.close(), c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range r.Proposals {
			if p.Kind == "order" || p.Kind == "value" {
				got += p.Rule + ";"
			}
		}
		if got != want {
			t.Errorf("%q: %s\n%v", end, got, r.Dropped)
		}
	}
}

// TestUnknown checks that unrecorded values are not guessed: a rule that needs them is dropped.
func TestUnknown(t *testing.T) {
	w := newWorldOf(t, "", audit.Hash)
	for n := range 60 {
		key := w.open(n, "ann")
		w.call(key, "get_note", fmt.Sprintf(`{"id":"%d"}`, n), gate.Success)
		w.call(key, "edit_note", fmt.Sprintf(`{"id":"%d"}`, n), gate.Success)
	}
	m, r, err := Mine(t.Context(), w.close(), Options{})
	if err != nil || proposals(r) != "require get_note before edit_note once;" {
		t.Fatal(err, r.lines())
	}
	r.Proposals = append(r.Proposals, Proposal{Rule: "require get_note before edit_note with same id"}, Proposal{Rule: "limit * to 5 in a row"}, Proposal{Rule: "block edit_note"})
	if err := m.Prove(t.Context(), r); err != nil || proposals(r) != "require get_note before edit_note once;" {
		t.Error(err, r.lines())
	}
	var why []string
	for _, d := range r.Dropped {
		why = append(why, d.Rule+": "+d.Why)
	}
	want := []string{"require get_note before edit_note with same id: " + whyUnknown, "limit * to 5 in a row: " + whyUnknown, "block edit_note: " + whyRefuses}
	if strings.Join(why, "\n") != strings.Join(want, "\n") {
		t.Error(strings.Join(why, "\n"))
	}
}

// TestApprovals checks that the notes name questions that were never denied, and no others.
func TestApprovals(t *testing.T) {
	s := newSeen()
	for i := range 30 {
		e := &trail.Entry{Decision: audit.Decision{Session: fmt.Sprint(i % 3), Decision: "allow", Approval: "ap_1", Nets: []audit.NetVerdict{
			{Net: "approve-before-deploy", Rule: "a.rules:1:1"}, {Net: "approve-before-ship", Rule: "a.rules:2:1"}, {Net: "limit-deploy-3", Rule: "a.rules:3:1"},
		}}}
		s.count(e)
	}
	s.count(&trail.Entry{Decision: audit.Decision{Decision: "refuse", Kind: "approval", Nets: []audit.NetVerdict{{Net: "approve-before-ship", Rule: "a.rules:2:1"}}}})
	want := "a.rules:1:1 required approval 30 times, and it was never denied: a grant (petrigate approvals approve --for) or unless would avoid the question"
	if notes := s.notes(20); len(notes) != 1 || notes[0].Text != want {
		t.Errorf("%+v", notes)
	}
}

// TestLogs checks that several logs count as one with separate chains, and that an unreadable log
// is an error.
func TestLogs(t *testing.T) {
	one, two := always(t, "", 15, "a", "b"), always(t, "", 15, "a", "b")
	for _, source := range []trail.Source{one.Source, two.Source} {
		if r := suggested(t, Log{Source: source}); len(r.Proposals) != 0 {
			t.Error(r.lines())
		}
	}
	r := suggested(t, Log{Source: Logs{one.Source, two.Source}, Name: "both"})
	if !strings.Contains(r.lines(), "require a before b once") && r.Sessions != 15 { // the sessions have the same names
		t.Error(r.Sessions, r.lines())
	}
	path := filepath.Join(t.TempDir(), "broken.jsonl")
	if err := os.WriteFile(path, []byte(`{"seq":1,"time":7,"event":"decision"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		path:   "reading the log: invalid record 1: its member \"time\" has the wrong type",
		"none": "reading the log: stat none: no such file or directory",
	} {
		if _, _, err := Mine(t.Context(), Log{Source: trail.File(name), Name: "the log"}, Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestMasked checks that masked values equal nothing.
func TestMasked(t *testing.T) {
	a := &action{}
	e := &trail.Entry{Decision: audit.Decision{Args: []byte(`{"path":"***","n":1,"list":[1],"odd name":"x","as":"y"}`)}}
	if a.read(e); fmt.Sprint(a.values) != "[{n 1}]" {
		t.Error(a.values)
	}
	a = &action{names: []callName{{3, true}}}
	e = &trail.Entry{Decision: audit.Decision{Arguments: audit.HashOf("{}"), Values: []audit.Value{{Field: "path", Hashes: []string{"h"}}, {Field: "to", Hashes: []string{"h", "i"}}, {Field: "x\nallow *", Hashes: []string{"h"}}}}}
	if a.read(e); fmt.Sprint(a.values) != "[{path h}]" || a.row != "[{3 true}] {}" {
		t.Error(a.values, a.row)
	}
}
